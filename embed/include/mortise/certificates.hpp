// Certificates for a cluster: creates an authority, issues certificates, and describes them.
// `mortise cert` does the same. Programs that set up clusters, and tests, use these functions;
// docs/tls.md explains how nodes use certificates.
//
// The functions share no state and may be called on any thread. They block on the disk and for a
// few milliseconds of computation. They throw CertificateError.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

// The use of a certificate. A node is a voter or a learner; a user has one or more of the other
// roles.
enum class AccessRole : std::uint8_t {
    voter,
    learner,
    client,    // acquires locks (Role::client), and observes
    observer,  // observes
    admin,     // observes, breaks locks, changes the members; takes no locks
};

enum class AccessRight : std::uint8_t {
    acquire,
    break_lock,
    observe,  // list and inspect locks, follow events
    members,  // add, promote and remove members, transfer leadership
};

// "voter"; "unknown" for a value without a name.
[[nodiscard]] std::string_view to_string(AccessRole role) noexcept;
// The name used in a rule: "acquire", "break", "observe", "members"; "unknown" for a value without
// a name.
[[nodiscard]] std::string_view to_string(AccessRight right) noexcept;
// The reverse; empty for any other text.
[[nodiscard]] std::optional<AccessRole> parse_access_role(std::string_view text) noexcept;
[[nodiscard]] std::optional<AccessRight> parse_access_right(std::string_view text) noexcept;

// Gives a right on the names that begin with the prefix; an empty prefix means every name. The
// right to change members has no prefix. A certificate without rules has the rights of its roles. A
// certificate with rules has only the rights that both a role and a rule give.
struct AccessRule {
    AccessRight right = AccessRight::acquire;
    std::string prefix{};

    friend bool operator==(const AccessRule&, const AccessRule&) = default;
};

// Whether the roles and rules of a certificate give the right on this name, or, which is the same,
// on every name with this prefix. For AccessRight::members the name is empty.
[[nodiscard]] bool is_allowed(std::span<const AccessRole> roles, std::span<const AccessRule> rules,
                              AccessRight right, std::string_view name);

struct AuthorityOptions {
    std::string cluster{};  // equal to Config::cluster
    // The files to write. Their directory must exist.
    std::filesystem::path certificate = "ca.pem";
    std::filesystem::path key = "ca.key";
    Duration valid_for = std::chrono::days{3650};
    // The beginning of the validity. Empty: five minutes ago, and valid_for counts from now. Tests
    // set it to make certificates that are expired or not valid yet.
    std::optional<std::chrono::sys_seconds> not_before{};
};

struct CertificateOptions {
    // The authority that signs. The file may have several certificates: the one that belongs to the
    // key is used.
    std::filesystem::path authority_certificate = "ca.pem";
    std::filesystem::path authority_key = "ca.key";
    // The files to write. Their directory must exist.
    std::filesystem::path certificate{};
    std::filesystem::path key{};

    std::string cluster{};             // empty: the authority's
    NodeId node = 0;                   // for a node: 1 or more
    std::string user{};                // for a user: 1 to 56 letters, digits, '.', '_', '-' and '@'
    std::vector<AccessRole> roles{};   // empty: voter, for a node; a user needs one
    std::vector<AccessRule> rules{};   // at most 64, with prefixes of at most 512 bytes
    std::vector<std::string> hosts{};  // DNS names and IP addresses, at most 100; may be empty
    Duration valid_for = std::chrono::days{90};            // at most as long as the authority
    std::optional<std::chrono::sys_seconds> not_before{};  // see AuthorityOptions
};

// Creates the authority of a cluster: an EC P-256 key and a self-signed certificate. Writes both
// files or none, and never overwrites a file. The key is PKCS#8, not encrypted, with mode 0600. The
// files are durable when this returns.
void create_authority(const AuthorityOptions& options);

// Creates a key and a certificate for a node or a user, signed by the authority. Files are written
// as by create_authority().
void issue_certificate(const CertificateOptions& options);

struct CertificateInfo {
    std::string subject;  // "CN=node 1"
    std::string issuer;
    std::string cluster;  // empty: the certificate names none
    NodeId node = 0;      // 0: it is not a node's certificate
    std::string user;     // empty: it is not a user's certificate
    // Why it is neither a node's nor a user's certificate; empty if it is one.
    std::string problem;
    std::vector<AccessRole> roles;
    std::vector<AccessRule> rules;
    std::vector<std::string> hosts;
    std::string serial;       // hexadecimal
    std::string fingerprint;  // SHA-256, "AB:CD:..."
    std::chrono::sys_seconds not_before;
    std::chrono::sys_seconds not_after;
    bool is_authority = false;
    // Whether one of the given authorities signed it; empty if none were given.
    std::optional<bool> is_signed;
};

// Reads all certificates of a PEM file in their order; at least one. `authorities` is a file with
// the authorities that may have signed them; an empty path means none. The caller compares the
// validity with the time.
[[nodiscard]] std::vector<CertificateInfo> read_certificates(
    const std::filesystem::path& path, const std::filesystem::path& authorities = {});
// The same of the first certificate in a PEM text, without authorities.
[[nodiscard]] CertificateInfo describe_certificate(std::string_view pem);

// The serial numbers in a file of revoked certificates (TlsConfig::revoked), as
// CertificateInfo::serial has them. Throws CertificateError, with the line, if one is malformed.
// Blocks on the disk.
[[nodiscard]] std::set<std::string> read_revoked(const std::filesystem::path& path);

// what() is one line. code() compares equal to
//   std::errc::invalid_argument         the options are wrong
//   std::errc::bad_message              a file has no certificate or key in it, or the wrong one;
//                                       or the authority has expired
//   std::errc::file_exists              a file to be written exists
//   std::errc::operation_not_permitted  others than its owner can read the key; what() has the
//                                       chmod command
// or else it is the system's code: no_such_file_or_directory, permission_denied and so on.
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
