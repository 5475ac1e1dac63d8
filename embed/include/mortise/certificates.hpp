// Certificates for a cluster: makes an authority, issues certificates, tells what is in one. This
// is what `mortise cert` does, for programs that set up clusters and for tests. docs/tls.md tells
// how nodes use them.
//
// The functions below share nothing, so they may be called on any thread. They block on the disk
// and for a few milliseconds of computing, and they throw CertificateError.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

// What a certificate may be used for. A node is a voter or a learner; a user has one or more of
// the others.
enum class AccessRole : std::uint8_t {
    voter,
    learner,
    client,    // takes locks and observes
    observer,  // observes
    admin,     // observes, breaks locks, changes the members; takes no locks
};

enum class AccessRight : std::uint8_t {
    acquire,
    break_lock,
    observe,  // list and inspect locks, follow events
    members,  // add, promote and remove members, hand leadership over
};

// "voter"; "unknown" for a value without a name.
[[nodiscard]] std::string_view to_string(AccessRole role) noexcept;
// As in a rule: "acquire", "break", "observe", "members"; "unknown" for a value without a name.
[[nodiscard]] std::string_view to_string(AccessRight right) noexcept;
// The reverse; nothing for other texts.
[[nodiscard]] std::optional<AccessRole> parse_access_role(std::string_view text) noexcept;
[[nodiscard]] std::optional<AccessRight> parse_access_right(std::string_view text) noexcept;

// Gives a right on the names that begin with the prefix; an empty prefix means every name. The
// right to change members has no prefix. A certificate without rules gives what its roles give;
// with rules it gives only what both a role and a rule give.
struct AccessRule {
    AccessRight right = AccessRight::acquire;
    std::string prefix{};

    friend bool operator==(const AccessRule&, const AccessRule&) = default;
};

struct AuthorityOptions {
    std::string cluster{};  // as Config::cluster
    // Where to write. Their directory must exist.
    std::filesystem::path certificate = "ca.pem";
    std::filesystem::path key = "ca.key";
    Duration valid_for = std::chrono::days{3650};
    // When it begins to be valid; nothing: five minutes ago, and valid_for counts from now. For
    // tests with certificates that are expired or not valid yet.
    std::optional<std::chrono::sys_seconds> not_before{};
};

struct CertificateOptions {
    // The authority that signs. The file may have several certificates: the one that belongs to the
    // key is taken.
    std::filesystem::path authority_certificate = "ca.pem";
    std::filesystem::path authority_key = "ca.key";
    // Where to write. Their directory must exist.
    std::filesystem::path certificate{};
    std::filesystem::path key{};

    std::string cluster{};             // empty: that of the authority
    NodeId node = 0;                   // of a node: 1 or more
    std::string user{};                // of a user: 1 to 56 letters, digits, '.', '_', '-' and '@'
    std::vector<AccessRole> roles{};   // none: voter, for a node; a user needs one
    std::vector<AccessRule> rules{};   // at most 64, with prefixes of at most 512 bytes
    std::vector<std::string> hosts{};  // DNS names and IP addresses, at most 100; may be empty
    Duration valid_for = std::chrono::days{90};            // and no longer than the authority
    std::optional<std::chrono::sys_seconds> not_before{};  // as above
};

// Makes the authority of a cluster: an EC P-256 key, and a certificate that it signs itself. Writes
// both files or none, and never over a file that is there. The key is PKCS#8, not encrypted, mode
// 0600. The files are durable when this returns.
void create_authority(const AuthorityOptions& options);

// Makes a key and a certificate for a node or a user, signed by the authority. Files are written as
// above.
void issue_certificate(const CertificateOptions& options);

struct CertificateInfo {
    std::string subject;  // "CN=node 1"
    std::string issuer;
    std::string cluster;  // empty: it names none
    NodeId node = 0;      // 0: it is not that of a node
    std::string user;     // empty: it is not that of a user
    // Why it is neither that of a node nor of a user; empty if it is.
    std::string problem;
    std::vector<AccessRole> roles;
    std::vector<AccessRule> rules;
    std::vector<std::string> hosts;
    std::string serial;       // hexadecimal
    std::string fingerprint;  // SHA-256, "AB:CD:..."
    std::chrono::sys_seconds not_before;
    std::chrono::sys_seconds not_after;
    bool is_authority = false;
    // Whether one of the authorities given signed it; nothing if none were given.
    std::optional<bool> is_signed;
};

// All certificates of a PEM file, in their order; at least one. `authorities` is a file with those
// that may have signed them; an empty path means none. Whether they are expired is the caller's to
// see.
[[nodiscard]] std::vector<CertificateInfo> read_certificates(
    const std::filesystem::path& path, const std::filesystem::path& authorities = {});

// what() is one line. code() compares equal to
//   std::errc::invalid_argument         the options are wrong
//   std::errc::bad_message              a file has no certificate or key in it, or the wrong one;
//                                       or the authority is expired
//   std::errc::file_exists              there is a file where one is to be written
//   std::errc::operation_not_permitted  others than its owner can read the key; what() has the
//                                       chmod to do
// and otherwise it is the system's: no_such_file_or_directory, permission_denied and so on.
class CertificateError : public std::system_error {
public:
    CertificateError(std::error_code code, const std::string& line);
    CertificateError(const CertificateError&) noexcept = default;
    CertificateError& operator=(const CertificateError&) noexcept = default;
    ~CertificateError() override;

    [[nodiscard]] const char* what() const noexcept override;

private:
    std::shared_ptr<const std::string> line_;
};

}  // namespace mortise
