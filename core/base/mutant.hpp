// Planted faults: each is one wrong but plausible line, and the tests must notice every one of them
// (P13). They are compiled in by the option MORTISE_MUTANTS alone; which one is at work then says
// MORTISE_MUTANT in the environment. In every other build all of them are constant false.
// `./dev mutants` runs the tests against each.
#pragma once

#include <cstdint>

namespace mortise::core {

// X(name, what is wrong)
#define MORTISE_PLANTED_FAULTS(X)                                                              \
    X(self_ack_before_durable, "the leader counts itself before its write is durable")         \
    X(formation_by_majority, "S47 without unanimity")                                          \
    X(expiry_by_leader_alone, "S4 counted by the leader's clock alone")                        \
    X(lease_from_last_request, "S3 measured from the newest request sent, not the named one")  \
    X(local_loss_without_reaper, "S6: a hold lost locally is not given back")                  \
    X(commit_earlier_term, "a leader counts replicas for an entry of an earlier term")         \
    X(ack_unverified_tail, "a follower claims durable entries its leader never checked")       \
    X(append_reply_any_term, "a leader counts acknowledgements of earlier terms")              \
    X(vote_before_durable, "a vote is sent before it is on disk")                              \
    X(read_before_own_commit, "a new leader answers reads before its first commit")            \
    X(two_changes_at_once, "the next membership change does not wait for the former's commit") \
    X(progress_of_former_disk, "what a wiped member had is counted for its new incarnation")   \
    X(log_write_unsynced, "a write of the log is answered before its sync")                    \
    X(witness_not_lowered, "the log gets shorter than its witness says")                       \
    X(disk_errors_forgotten, "a store goes on after a failure")                                \
    X(state_durable_unflushed, "the state is called durable before it is flushed")             \
    X(install_switches_early, "rows of an unfinished install count as the state")              \
    X(state_checksum_ignored, "a damaged row of the state is taken as it is")

enum class Mutant : std::uint8_t {
#define MORTISE_PLANTED_FAULT(name, what) name,
    MORTISE_PLANTED_FAULTS(MORTISE_PLANTED_FAULT)
#undef MORTISE_PLANTED_FAULT
};

#ifdef MORTISE_MUTANTS
// Looks at the environment once. An unknown name ends the process: it would look like a survivor.
bool planted(Mutant mutant);
#else
constexpr bool planted(Mutant /*mutant*/) {
    return false;
}
#endif

}  // namespace mortise::core
