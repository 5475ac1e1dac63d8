// What the leader of an election has published.
#pragma once

#include <optional>
#include <string>

#include <mortise/info.hpp>

namespace mortise::json_form {

// Empty for other names, and where the bytes of the value are not known, as in a list. Election
// writes the token of the leader, a blank, and its value.
[[nodiscard]] inline std::optional<std::string> leader_value(const HolderInfo& holder,
                                                             const LockValue& value) {
    const auto mark = holder.token.to_string() + ' ';
    if (holder.mode != LockMode::exclusive || !value.bytes.starts_with(mark)) return std::nullopt;
    return value.bytes.substr(mark.size());
}

[[nodiscard]] inline std::optional<std::string> leader_value(const LockInfo& lock) {
    if (!lock.value || lock.holders.size() != 1) return std::nullopt;
    return leader_value(lock.holders.front(), *lock.value);
}

}  // namespace mortise::json_form
