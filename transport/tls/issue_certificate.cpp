#include <algorithm>
#include <array>

#include <arpa/inet.h>

#include "transport/tls/certificates.hpp"
#include "transport/tls/pem.hpp"

namespace mortise::transport {

namespace {

constexpr int serial_bits = 128;
constexpr std::size_t common_name_bytes_max = 64;  // X.520

core::Error bad_request(std::string what) {
    return {std::make_error_code(std::errc::invalid_argument), std::move(what)};
}

core::Error bad_authority(std::string what) {
    return {std::make_error_code(std::errc::bad_message), std::move(what)};
}

struct Draft {
    std::string common_name;
    std::vector<std::string> uris;
    std::vector<std::string> hosts;
    Validity validity;
    std::vector<std::pair<int, const char*>> extensions;  // as in openssl.cnf
};

bool set_serial(X509& certificate) {
    const openssl::Bignum number{BN_new()};
    return number && BN_rand(number.get(), serial_bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
           BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_validity(X509& certificate, const Validity& validity) {
    const openssl::Asn1Time begin{
        ASN1_TIME_set(nullptr, validity.not_before.time_since_epoch().count())};
    const openssl::Asn1Time end{
        ASN1_TIME_set(nullptr, validity.not_after.time_since_epoch().count())};
    return begin && end && X509_set1_notBefore(&certificate, begin.get()) == 1 &&
           X509_set1_notAfter(&certificate, end.get()) == 1;
}

bool set_subject(X509& certificate, const std::string& common_name) {
    std::vector<unsigned char> bytes{common_name.begin(), common_name.end()};
    return X509_NAME_add_entry_by_NID(X509_get_subject_name(&certificate), NID_commonName,
                                      MBSTRING_UTF8, bytes.data(), static_cast<int>(bytes.size()),
                                      -1, 0) == 1;
}

bool add_extensions(X509& certificate, X509& issuer, const Draft& draft) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
    return std::ranges::all_of(draft.extensions, [&](const auto& extension) {
        const openssl::Extension made{
            X509V3_EXT_nconf_nid(nullptr, &context, extension.first, extension.second)};
        return made && X509_add_ext(&certificate, made.get(), -1) == 1;
    });
}

bool push_name(GENERAL_NAMES& names, int type, std::string_view bytes) {
    openssl::Asn1String value{
        ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING)};
    openssl::GeneralName name{GENERAL_NAME_new()};
    if (!value || !name ||
        ASN1_STRING_set(value.get(), bytes.data(), static_cast<int>(bytes.size())) != 1)
        return false;
    GENERAL_NAME_set0_value(name.get(), type, value.release());
    if (sk_GENERAL_NAME_push(&names, name.get()) == 0) return false;
    static_cast<void>(name.release());
    return true;
}

// The bytes of an IP address; empty if the text is not one.
std::string ip_bytes(const std::string& text) {
    std::array<char, sizeof(in6_addr)> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return {bytes.data(), sizeof(in_addr)};
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return {bytes.data(), bytes.size()};
    return {};
}

bool push_host(GENERAL_NAMES& names, const std::string& host) {
    const auto ip = ip_bytes(host);
    return ip.empty() ? push_name(names, GEN_DNS, host) : push_name(names, GEN_IPADD, ip);
}

bool add_names(X509& certificate, const Draft& draft) {
    const openssl::GeneralNames names{sk_GENERAL_NAME_new_null()};
    if (!names) return false;
    for (const auto& uri : draft.uris)
        if (!push_name(*names, GEN_URI, uri)) return false;
    for (const auto& host : draft.hosts)
        if (!push_host(*names, host)) return false;
    return X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

struct Signer {
    openssl::Certificate certificate;  // none: the new certificate signs itself
    openssl::Key key;
};

bool fill_in(X509& certificate, const Draft& draft, EVP_PKEY& key, const Signer& signer) {
    if (!set_subject(certificate, draft.common_name)) return false;
    X509& issuer = signer.certificate ? *signer.certificate : certificate;
    return X509_set_version(&certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
           set_validity(certificate, draft.validity) &&
           X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1 &&
           X509_set_pubkey(&certificate, &key) == 1 && add_extensions(certificate, issuer, draft) &&
           add_names(certificate, draft);
}

core::Result<Issued> sign(const Draft& draft, const Signer& signer) {
    const openssl::Key key{EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")};
    const openssl::Certificate made{X509_new()};
    if (!key || !made || !fill_in(*made, draft, *key, signer))
        return openssl::failed("cannot make a certificate");
    if (X509_sign(made.get(), signer.key ? signer.key.get() : key.get(), EVP_sha256()) <= 0)
        return openssl::failed("cannot sign a certificate");
    if (i2d_X509(made.get(), nullptr) > static_cast<int>(certificate_bytes_max))
        return bad_request("the certificate would be too large; give it fewer or shorter rules");
    auto certificate = pem_of(*made);
    if (!certificate) return certificate.error();
    auto secret = pem_of(*key);
    if (!secret) return secret.error();
    return Issued{*std::move(certificate), *std::move(secret)};
}

std::string name_of_authority(const std::string& cluster) {
    const auto name = cluster + " authority";
    return name.size() <= common_name_bytes_max ? name : cluster;
}

// The certificate that belongs to the key.
core::Result<Signer> signer_from(const Issued& authority, const CertificateRequest& request) {
    auto certificates = certificates_from(authority.certificate);
    if (!certificates)
        return bad_authority(request.authority_certificate + ": " + certificates.error().what);
    auto key = key_from(authority.key.text());
    if (!key) return bad_authority(request.authority_key + ": " + key.error().what);
    const auto own = std::ranges::find_if(*certificates, [&](const auto& certificate) {
        return X509_check_private_key(certificate.get(), key->get()) == 1;
    });
    ERR_clear_error();
    if (own == certificates->end()) {
        return bad_authority(request.authority_key + " does not belong to " +
                             request.authority_certificate);
    }
    return Signer{std::move(*own), *std::move(key)};
}

// The end of the authority's validity; an error if it cannot sign now.
core::Result<std::chrono::sys_seconds> end_of(X509& authority, std::chrono::sys_seconds now) {
    if (!is_authority(authority)) return bad_authority("it is not that of an authority");
    const auto validity = validity_of(authority);
    if (!validity) return validity.error();
    if (now >= validity->not_after)
        return bad_authority("the authority expired at " + in_utc(validity->not_after));
    if (now < validity->not_before) {
        return bad_authority("the authority is not valid before " + in_utc(validity->not_before) +
                             "; is the clock right?");
    }
    return validity->not_after;
}

// A rule needs a role that gives its right: without one it would look like a right, and give none.
core::Result<void> check_rules(const core::Access& access) {
    if (access.rules.size() > core::access_rules_max)
        return bad_request("a certificate has at most 64 rules");
    const core::Access unrestricted{access.roles, {}};
    for (const auto& rule : access.rules) {
        if (rule.prefix.size() > core::access_prefix_bytes_max)
            return bad_request("the prefix of a rule has at most 512 bytes");
        if (rule.right == core::Right::members && !rule.prefix.empty())
            return bad_request("the right to change members has no prefix");
        if (!access.roles.empty() && !unrestricted.may(rule.right, {}))
            return bad_request("a rule allows " + std::string{core::to_string(rule.right)} +
                               ", which none of its roles gives: a rule only restricts what roles "
                               "give, so add a role that gives it");
    }
    return {};
}

core::Result<core::Identity> checked(core::Identity identity, const std::string& authority_of) {
    if (identity.cluster.empty()) identity.cluster = authority_of;
    if (identity.cluster.empty())
        return bad_request("the authority does not name its cluster, so give --cluster");
    if (!core::is_cluster_name(identity.cluster))
        return bad_request("a cluster's name is 1 to 64 letters, digits, '.', '_' and '-'");
    if (!authority_of.empty() && identity.cluster != authority_of) {
        return bad_request("the authority is that of cluster " + authority_of + ", not of " +
                           identity.cluster);
    }
    if (identity.node.is_set() && !identity.user.empty())
        return bad_request("a certificate is that of a node or of a user, not of both");
    if (!identity.node.is_set() && !core::is_user_name(identity.user))
        return bad_request("a user's name is 1 to 56 letters, digits, '.', '_', '-' and '@'");
    if (auto good = check_rules(identity.access); !good) return good.error();
    auto read = core::identity_from(core::uris_of(identity));
    if (!read) return bad_request("the certificate would not be valid: " + read.error().what);
    return read;
}

bool is_label(std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
           std::ranges::all_of(label, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
           });
}

// A name whose last label has only digits would be a mistyped address.
bool is_dns_name(std::string_view name) {
    if (name.size() > 253) return false;
    std::string_view label;
    while (true) {
        const auto end = name.find('.');
        label = name.substr(0, end);
        if (!is_label(label)) return false;
        if (end == std::string_view::npos) break;
        name.remove_prefix(end + 1);
    }
    return !std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
}

core::Result<void> check_hosts(const std::vector<std::string>& hosts) {
    if (hosts.size() > certificate_hosts_max)
        return bad_request("a certificate has at most 100 hosts");
    for (const auto& host : hosts) {
        if (ip_bytes(host).empty() && !is_dns_name(host))
            return bad_request('"' + host + "\" is neither a host's name nor an IP address");
    }
    return {};
}

core::Result<void> check_validity(const Validity& validity) {
    if (validity.not_before >= validity.not_after)
        return bad_request("the validity of the certificate must be longer than zero");
    if (validity.not_before < time_min || validity.not_after > time_max)
        return bad_request("a certificate is valid between the years 1970 and 9999");
    return {};
}

}  // namespace

core::Result<Issued> make_authority(const AuthorityRequest& request) {
    if (!core::is_cluster_name(request.cluster))
        return bad_request("a cluster's name is 1 to 64 letters, digits, '.', '_' and '-'");
    if (auto checked = check_validity(request.validity); !checked) return checked.error();
    const Draft draft{.common_name = name_of_authority(request.cluster),
                      .uris = {authority_uri(request.cluster)},
                      .hosts = {},
                      .validity = request.validity,
                      .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                     {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                     {NID_subject_key_identifier, "hash"}}};
    return sign(draft, {});
}

core::Result<Issued> issue_certificate(const Issued& authority, const CertificateRequest& request,
                                       std::chrono::sys_seconds now) {
    const auto signer = signer_from(authority, request);
    if (!signer) return signer.error();
    const auto end = end_of(*signer->certificate, now);
    if (!end) return bad_authority(request.authority_certificate + ": " + end.error().what);
    const auto identity = checked(request.identity, cluster_of_authority(*signer->certificate));
    if (!identity) return identity.error();
    if (auto good = check_hosts(request.hosts); !good) return good.error();
    const Validity validity{request.validity.not_before,
                            std::min(request.validity.not_after, *end)};
    if (auto good = check_validity(validity); !good) return good.error();
    const Draft draft{
        .common_name = identity->name(),
        .uris = core::uris_of(*identity),
        .hosts = request.hosts,
        .validity = validity,
        .extensions = {
            {NID_basic_constraints, "critical,CA:FALSE"},
            {NID_key_usage, "critical,digitalSignature"},
            {NID_ext_key_usage, identity->node.is_set() ? "serverAuth,clientAuth" : "clientAuth"},
            {NID_subject_key_identifier, "hash"},
            {NID_authority_key_identifier, "keyid,issuer"}}};
    return sign(draft, *signer);
}

}  // namespace mortise::transport
