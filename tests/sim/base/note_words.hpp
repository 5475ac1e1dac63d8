// The notes of the core about its decisions, as a line of the timeline and as a probe.
#pragma once

#include "core/raft/output.hpp"

namespace mortise::sim {

struct NoteWords {
    const char* line;             // a {} for the term, and perhaps one for the peer
    const char* probe = nullptr;  // null: not worth counting
};

inline NoteWords words_of(const core::Note& note) {
    using Kind = core::Note::Kind;
    switch (note.kind) {
        case Kind::became_follower:
            if (!note.peer.is_set()) return {"in term {} follows nobody"};
            return {"in term {} follows node {}"};
        case Kind::became_pre_candidate: return {"in term {} asks for pre-votes"};
        case Kind::became_candidate: return {"in term {} is a candidate"};
        case Kind::became_leader: return {"in term {} leads", "leader elected"};
        case Kind::lost_quorum:
            return {"in term {} steps down without a quorum", "leader stepped down without quorum"};
        case Kind::disk_stalled:
            return {"in term {} steps down, its disk is stalled",
                    "leader stepped down with a stalled disk"};
        case Kind::peer_cut_off:
            return {"in term {} cuts off node {}", "follower cut off by a purge"};
        case Kind::transfer_started:
            return {"in term {} hands over to node {}", "transfer started"};
        case Kind::transfer_failed:
            return {"in term {} gives up handing over to node {}", "transfer failed"};
        case Kind::refused_message:
            // Impossible here, since no simulated node sends such messages; so it is not a probe to
            // be reached.
            return {"in term {} refuses a message of node {}"};
        case Kind::unheard_message: return {"in term {} does not hear node {}"};
        case Kind::refused_chunk: return {"in term {} begins a transfer of a state anew, node {}"};
        case Kind::own_life_doubted:
            return {"in term {} hears of node {} that it was rolled back",
                    "rolled back member told by one"};
        case Kind::senseless_entry: return {"in term {} passes over an entry without sense"};
        case Kind::false_leader:
            return {"in term {} does not believe node {}, which claims to lead"};
        case Kind::distant_term: return {"in term {} hears of a distant term of node {}"};
        case Kind::terms_used_up: return {"in term {} sees the last term"};
        case Kind::may_have_forgotten:
            return {"in term {} may have forgotten entries", "start after a loss of power"};
        case Kind::recovered: return {"in term {} has recovered", "member recovered"};
        case Kind::era_begun: return {"in term {} begins an era"};
        case Kind::formed: return {"in term {} is part of a cluster"};
        case Kind::configuration_changed:
            return {"in term {} has another configuration", "configuration changed"};
        case Kind::removed: return {"in term {} learns that it was removed", "member removed"};
        case Kind::state_requested: return {"in term {} begins to send its state to node {}"};
        case Kind::state_sent:
            return {"in term {} has sent its state to node {}", "state sent to a follower"};
        case Kind::state_installed: return {"in term {} has the state of another"};
        case Kind::peer_forgot: return {"in term {} finds that node {} has forgotten"};
        case Kind::peer_counts_again:
            return {"in term {} counts node {} again", "forgetful member counted again"};
        case Kind::refused_state: return {"in term {} cannot read the state of node {}"};
    }
    return {"in term {} notes something"};
}

}  // namespace mortise::sim
