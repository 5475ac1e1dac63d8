// A decoded Forward, and what a leader does with it before it proposes anything.
#pragma once

#include <optional>
#include <vector>

#include "core/agent/forward.hpp"
#include "core/codec/command_codec.hpp"

namespace mortise::core {

struct DecodedForward {
    Bytes batch;  // empty: there is none, or a malformed one
    std::vector<Command> commands;
    std::optional<Renewal> renewal;
    // The requests in it belong to one session, and their numbers follow each other. Not set when
    // there are no requests.
    SessionId session{};
    Seq first{};
    Seq last{};
    bool is_malformed = false;
};

// `format` is the newest one that this node reads.
[[nodiscard]] DecodedForward decode(const Forward& forward, std::uint8_t format);
// Leaves out the requests of its session before `next`, or all of them if `next` is not set.
void leave_out_requests(DecodedForward& decoded, Seq next);
// Replaces each acquiring request with a Declined.
void decline_acquiring(DecodedForward& decoded);
// Sets the access of `opener`'s certificate in each session that it opens.
void set_access(DecodedForward& decoded, NodeId opener, const Access& access);

}  // namespace mortise::core
