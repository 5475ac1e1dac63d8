// Ages and times that are left, for a person.
#pragma once

#include <cstdint>
#include <string>

#include <mortise/duration.hpp>

namespace mortise::cli {

enum class Rounded : std::uint8_t { down, up };

// "0.8 s", "42 s", "6 min", "2 h 5 min", "3 d 4 h": no more than a person wants to know. An age is
// rounded down, and what is left of a time up, since it is said to be at most that.
[[nodiscard]] std::string short_time(Duration time, Rounded rounded = Rounded::down);

}  // namespace mortise::cli
