// Planted faults. Each is one wrong but plausible line, compiled in by -DMORTISE_MUTANT=<name>; the
// tests must notice every one of them (P13). In a build without that switch all are constant false.
#pragma once

#include <cstdint>

namespace mortise::core {

enum class Mutant : std::uint8_t {
    none,
    self_ack_before_durable,    // the leader counts itself before its write is durable
    formation_by_majority,      // S47 without unanimity
    expiry_by_leader_alone,     // S4 counted by the leader's clock alone
    lease_from_last_request,    // S3 measured from the newest request sent, not the named one
    local_loss_without_reaper,  // S6: a hold lost locally is not given back
    commit_earlier_term,        // a leader counts replicas for an entry of an earlier term
    ack_unverified_tail,        // a follower claims durable entries its leader never checked
    append_reply_any_term,      // a leader counts acknowledgements of earlier terms
    vote_before_durable,        // a vote is sent before it is on disk
    read_before_own_commit,     // a new leader answers reads before its first commit
    two_changes_at_once,        // the next membership change does not wait for the former's commit
    progress_of_former_disk,    // what a wiped member had is counted for its new incarnation
};

#ifndef MORTISE_MUTANT
#define MORTISE_MUTANT none
#endif

constexpr bool planted(Mutant mutant) {
    return mutant != Mutant::none && mutant == Mutant::MORTISE_MUTANT;
}

}  // namespace mortise::core
