#include "core/access/identity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace mortise::core {

namespace {

constexpr std::string_view scheme = "mortise://";

constexpr std::array roles{
    std::pair{AccessRole::voter, std::string_view{"voter"}},
    std::pair{AccessRole::learner, std::string_view{"learner"}},
    std::pair{AccessRole::client, std::string_view{"client"}},
    std::pair{AccessRole::observer, std::string_view{"observer"}},
    std::pair{AccessRole::admin, std::string_view{"admin"}},
};
constexpr std::array rights{
    std::pair{Right::acquire, std::string_view{"acquire"}},
    std::pair{Right::break_lock, std::string_view{"break"}},
    std::pair{Right::observe, std::string_view{"observe"}},
    std::pair{Right::members, std::string_view{"members"}},
};

template <class Names>
auto named(const Names& names, std::string_view text)
    -> std::optional<typename Names::value_type::first_type> {
    for (const auto& [value, name] : names)
        if (name == text) return value;
    return std::nullopt;
}

bool gives(AccessRole role, Right right) {
    switch (role) {
        case AccessRole::voter:
        case AccessRole::learner: return true;
        case AccessRole::client: return right == Right::acquire || right == Right::observe;
        case AccessRole::observer: return right == Right::observe;
        case AccessRole::admin: return right != Right::acquire;
    }
    return false;
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

// Returns the part before the next '/', and removes both from `path`.
std::string_view take_step(std::string_view& path) {
    const auto end = std::min(path.find('/'), path.size());
    const auto step = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    return step;
}

std::optional<int> hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return std::nullopt;
}

// A prefix may be any bytes, a URI may not.
std::string percent_encoded(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char c : bytes) {
        if (is_plain(c) || c == '/') {
            text += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        text += '%';
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            bytes += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const auto high = hex_digit(text[i + 1]);
        const auto low = hex_digit(text[i + 2]);
        if (!high || !low) return std::nullopt;
        bytes += static_cast<char>(*high * 16 + *low);
        i += 2;
    }
    return bytes;
}

Error bad(std::string what) {
    return {std::make_error_code(std::errc::invalid_argument), std::move(what)};
}

// Schemes are the same in small and in capital letters.
bool is_of_scheme(std::string_view uri) {
    constexpr std::string_view name = "mortise:";
    return uri.size() >= name.size() &&
           std::ranges::equal(uri.substr(0, name.size()), name, [](char given, char small) {
               return given == small ||
                      (given >= 'A' && given <= 'Z' && given - 'A' + 'a' == small);
           });
}

// Collects the names of one certificate.
class Reader {
public:
    // False: `problem_` says why.
    bool take(std::string_view uri) {
        if (!is_of_scheme(uri)) return true;
        // If it were skipped, a rule might not take effect.
        if (!uri.starts_with(scheme)) {
            problem_ = "it has a name that does not begin with mortise:// in small letters";
            return false;
        }
        auto path = uri.substr(scheme.size());
        const auto cluster = take_step(path);
        if (!is_cluster_name(cluster)) return fail("it does not name a cluster", uri);
        if (identity_.cluster.empty()) identity_.cluster = cluster;
        if (identity_.cluster != cluster) return fail("it names two clusters", uri);
        const auto kind = take_step(path);
        if (kind == "node") return take_node(path) || fail("it names no node, or two", uri);
        if (kind == "user") return take_user(path) || fail("it names no user, or two", uri);
        if (kind == "role") return take_role(path) || fail("it has an unknown role", uri);
        if (kind == "may") return take_rule(path) || fail("it has a rule that is not valid", uri);
        return fail("it says what this version does not understand", uri);
    }

