// What a door has, in shares: one user cannot take all of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace mortise::door {

// Of so many there are, one user gets seven eighths. `user` empty: there are no users, and
// everybody may have all.
[[nodiscard]] constexpr std::size_t share_of(const std::string& user, std::size_t all) {
    return user.empty() ? all : all - all / 8;
}

// Counts what each user has. Thread-safe.
class Shares {
public:
    // A place of the user, given back with its last copy. Null if it has its share of `all`.
    [[nodiscard]] std::shared_ptr<void> take(const std::string& user, std::size_t all);

private:
    class Taken;
    struct Counts;
    const std::shared_ptr<Counts> counts_ = begin();
    [[nodiscard]] static std::shared_ptr<Counts> begin();
};

}  // namespace mortise::door
