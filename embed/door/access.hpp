// The user that a client is, and its rights. They come from the certificate of the user or from a
// token in a file; without both, every client on loopback has all rights.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mortise/certificates.hpp>

namespace mortise::door {

struct Caller {
    std::string user{};    // empty: everybody
    bool may_all = false;  // what the node may
    std::vector<AccessRole> roles{};
    std::vector<AccessRule> rules{};  // as in a certificate: none means every name

    // `name` is that of a lock, or a prefix of names.
    [[nodiscard]] bool may(AccessRight right, std::string_view name) const;
    // For one name at least.
    [[nodiscard]] bool may_somewhere(AccessRight right) const;
};

// A file with a line for each token: TOKEN USER ROLE[,ROLE] [RULE...], with the rules of
// certificates, such as `acquire:orders/`. Empty lines, and those that begin with #, are left out.
class Tokens {
public:
    static constexpr std::size_t length_min = 16;

    Tokens() = default;
    // Throws std::system_error with one line: for a file that others can read, or that is
    // malformed.
    explicit Tokens(const std::filesystem::path& path);

    // Null if there is no such token.
    [[nodiscard]] const Caller* find(std::string_view token) const;

private:
    std::vector<std::pair<std::string, Caller>> callers_;
};

}  // namespace mortise::door
