// Which names are worth a cached grant (S41, S43): those that this node takes twice in a row. After
// each recall the node has to take the name twice as often before it caches it again, so that a
// name which goes to and fro between nodes is cached by none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/instant.hpp"

namespace mortise::core {

class CacheHabits {
public:
    // A name counts as taken in a row if it was released less than `within` ago. Remembers the
    // newest `names_max` names.
    CacheHabits(Nanoseconds within, std::size_t names_max)
        : within_{within}, names_max_{names_max} {}

    // How many tokens an acquire of the name is to reserve; zero: it is not worth a cached grant.
    [[nodiscard]] std::uint32_t tokens(std::string_view name, Instant now) const;

    // A hold of the name was released by its owner.
    void released(std::string_view name, Instant now) noexcept;
    // Another request waited for a cached grant of the name.
    void recalled(std::string_view name, Instant now) noexcept;
    // A cached grant was given back because nobody used it.
    void dropped(std::string_view name, Instant now) noexcept;
    // All tokens of a cached grant were used: the next one reserves more.
    void used_up(std::string_view name, Instant now) noexcept;

    [[nodiscard]] std::size_t size() const { return names_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const {
            return std::hash<std::string_view>{}(name);
        }
    };
    struct Habit {
        std::uint32_t in_row = 0;  // how often it was released in a row
        std::uint32_t needed = 1;  // how often it has to be
        std::uint32_t tokens = 0;  // of the next cached grant
        Instant at;                // the newest event
        std::list<std::string>::iterator place;
    };

    Habit& habit(std::string_view name, Instant now);
    template <class Note>
    void note(std::string_view name, Instant now, const Note& note) noexcept;

    Nanoseconds within_;
    std::size_t names_max_;
    std::unordered_map<std::string, Habit, Hash, std::equal_to<>> names_;
    std::list<std::string> by_age_;  // the newest event last
};

}  // namespace mortise::core