    Result<Identity> finish() {
        if (!problem_.empty()) return bad(problem_);
        if (identity_.cluster.empty())
            return bad("it has no name of the form mortise://CLUSTER/...");
        if (identity_.node.is_set() == !identity_.user.empty())
            return bad("it must name one node or one user");
        auto& has = identity_.access.roles;
        std::ranges::sort(has);
        // Not std::ranges::unique: clang 14, which fuzzes and checks, cannot compile its result.
        has.erase(std::unique(has.begin(), has.end()), has.end());
        if (has.empty()) return bad("it has no role (mortise://CLUSTER/role/...)");
        const bool is_member =
            identity_.access.has(AccessRole::voter) || identity_.access.has(AccessRole::learner);
        if (is_member != identity_.node.is_set())
            return bad("voter and learner are roles of nodes, the others are roles of users");
        return std::move(identity_);
    }

private:
    bool fail(const char* what, std::string_view uri) {
        problem_ = std::string{what} + ": " + percent_encoded(uri.substr(scheme.size()));
        return false;
    }
    bool take_node(std::string_view path) {
        std::uint64_t id = 0;
        const auto* const end = path.data() + path.size();
        const auto read = std::from_chars(path.data(), end, id);
        if (read.ec != std::errc{} || read.ptr != end || id == 0) return false;
        if (identity_.node.is_set() && identity_.node != NodeId{id}) return false;
        identity_.node = NodeId{id};
        return true;
    }
    bool take_user(std::string_view path) {
        if (!is_user_name(path)) return false;
        if (!identity_.user.empty() && identity_.user != path) return false;
        identity_.user = path;
        return true;
    }
    bool take_role(std::string_view path) {
        const auto role = named(roles, path);
        if (role) identity_.access.roles.push_back(*role);
        return role.has_value();
    }
    bool take_rule(std::string_view path) {
        const bool has_prefix = path.find('/') != std::string_view::npos;
        const auto right = named(rights, take_step(path));
        if (right && has_prefix == (*right == Right::members)) return false;
        auto prefix = percent_decoded(path);
        if (!right || !prefix || prefix->size() > access_prefix_bytes_max) return false;
        if (*right == Right::members && !prefix->empty()) return false;
        identity_.access.rules.push_back({*right, std::move(*prefix)});
        return identity_.access.rules.size() <= access_rules_max;
    }

    Identity identity_;
    std::string problem_;
};

}  // namespace

std::string_view to_string(AccessRole role) {
    return roles[static_cast<std::size_t>(role)].second;
}

std::string_view to_string(Right right) {
    return rights[static_cast<std::size_t>(right)].second;
}

Access Access::all() {
    return {{AccessRole::voter}, {}};
}

bool Access::has(AccessRole role) const {
    return std::ranges::find(roles, role) != roles.end();
}

bool Access::may(Right right, std::string_view name) const {
    if (std::ranges::none_of(roles, [&](AccessRole role) { return gives(role, right); }))
        return false;
    return rules.empty() || std::ranges::any_of(rules, [&](const AccessRule& rule) {
               return rule.right == right && name.starts_with(rule.prefix);
           });
}

// All names with a prefix are allowed if and only if the prefix itself is.
bool Access::may_all(Right right, std::string_view prefix) const {
    return may(right, prefix);
}

bool Access::covers(const Access& other) const {
    return std::ranges::all_of(rights, [&](const auto& named) {
        const auto right = named.first;
        if (other.rules.empty()) return !other.may(right, {}) || may_all(right, {});
        return std::ranges::all_of(other.rules, [&](const AccessRule& rule) {
            const bool is_given = rule.right == right && other.may(right, rule.prefix);
            return !is_given || may_all(right, rule.prefix);
        });
    });
}

std::string Identity::name() const {
    return node.is_set() ? "node " + std::to_string(node.raw()) : "user " + user;
}

Result<Identity> identity_from(const std::vector<std::string>& uris) {
    Reader reader;
    for (const auto& uri : uris)
        if (!reader.take(uri)) break;
    return reader.finish();
}

std::vector<std::string> uris_of(const Identity& identity) {
    const auto begin = std::string{scheme} + identity.cluster;
    std::vector<std::string> uris;
    uris.push_back(begin + (identity.node.is_set() ? "/node/" + std::to_string(identity.node.raw())
                                                   : "/user/" + identity.user));
    for (const auto role : identity.access.roles)
        uris.push_back(begin + "/role/" + std::string{to_string(role)});
    for (const auto& rule : identity.access.rules) {
        auto uri = begin + "/may/" + std::string{to_string(rule.right)};
        if (rule.right != Right::members) uri += "/" + percent_encoded(rule.prefix);
        uris.push_back(std::move(uri));
    }
    return uris;
}

bool is_cluster_name(std::string_view name) {
    return !name.empty() && name.size() <= cluster_name_bytes_max &&
           std::ranges::all_of(name, is_plain);
}

bool is_user_name(std::string_view name) {
    return !name.empty() && name.size() <= user_name_bytes_max &&
           std::ranges::all_of(name, [](char c) { return is_plain(c) || c == '@'; });
}

}  // namespace mortise::core
