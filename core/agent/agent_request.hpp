// A request of this node's session, from the call of the program until its answer is applied.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// It is in one place at a time: with the OpenCalls until it is sent, in the SendWindow until it is
// applied, and with the OpenCalls again if the cluster has queued it. A release, cancel or
// downgrade is never queued.
struct AgentRequest {
    RequestBody body;
    CallTag tag{};  // not set: no call waits for the answer
    Seq hold{};     // for an Upgrade and its Cancel: the hold to be upgraded
    std::size_t names = 1;
    Seq seq{};  // not set: no sequence number yet

    // --- of a call
    Instant deadline = Instant::never();  // for the grant
    Instant gives_up{};                   // when it is answered in any case
    Instant began{};
    std::uint64_t arrival = 0;  // the order of the calls
    bool queued = false;        // queued by the cluster and not answered
    bool suspends = false;      // see AcquireCall
    bool writes = false;        // see WriteCall
    bool is_short = false;      // its time may be over before an answer can come
};

}  // namespace mortise::core
