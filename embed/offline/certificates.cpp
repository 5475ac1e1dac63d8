#include "transport/tls/certificates.hpp"

#include <algorithm>
#include <utility>

#include "transport/tls/key_files.hpp"
#include "transport/tls/revoked.hpp"
#include <mortise/certificates.hpp>

namespace mortise {

namespace {

constexpr bool is_same(AccessRole ours, core::AccessRole theirs) {
    return static_cast<int>(ours) == static_cast<int>(theirs);
}
constexpr bool is_same(AccessRight ours, core::Right theirs) {
    return static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(is_same(AccessRole::voter, core::AccessRole::voter));
static_assert(is_same(AccessRole::learner, core::AccessRole::learner));
static_assert(is_same(AccessRole::client, core::AccessRole::client));
static_assert(is_same(AccessRole::observer, core::AccessRole::observer));
static_assert(is_same(AccessRole::admin, core::AccessRole::admin));
static_assert(is_same(AccessRight::acquire, core::Right::acquire));
static_assert(is_same(AccessRight::break_lock, core::Right::break_lock));
static_assert(is_same(AccessRight::observe, core::Right::observe));
static_assert(is_same(AccessRight::members, core::Right::members));

[[noreturn]] void refuse(const core::Error& error) {
    throw CertificateError{error.code, error.what};
}

[[noreturn]] void refuse(const std::filesystem::path& path, const core::Error& error) {
    throw CertificateError{error.code, path.string() + ": " + error.what};
}

[[noreturn]] void refuse(const char* line) {
    throw CertificateError{std::make_error_code(std::errc::invalid_argument), line};
}

template <class T>
T value_of(core::Result<T> result) {
    if (!result) refuse(result.error());
    return *std::move(result);
}

std::chrono::sys_seconds wall_clock() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

transport::Validity validity_of(Duration valid_for,
                                std::optional<std::chrono::sys_seconds> not_before) {
    const auto length = std::chrono::floor<std::chrono::seconds>(valid_for.to_nanoseconds());
    if (!not_before) return transport::Validity::from(wall_clock(), length);
    if (*not_before < transport::time_min || *not_before > transport::time_max)
        refuse("a certificate is valid between the years 1970 and 9999");
    return {*not_before, *not_before + length};
}

core::Access access_of(std::span<const AccessRole> roles, std::span<const AccessRule> rules) {
    core::Access access;
    for (const auto role : roles) {
        if (role > AccessRole::admin) refuse("there is no such role");
        access.roles.push_back(static_cast<core::AccessRole>(role));
    }
    for (const auto& rule : rules) {
        if (rule.right > AccessRight::members) refuse("there is no such right");
        access.rules.push_back({static_cast<core::Right>(rule.right), rule.prefix});
    }
    return access;
}

core::Identity identity_of(const CertificateOptions& options) {
    core::Identity identity;
    identity.cluster = options.cluster;
    identity.node = core::NodeId{options.node};
    identity.user = options.user;
    identity.access = access_of(options.roles, options.rules);
    if (options.roles.empty() && options.node != 0)
        identity.access.roles = {core::AccessRole::voter};
    return identity;
}

void write(const transport::KeyPairPaths& paths, const transport::Issued& issued) {
    if (const auto written = transport::write_key_pair(paths, issued); !written)
        refuse(written.error());
}

void add_identity(CertificateInfo& info, const core::Identity& identity) {
    info.node = identity.node.raw();
    info.user = identity.user;
    for (const auto role : identity.access.roles)
        info.roles.push_back(static_cast<AccessRole>(role));
    for (const auto& rule : identity.access.rules)
        info.rules.push_back({static_cast<AccessRight>(rule.right), rule.prefix});
}

CertificateInfo info_of(transport::CertificateDescription&& is) {
    CertificateInfo info{.subject = std::move(is.subject),
                         .issuer = std::move(is.issuer),
                         .cluster = std::move(is.cluster),
                         .node = 0,
                         .user = {},
                         .problem = std::move(is.no_identity),
                         .roles = {},
                         .rules = {},
                         .hosts = std::move(is.hosts),
                         .serial = std::move(is.serial),
                         .fingerprint = std::move(is.fingerprint),
                         .not_before = is.validity.not_before,
                         .not_after = is.validity.not_after,
                         .is_authority = is.is_authority,
                         .is_signed = is.is_signed};
    if (is.identity) add_identity(info, *is.identity);
    return info;
}

template <class Value>
std::optional<Value> named(std::string_view text, Value last) noexcept {
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        const auto value = static_cast<Value>(i);
        if (to_string(value) == text) return value;
    }
    return std::nullopt;
}

}  // namespace

// The values have the order of core's, which has the names; they may be out of range here.
std::string_view to_string(AccessRole role) noexcept {
    if (role > AccessRole::admin) return "unknown";
    return core::to_string(static_cast<core::AccessRole>(role));
}

std::string_view to_string(AccessRight right) noexcept {
    if (right > AccessRight::members) return "unknown";
    return core::to_string(static_cast<core::Right>(right));
}

std::optional<AccessRole> parse_access_role(std::string_view text) noexcept {
    return named(text, AccessRole::admin);
}

std::optional<AccessRight> parse_access_right(std::string_view text) noexcept {
    return named(text, AccessRight::members);
}

void create_authority(const AuthorityOptions& options) {
    const auto made = value_of(transport::make_authority(
        {options.cluster, validity_of(options.valid_for, options.not_before)}));
    write({options.certificate, options.key}, made);
}

void issue_certificate(const CertificateOptions& options) {
    const transport::Issued authority{
        value_of(transport::read_certificate_file(options.authority_certificate)),
        value_of(transport::read_key_file(options.authority_key))};
    const transport::CertificateRequest request{
        .identity = identity_of(options),
        .hosts = options.hosts,
        .validity = validity_of(options.valid_for, options.not_before),
        .authority_certificate = options.authority_certificate.string(),
        .authority_key = options.authority_key.string()};
    const auto issued = value_of(transport::issue_certificate(authority, request, wall_clock()));
    write({options.certificate, options.key}, issued);
}

std::vector<CertificateInfo> read_certificates(const std::filesystem::path& path,
                                               const std::filesystem::path& authorities) {
    const auto text = value_of(transport::read_certificate_file(path));
    std::string signers;
    if (!authorities.empty()) {
        signers = value_of(transport::read_certificate_file(authorities));
        const auto read = transport::describe_certificates(signers);
        if (!read) refuse(authorities, read.error());
    }
    auto descriptions = transport::describe_certificates(text, signers);
    if (!descriptions) refuse(path, descriptions.error());
    std::vector<CertificateInfo> infos;
    for (auto& description : *descriptions)
        infos.push_back(info_of(std::move(description)));
    return infos;
}

CertificateInfo describe_certificate(std::string_view pem) {
    return info_of(std::move(value_of(transport::describe_certificates(pem)).front()));
}

bool is_allowed(std::span<const AccessRole> roles, std::span<const AccessRule> rules,
                AccessRight right, std::string_view name) {
    return access_of(roles, rules).may(static_cast<core::Right>(right), name);
}

std::set<std::string> read_revoked(const std::filesystem::path& path) {
    return value_of(transport::RevokedSerials::read(path)).all();
}

CertificateError::CertificateError(std::error_code code, const std::string& line)
    : std::system_error{code}, line_{std::make_shared<const std::string>(line)} {}

CertificateError::~CertificateError() = default;

const char* CertificateError::what() const noexcept {
    return line_->c_str();
}

}  // namespace mortise
