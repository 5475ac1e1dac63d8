// All messages between peers.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/agent/forward.hpp"
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

// A change that a node's program wants, on its way to the leader. It is only a query, unless it
// names the configuration and the term that an earlier query returned. It changes nothing if these
// are no longer current, so a late or concurrent copy is harmless.
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
        not_yet,  // not begun, for a reason that resolves by itself
        refused,
        done,
    };

    ChangeId id;
    State state = State::looked;
    MembershipRefusal why{};  // not_yet, refused
    LogIndex configuration;   // looked
    Term term;                // the same
};

// "The next request that I expect of your session is this one: resend from there." A leader sends
// it to the node that forwarded the requests.
struct StreamGap {
    SessionId session;
    Seq next;
};

// "This directory has forgotten what it promised, or a later or copied run of it was here." The
// receiver is the run that the message names; nothing that this run says counts.
struct Superseded {
    Generation generation;
};

using PeerMessage =
    std::variant<RaftMessage, FormationOffer, Forward, MembershipRequest, MembershipReply,
                 Superseded, FormationQuestion, FormationAnswer, StreamGap>;

struct Envelope {
    NodeId to;
    PeerMessage message;
};

}  // namespace mortise::core
