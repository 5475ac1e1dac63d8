#include "transport/tls/certificates.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "transport/tls/pem.hpp"
#include "transport/tls/revoked.hpp"

namespace mortise::transport {

namespace {

constexpr std::chrono::minutes clock_slack{5};

std::string in_words(X509_NAME* name) {
    const openssl::Bio bio{BIO_new(BIO_s_mem())};
    if (!bio || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0)
        return {};
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

std::string fingerprint_of(const X509& certificate) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
    unsigned int size = 0;
    if (X509_digest(&certificate, EVP_sha256(), sum.data(), &size) != 1) return {};
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
        if (i != 0) text += ':';
        text += digits[sum[i] >> 4U];
        text += digits[sum[i] & 15U];
    }
    return text;
}

bool signed_by(X509& certificate, X509& authority) {
    return is_authority(authority) && X509_check_issued(&authority, &certificate) == X509_V_OK &&
           X509_verify(&certificate, X509_get0_pubkey(&authority)) == 1;
}

using Certificates = std::vector<openssl::Certificate>;

bool signed_by_one_of(X509& certificate, const std::vector<X509*>& authorities) {
    return std::ranges::any_of(authorities,
                               [&](X509* authority) { return signed_by(certificate, *authority); });
}

// The trusted authorities, and those among the certificates that lead to them: the file of a node
// may have the authorities between its certificate and a trusted one.
std::vector<X509*> signers_of(const Certificates& certificates, const Certificates& trusted) {
    std::vector<X509*> signers;
    for (const auto& authority : trusted)
        signers.push_back(authority.get());
    for (std::size_t before = 0; before != signers.size();) {
        before = signers.size();
        for (const auto& one : certificates) {
            const bool is_new = std::ranges::find(signers, one.get()) == signers.end();
            if (is_new && is_authority(*one) && signed_by_one_of(*one, signers))
                signers.push_back(one.get());
        }
    }
    return signers;
}

core::Result<CertificateDescription> describe(X509& certificate) {
    const auto validity = validity_of(certificate);
    if (!validity) return validity.error();
    CertificateDescription is{.subject = in_words(X509_get_subject_name(&certificate)),
                              .issuer = in_words(X509_get_issuer_name(&certificate)),
                              .cluster = {},
                              .identity = {},
                              .no_identity = {},
                              .hosts = {},
                              .serial = serial_of(certificate),
                              .fingerprint = fingerprint_of(certificate),
                              .validity = *validity,
                              .is_authority = is_authority(certificate),
                              .is_signed = {}};
    if (const auto names = names_in(certificate)) is.hosts = names->hosts;
    if (auto identity = identity_in(certificate); is.is_authority) {
        is.no_identity = "it is that of an authority";
        is.cluster = cluster_of_authority(certificate);
    } else if (identity) {
        is.cluster = identity->cluster;
        is.identity = *std::move(identity);
    } else {
        is.no_identity = identity.error().what;
    }
    ERR_clear_error();
    return is;
}

}  // namespace

Secret& Secret::operator=(Secret&& other) noexcept {
    if (this == &other) return *this;
    forget();
    text_ = std::move(other.text_);
    other.forget();
    return *this;
}

// A short text is stored in the string object itself, and a move leaves a copy of it behind.
void Secret::forget() noexcept {
    text_.resize(text_.capacity());
    OPENSSL_cleanse(text_.data(), text_.size());
    text_.clear();
}

Validity Validity::from(std::chrono::sys_seconds now, std::chrono::seconds length) {
    return {now - clock_slack, now + length};
}

core::Result<std::vector<CertificateDescription>> describe_certificates(
    std::string_view certificates, std::string_view authorities) {
    auto read = certificates_from(certificates);
    if (!read) return read.error();
    Certificates trusted;
    if (!authorities.empty()) {
        auto others = certificates_from(authorities);
        if (!others) return others.error();
        trusted = *std::move(others);
    }
    const auto signers = signers_of(*read, trusted);
    std::vector<CertificateDescription> descriptions;
    for (const auto& certificate : *read) {
        auto description = describe(*certificate);
        if (!description) return description.error();
        if (!authorities.empty()) description->is_signed = signed_by_one_of(*certificate, signers);
        descriptions.push_back(*std::move(description));
    }
    ERR_clear_error();
    return descriptions;
}

std::string in_utc(std::chrono::sys_seconds time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d UTC",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                  static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()));
    return text.data();
}

}  // namespace mortise::transport
