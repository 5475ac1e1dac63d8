// What a reader learns about a session: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/locks/origin.hpp"

namespace mortise::core {

struct SessionView {
    SessionId id;
    NodeId node;  // not set: a client
    std::uint32_t ttl_ms = 0;
    std::size_t holds = 0;  // names that it holds
    std::size_t waits = 0;  // names that it waits for
    std::string label;      // of one of its holds; empty if the first ones have none
    // The node that counts its lease down fills these in; they are not replicated state.
    Nanoseconds known{};                // for how long this run of the node has known it
    std::optional<Nanoseconds> left{};  // of its lease
    Origin origin{};
    LogIndex opened_at{};              // not set: its entry has no time
    std::optional<Nanoseconds> age{};  // since then; filled in as well

    friend bool operator==(const SessionView&, const SessionView&) = default;
};

}  // namespace mortise::core
