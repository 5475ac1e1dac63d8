// A decoded Forward, and what a leader does with it before it proposes anything.
#pragma once

#include <optional>
#include <vector>

#include "core/agent/forward.hpp"
#include "core/codec/command_codec.hpp"
#include "core/locks/table/session_table.hpp"
#include "core/node/fair_queue.hpp"

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
// Sets the address of a client in each session that it opens: what it wrote there does not count.
void set_address(DecodedForward& decoded, const std::string& address);
// Whose turn it takes to propose this: that of its session. A session that is being opened has no
// id yet, and waits under its nonce.
[[nodiscard]] SessionId turn_of(const DecodedForward& decoded);
// What a leader knows of the acquires of a session that it has taken and that are not applied yet:
// the newest one that has several names, and how many names one of them has at most. With these it
// knows what a release or a cancel may end that follows at once.
struct NamesUnderWay {
    Seq newest{};
    std::size_t most = 1;
};
// Notes the acquires of the Forward that have several names. `session` is that of its requests.
void note_names(NamesUnderWay& under_way, const DecodedForward& decoded, const Session& session);
// The names that its commands concern, at least one each: the work of applying it. Its own acquires
// are noted. `session` is that of its requests, or null.
[[nodiscard]] std::size_t names_in(const DecodedForward& decoded, const Session* session,
                                   const NamesUnderWay& under_way);
// It is no more than an entry, which is applied in one piece (P10). Correct nodes of this version
// send nothing larger.
[[nodiscard]] bool is_an_entry(std::size_t names);
// The same commands in batches of which each is no more than an entry.
[[nodiscard]] std::vector<FairQueue::Batch> divided(const DecodedForward& decoded,
                                                    const Session* session,
                                                    const NamesUnderWay& under_way);

}  // namespace mortise::core
