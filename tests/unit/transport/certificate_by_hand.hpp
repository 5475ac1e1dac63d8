// Certificates that `mortise cert` does not issue and other authorities may: with other names,
// purposes, times and keys.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/tls/certificates.hpp"
#include "transport/tls/pem.hpp"

namespace mortise::transport::test {

// A certificate, then those between it and an authority; and its key.
using Papers = std::shared_ptr<const Issued>;

inline Validity for_an_hour() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return Validity::from(now, std::chrono::hours{1});
}
inline Validity until_yesterday() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return {now - std::chrono::hours{48}, now - std::chrono::hours{24}};
}
inline Validity from_tomorrow() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return {now + std::chrono::hours{24}, now + std::chrono::hours{48}};
}

struct CertificateByHand {
    std::string names{};  // as in openssl.cnf
    Validity validity = for_an_hour();
    std::string purposes = "serverAuth,clientAuth";  // empty: it is an authority's
    bool has_weak_key = false;
    std::string usages{};  // of the key; empty: without that extension
};

// The names of that identity, as in openssl.cnf.
inline std::string names_of(const core::Identity& identity) {
    std::string names;
    for (const auto& uri : core::uris_of(identity))
        names += (names.empty() ? "URI:" : ",URI:") + uri;
    return names;
}

inline void add_extension(X509& certificate, int kind, const std::string& text) {
    const openssl::Extension made{X509V3_EXT_nconf_nid(nullptr, nullptr, kind, text.c_str())};
    X509_add_ext(&certificate, made.get(), -1);
}

// Signed by the first certificate of `authority`.
inline Papers sign_by_hand(const Issued& authority, const CertificateByHand& draft) {
    const auto issuers = certificates_from(authority.certificate);
    const auto signer = key_from(authority.key.text());
    const openssl::Key key{draft.has_weak_key
                               ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{1024})
                               : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")};
    const openssl::Certificate made{X509_new()};
    X509_set_version(made.get(), X509_VERSION_3);
    static long serial = 0;
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuers->front().get()));
    auto* const subject = X509_get_subject_name(made.get());
    const auto name = "by hand " + std::to_string(serial);
    const std::vector<unsigned char> bytes{name.begin(), name.end()};
    X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, bytes.data(),
                               static_cast<int>(bytes.size()), -1, 0);
    ASN1_TIME_set(X509_getm_notBefore(made.get()),
                  draft.validity.not_before.time_since_epoch().count());
    ASN1_TIME_set(X509_getm_notAfter(made.get()),
                  draft.validity.not_after.time_since_epoch().count());
    X509_set_pubkey(made.get(), key.get());
    if (!draft.names.empty()) add_extension(*made, NID_subject_alt_name, draft.names);
    if (draft.purposes.empty())
        add_extension(*made, NID_basic_constraints, "critical,CA:TRUE");
    else
        add_extension(*made, NID_ext_key_usage, draft.purposes);
    if (!draft.usages.empty()) add_extension(*made, NID_key_usage, draft.usages);
    X509_sign(made.get(), signer->get(), EVP_sha256());
    return std::make_shared<const Issued>(Issued{*pem_of(*made), *pem_of(*key)});
}

}  // namespace mortise::transport::test
