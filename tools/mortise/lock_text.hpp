// Locks as a person reads them.
#pragma once

#include <string>
#include <vector>

#include <mortise/info.hpp>

namespace mortise::cli {

// A table of all, a row for each holder, each waiter and whatever keeps a name closed. `bold` marks
// its titles for a terminal.
[[nodiscard]] std::string text_of(const std::vector<LockInfo>& locks, bool bold);
// The same of one, and what else there is to say of it.
[[nodiscard]] std::string text_of(const LockInfo& lock, bool bold);

}  // namespace mortise::cli
