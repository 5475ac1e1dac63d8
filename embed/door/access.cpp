#include "embed/door/access.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include <sys/stat.h>

#include <mortise/errc.hpp>

namespace mortise::door {

namespace {

// Throws the same type of error as for a key file that cannot be used.
[[noreturn]] void refuse_access(const std::filesystem::path& path, int error) {
    const std::error_code code{error, std::system_category()};
    throw CertificateError{code, "http: " + path.string() + ": " + code.message()};
}

[[noreturn]] void refuse_file(const std::filesystem::path& path, std::size_t line,
                              const std::string& problem) {
    throw std::system_error{Errc::invalid_argument,
                            "http: " + path.string() + ":" + std::to_string(line) + ": " + problem};
}

// A person who can read the file can act as each of its users.
void check_owner(const std::filesystem::path& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) refuse_access(path, errno);
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
    throw CertificateError{std::make_error_code(std::errc::operation_not_permitted),
                           "http: others than its owner can read " + path.string() +
                               "; run chmod 600 " + path.string()};
}

std::optional<AccessRule> rule_of(const std::string& word) {
    const auto colon = word.find(':');
    const auto right = parse_access_right(word.substr(0, colon));
    if (!right || (colon == std::string::npos) != (*right == AccessRight::members))
        return std::nullopt;
    return AccessRule{*right, colon == std::string::npos ? "" : word.substr(colon + 1)};
}

Caller caller_of(std::istringstream& words, const std::filesystem::path& path, std::size_t line) {
    Caller caller;
    std::string roles;
    std::string word;
    words >> caller.user >> roles;
    for (std::istringstream list{roles}; std::getline(list, word, ',');) {
        const auto role = parse_access_role(word);
        const bool is_users = role && *role != AccessRole::voter && *role != AccessRole::learner;
        if (!is_users) refuse_file(path, line, "a role is client, observer or admin");
        caller.roles.push_back(*role);
    }
    if (caller.roles.empty()) refuse_file(path, line, "a line is TOKEN USER ROLE[,ROLE] [RULE...]");
    while (words >> word) {
        auto rule = rule_of(word);
        if (!rule)
            refuse_file(path, line, "a rule is acquire:PREFIX, break:PREFIX or observe:PREFIX");
        caller.rules.push_back(*std::move(rule));
    }
    return caller;
}

// The time does not tell how much of it is right.
bool is_same(std::string_view one, std::string_view other) {
    if (one.size() != other.size()) return false;
    unsigned differing = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        differing |= static_cast<unsigned>(static_cast<unsigned char>(one[i]) ^
                                           static_cast<unsigned char>(other[i]));
    return differing == 0;
}

}  // namespace

bool Caller::may(AccessRight right, std::string_view name) const {
    return may_all || is_allowed(roles, rules, right, name);
}

bool Caller::may_somewhere(AccessRight right) const {
    return may(right, {}) || std::ranges::any_of(rules, [&](const AccessRule& rule) {
               return rule.right == right && may(right, rule.prefix);
           });
}

Tokens::Tokens(const std::filesystem::path& path) {
    check_owner(path);
    std::ifstream file{path};
    if (!file) refuse_access(path, errno);
    std::string text;
    std::map<std::string, std::size_t> lines;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
        std::istringstream words{text};
        std::string token;
        if (!(words >> token) || token.starts_with('#')) continue;
        if (token.size() < length_min)
            refuse_file(path, line,
                        "a token has at least 16 bytes; openssl rand -hex 16 makes one");
        const auto [former, is_new] = lines.emplace(token, line);
        if (!is_new)
            refuse_file(path, line, "line " + std::to_string(former->second) + " has this token");
        callers_.emplace_back(std::move(token), caller_of(words, path, line));
    }
    if (callers_.empty()) refuse_file(path, 1, "there is no token");
}

const Caller* Tokens::find(std::string_view token) const {
    const Caller* found = nullptr;
    for (const auto& [known, caller] : callers_) {
        if (is_same(known, token)) found = &caller;
    }
    return found;
}

}  // namespace mortise::door
