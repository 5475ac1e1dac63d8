// Shows locks to a person.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mortise/table.hpp"
#include <mortise/info.hpp>

namespace mortise::cli {

// A table of several locks, with a row for each holder, each waiter, each reason why a name is
// closed, and for what the name is and keeps. `bold` marks its titles for a terminal.
[[nodiscard]] std::string text_of(const std::vector<LockInfo>& locks, bool bold);
// The same table for one lock, followed by its other properties.
[[nodiscard]] std::string text_of(const LockInfo& lock, bool bold);

// Whether a session is shown with the address of its node.
enum class Addresses : std::uint8_t { left_out, shown };

// The parts of these: the titles of the table, the rows of one lock, and what it is used as
// ("latch: 2 remaining to be counted"; empty for a lock).
[[nodiscard]] Table lock_table();
void add_rows(Table& table, const LockInfo& lock, Addresses addresses = Addresses::left_out);
[[nodiscard]] std::string use_of(const LockInfo& lock);

// "semaphore", "latch", "barrier", "election", "value" if there is nothing else, or "lock".
[[nodiscard]] std::string_view kind_of(const LockInfo& lock);
// ""10.0.0.1:80", version 7, dirty", or "300 bytes, version 7". What is empty is not known.
[[nodiscard]] std::string summary_of(const LockValue& value);
// The same of the value of a lock, which says so if it is that of a leader.
[[nodiscard]] std::string value_text(const LockInfo& lock);

// "3"; "client" for a node without an id.
[[nodiscard]] std::string id_text(NodeId node);

// "6 min"; "-" if it is not known.
[[nodiscard]] std::string age_text(Duration age);
// "backup@db3:4711", with the address "backup@db3:4711 (10.0.0.3:5120)"; "-" if nothing is known.
[[nodiscard]] std::string from_text(const Origin& origin,
                                    Addresses addresses = Addresses::left_out);

}  // namespace mortise::cli
