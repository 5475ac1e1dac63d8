// Shows locks to a person.
#pragma once

#include <string>
#include <vector>

#include "tools/mortise/table.hpp"
#include <mortise/info.hpp>

namespace mortise::cli {

// A table of several locks, with a row for each holder, each waiter and each reason why a name is
// closed. `bold` marks its titles for a terminal.
[[nodiscard]] std::string text_of(const std::vector<LockInfo>& locks, bool bold);
// The same table for one lock, followed by its other properties.
[[nodiscard]] std::string text_of(const LockInfo& lock, bool bold);

// The parts of these: the titles of the table, the rows of one lock, what it is used as ("latch: 2
// remaining to be counted"; empty for a lock), and its value ("3 bytes, version 7, dirty").
[[nodiscard]] Table lock_table();
void add_rows(Table& table, const LockInfo& lock);
[[nodiscard]] std::string use_of(const LockInfo& lock);
[[nodiscard]] std::string summary_of(const LockValue& value);

// "3"; "client" for a node without an id.
[[nodiscard]] std::string id_text(NodeId node);

// "7.3s", "192s": tenths of a second, unless that would be too fine.
[[nodiscard]] std::string short_time(Duration time);

}  // namespace mortise::cli
