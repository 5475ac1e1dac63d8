// All messages between peers.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/locks/command.hpp"
#include "core/raft/configuration_change.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

// The first entry of the cluster, for an empty node that it names (S47).
struct FormationOffer {
    Entry founding;
};

// Asks whether this run of a voter is still empty, now that every voter has said so once (S47).
struct FormationQuestion {
    std::uint64_t round = 0;
    std::uint64_t life = 0;  // the run that is asked, from its hello
};

// It is still empty, and agrees to be a voter of the asker's cluster.
struct FormationAnswer {
    std::uint64_t round = 0;
};

// What a node's program asks for, on its way to the leader: batches as in codec/command_codec.
// It is not answered but by TooBusy: the caller's own node sees it applied, or sends it again.
struct Forward {
    Bytes urgent;  // commands that end things: never refused for load
    Bytes acquires;
    std::optional<Renewal> renewal;
};

// A membership change that a node's program requests, on its way to the leader. It is only a look,
// unless it names the configuration and the term that an earlier look saw. It has no effect if
// these are not in force any more: so a late copy, or one of two concurrent requests, does no harm.
struct MembershipRequest {
    ChangeId id;
    MembershipGoal goal;
    LogIndex configuration;
    Term term;
    bool begun = false;  // from an earlier reply
};

struct MembershipReply {
    enum class State : std::uint8_t {
        looked,   // request the change with this configuration and this term
        begun,    // ask again whether it is done
        not_yet,  // nothing has begun, for a reason that passes by itself
        refused,
        done,
    };

    ChangeId id;
    State state = State::looked;
    MembershipRefusal why{};  // not_yet, refused
    LogIndex configuration;   // looked
    Term term;                // the same
};

// "I have too much to do to take these acquires." To who forwarded them.
struct TooBusy {
    SessionId session;
    Seq first;  // of the batch
    Seq last;
};

// "This directory has lost what it acknowledged, or another generation of it was seen since." For
// the run that it names; nothing that this run says counts.
struct Superseded {
    Incarnation incarnation;
    BootEpoch boot_epoch;
    std::uint64_t life = 0;
};

using PeerMessage =
    std::variant<RaftMessage, FormationOffer, Forward, MembershipRequest, MembershipReply, TooBusy,
                 Superseded, FormationQuestion, FormationAnswer>;

struct Envelope {
    NodeId to;
    PeerMessage message;
};

}  // namespace mortise::core
