// The value of the row of a mark of time. The key has the index of its entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/locks/table/clock_marks.hpp"

namespace mortise::core {

[[nodiscard]] std::string encode_mark(const ClockMark& mark);
[[nodiscard]] std::optional<ClockMark> decode_mark(LogIndex index, std::string_view value);

}  // namespace mortise::core
