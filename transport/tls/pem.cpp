#include "transport/tls/pem.hpp"

#include <array>
#include <ctime>

#include <arpa/inet.h>
#include <openssl/pem.h>

namespace mortise::transport {

namespace {

constexpr std::string_view authority_scheme = "mortise://";
constexpr std::string_view authority_suffix = "/authority";

core::Error unreadable(std::string what) {
    ERR_clear_error();
    return {std::make_error_code(std::errc::bad_message), std::move(what)};
}

// OpenSSL would otherwise ask on the terminal.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

openssl::Bio bio_over(std::string_view text) {
    return openssl::Bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

std::string text_in(BIO& bio) {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(&bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

// Reading stops at the end of the text, or at a damaged block.
bool stopped_at_end() {
    const auto code = ERR_peek_last_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

std::string_view bytes_of(const ASN1_STRING& string) {
    const void* const data = ASN1_STRING_get0_data(&string);
    return {static_cast<const char*>(data), static_cast<std::size_t>(ASN1_STRING_length(&string))};
}

std::string ip_in_words(std::string_view bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
    if (family == AF_INET6 && bytes.size() != sizeof(in6_addr)) return {};
    if (inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return {};
    return text.data();
}

void add_name(AlternativeNames& names, const GENERAL_NAME& name) {
    int type = 0;
    const auto* const value =
        static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(&name, &type));
    if (type == GEN_URI) names.uris.emplace_back(bytes_of(*value));
    if (type == GEN_DNS) names.hosts.emplace_back(bytes_of(*value));
    if (type == GEN_IPADD) names.hosts.push_back(ip_in_words(bytes_of(*value)));
}

std::optional<std::chrono::sys_seconds> time_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
    using namespace std::chrono;
    const auto day = year{parts.tm_year + 1900} / (parts.tm_mon + 1) / parts.tm_mday;
    return sys_days{day} + hours{parts.tm_hour} + minutes{parts.tm_min} + seconds{parts.tm_sec};
}

}  // namespace

core::Result<std::vector<openssl::Certificate>> certificates_from(std::string_view pem) {
    ERR_clear_error();
    const auto bio = bio_over(pem);
    std::vector<openssl::Certificate> certificates;
    while (bio) {
        openssl::Certificate certificate{
            PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)};
        if (!certificate) break;
        certificates.push_back(std::move(certificate));
    }
    if (!bio || !stopped_at_end()) return unreadable("it has a damaged certificate in it");
    if (certificates.empty()) return unreadable("it has no certificate in it (PEM)");
    ERR_clear_error();
    return certificates;
}

core::Result<openssl::Key> key_from(std::string_view pem) {
    if (pem.find("ENCRYPTED") != std::string_view::npos)
        return unreadable("its key is protected by a passphrase, which is not supported");
    const auto bio = bio_over(pem);
    openssl::Key key;
    if (bio) key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
    if (!key) return unreadable("it has no private key in it (PEM)");
    ERR_clear_error();
    return key;
}

core::Result<std::string> pem_of(const X509& certificate) {
    const openssl::Bio bio{BIO_new(BIO_s_mem())};
    if (!bio || PEM_write_bio_X509(bio.get(), &certificate) != 1)
        return openssl::failed("cannot write a certificate", std::errc::not_enough_memory);
    return text_in(*bio);
}

// The memory of the BIO is overwritten when it is freed.
core::Result<Secret> pem_of(const EVP_PKEY& key) {
    const openssl::Bio bio{BIO_new(BIO_s_mem())};
    if (!bio ||
        PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
        return openssl::failed("cannot write a key", std::errc::not_enough_memory);
    return Secret{text_in(*bio)};
}

core::Result<AlternativeNames> names_in(const X509& certificate) {
    int critical = 0;
    const openssl::GeneralNames all{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, &critical, nullptr))};
    AlternativeNames names;
    if (!all) {
        ERR_clear_error();
        if (critical == -1) return names;  // there are none
        return unreadable("its names (subjectAltName) cannot be read");
    }
    for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i)
        add_name(names, *sk_GENERAL_NAME_value(all.get(), i));
    return names;
}

core::Result<core::Identity> identity_in(const X509& certificate) {
    const auto names = names_in(certificate);
    if (!names) return names.error();
    return core::identity_from(names->uris);
}

std::string cluster_of_authority(const X509& certificate) {
    const auto names = names_in(certificate);
    if (!names) return {};
    for (std::string_view uri : names->uris) {
        if (!uri.starts_with(authority_scheme) || !uri.ends_with(authority_suffix)) continue;
        uri.remove_prefix(authority_scheme.size());
        uri.remove_suffix(authority_suffix.size());
        if (core::is_cluster_name(uri)) return std::string{uri};
    }
    return {};
}

std::string authority_uri(std::string_view cluster) {
    return std::string{authority_scheme} + std::string{cluster} + std::string{authority_suffix};
}

core::Result<Validity> validity_of(const X509& certificate) {
    const auto begin = time_of(X509_get0_notBefore(&certificate));
    const auto end = time_of(X509_get0_notAfter(&certificate));
    if (!begin || !end) return unreadable("its times cannot be read");
    return Validity{*begin, *end};
}

bool is_authority(X509& certificate) {
    return X509_check_ca(&certificate) == 1;
}

}  // namespace mortise::transport
