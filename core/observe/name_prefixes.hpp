// The prefixes by which an operator groups names: each name belongs to the longest one that it
// begins with.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::core {

class NamePrefixes {
public:
    explicit NamePrefixes(std::vector<std::string> prefixes);

    // The prefixes in the order in which the constructor got them.
    [[nodiscard]] const std::vector<std::string>& all() const { return given_; }
    // The number of the prefix that the name belongs to, from zero in the given order; the number
    // of all if there is none.
    [[nodiscard]] std::size_t group_of(std::string_view name) const;

private:
    struct Prefix {
        std::string text;
        std::size_t number = 0;
        std::size_t shorter = 0;  // the place in sorted_ of the next shorter one of this, plus one
    };

    std::vector<std::string> given_;
    std::vector<Prefix> sorted_;  // in byte order
};

}  // namespace mortise::core
