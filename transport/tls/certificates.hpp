// Makes and reads the certificates of a cluster, in memory: an authority, certificates that it
// signs, and the content of certificates. Texts are PEM. key_files.hpp reads and writes the files.
//
// Nothing here has state: every function may be called on any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/result.hpp"

namespace mortise::transport {

// A peer refuses a longer list of certificates (OpenSSL allows 100 KiB), so no larger certificate
// is issued.
constexpr std::size_t certificate_bytes_max = std::size_t{64} * 1024;
constexpr std::size_t certificate_hosts_max = 100;

// The limits of the times in a certificate; later years have five digits.
constexpr std::chrono::sys_seconds time_min{};
constexpr std::chrono::sys_seconds time_max{
    std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};

// A private key as PEM. Its memory is overwritten when it is destroyed.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_{std::move(text)} {}
    Secret(Secret&& other) noexcept : text_{std::move(other.text_)} { other.forget(); }
    Secret& operator=(Secret&& other) noexcept;
    ~Secret() { forget(); }

    [[nodiscard]] std::string_view text() const { return text_; }

private:
    void forget() noexcept;

    std::string text_;
};

struct Validity {
    std::chrono::sys_seconds not_before;
    std::chrono::sys_seconds not_after;

    // It begins five minutes before `now`, because the clocks of the nodes differ.
    [[nodiscard]] static Validity from(std::chrono::sys_seconds now, std::chrono::seconds length);
};

struct Issued {
    std::string certificate;
    Secret key;
};

struct AuthorityRequest {
    std::string cluster;
    Validity validity;
};

struct CertificateRequest {
    core::Identity identity;         // without a cluster: the authority's
    std::vector<std::string> hosts;  // DNS names and IP addresses
    Validity validity;               // it ends no later than the authority's

    // The names in error messages, for example file names.
    std::string authority_certificate = "the authority's certificate";
    std::string authority_key = "the authority's key";
};

// Errors are std::errc::invalid_argument if the request is wrong, and std::errc::bad_message if the
// authority is.
[[nodiscard]] core::Result<Issued> make_authority(const AuthorityRequest& request);
// `authority` may have several certificates; the one that belongs to its key is used.
[[nodiscard]] core::Result<Issued> issue_certificate(const Issued& authority,
                                                     const CertificateRequest& request,
                                                     std::chrono::sys_seconds now);

struct CertificateDescription {
    std::string subject;  // "CN=node 1"
    std::string issuer;
    std::string cluster;                     // empty: it names no cluster
    std::optional<core::Identity> identity;  // none: `no_identity` says why
    std::string no_identity;
    std::vector<std::string> hosts;
    std::string serial;       // hexadecimal
    std::string fingerprint;  // SHA-256, "AB:CD:..."
    Validity validity;
    bool is_authority = false;
    // whether one of the authorities signed it; empty: none were given
    std::optional<bool> is_signed;
};

// Every certificate of a text, in order. The error is std::errc::bad_message.
[[nodiscard]] core::Result<std::vector<CertificateDescription>> describe_certificates(
    std::string_view certificates, std::string_view authorities = {});

// "2026-01-31 13:00:00 UTC"
[[nodiscard]] std::string in_utc(std::chrono::sys_seconds time);

}  // namespace mortise::transport
