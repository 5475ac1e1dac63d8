// Shows locks to a person.
#pragma once

#include <string>
#include <vector>

#include <mortise/info.hpp>

namespace mortise::cli {

// A table of several locks, with a row for each holder, each waiter and each reason why a name is
// closed. `bold` marks its titles for a terminal.
[[nodiscard]] std::string text_of(const std::vector<LockInfo>& locks, bool bold);
// The same table for one lock, followed by its other properties.
[[nodiscard]] std::string text_of(const LockInfo& lock, bool bold);

// "7.3s", "192s": tenths of a second, unless that would be too fine.
[[nodiscard]] std::string short_time(Duration time);

}  // namespace mortise::cli
