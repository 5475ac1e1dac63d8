// Describes an entry of the log in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/locks/command.hpp"
#include "core/raft/entry.hpp"

namespace mortise::detail {

[[nodiscard]] std::string_view word_of(core::EntryKind kind);
// One sentence for each command.
[[nodiscard]] std::vector<std::string> words_of(const core::Entry& entry);
[[nodiscard]] std::string words_of(const core::Command& command);

}  // namespace mortise::detail
