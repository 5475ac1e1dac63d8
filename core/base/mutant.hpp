// Planted faults: each is one wrong but plausible line, and the tests must notice every one of them
// (P13). They are compiled in by the option MORTISE_MUTANTS alone; which one is at work then says
// MORTISE_MUTANT in the environment. In every other build all of them are constant false.
// `./dev mutants` runs the tests against each.
#pragma once

#include <cstdint>

namespace mortise::core {

// X(name, what is wrong)
#define MORTISE_PLANTED_FAULTS(X)                                                                \
    X(self_ack_before_durable, "the leader counts itself before its write is durable")           \
    X(formation_by_majority, "S47 without unanimity")                                            \
    X(expiry_by_leader_alone, "S4 counted by the leader's clock alone")                          \
    X(lease_from_last_request, "S3 measured from the newest request sent, not the named one")    \
    X(local_loss_without_reaper, "S6: a hold lost locally is not given back")                    \
    X(commit_earlier_term, "a leader counts replicas for an entry of an earlier term")           \
    X(ack_unverified_tail, "a follower claims durable entries its leader never checked")         \
    X(append_reply_any_term, "a leader counts acknowledgements of earlier terms")                \
    X(vote_before_durable, "a vote is sent before it is on disk")                                \
    X(read_before_own_commit, "a new leader answers reads before its first commit")              \
    X(two_changes_at_once, "the next membership change does not wait for the former's commit")   \
    X(progress_of_former_disk, "what a wiped member had is counted for its new incarnation")     \
    X(log_write_unsynced, "a write of the log is answered before its sync")                      \
    X(witness_not_lowered, "the log gets shorter than its witness says")                         \
    X(disk_errors_forgotten, "a store goes on after a failure")                                  \
    X(state_durable_unflushed, "the state is called durable before it is flushed")               \
    X(install_switches_early, "rows of an unfinished install count as the state")                \
    X(state_checksum_ignored, "a damaged row of the state is taken as it is")                    \
    X(no_pre_vote, "who misses its leader campaigns without asking first")                       \
    X(pre_vote_resets_timer, "who is asked in advance waits anew for its leader")                \
    X(vote_of_earlier_round, "an answer to an earlier question counts as a pre-vote")            \
    X(vote_by_length, "the longer log wins, whatever its last term is")                          \
    X(vote_forgotten, "who steps down forgets whom it voted for")                                \
    X(campaign_before_durable, "a candidate counts its own vote before it is on disk")           \
    X(any_term_taken, "a term or an index that is out of bounds is taken")                       \
    X(one_word_is_enough, "the word of one member makes a node give its directory up")           \
    X(second_leader_taken, "in one term two leaders are followed")                               \
    X(contradiction_taken, "a leader may contradict what is committed")                          \
    X(no_check_quorum, "a leader leads on without hearing from a majority")                      \
    X(leads_with_stalled_disk, "a leader leads on while its disk hangs")                         \
    X(append_without_previous, "a follower takes entries though it has not the one before")      \
    X(truncate_without_conflict, "an old append cuts off what came after it")                    \
    X(commit_unverified_tail, "a follower commits entries its leader never checked")             \
    X(durable_mark_not_lowered, "what is truncated still counts as durable")                     \
    X(old_completion_counts, "a write that was truncated meanwhile makes its place durable")     \
    X(read_joins_open_round, "a read is answered by a round that began before it")               \
    X(read_joins_open_question, "a call is answered by a question that was asked before it")     \
    X(inspect_asks_nobody, "S46: any listing is answered from the state at hand")                \
    X(change_not_joint, "a learner becomes a voter without a joint configuration")               \
    X(joint_by_new_alone, "while joint the new voters decide alone")                             \
    X(learner_campaigns, "a learner asks for votes")                                             \
    X(promoted_with_nothing, "a learner that has no log becomes a voter, if the log is short")   \
    X(former_disk_admitted, "a directory that was replaced still speaks for the member")         \
    X(superseded_told_once, "who missed that it is outlived is not told again")                  \
    X(outlived_by_the_state, "S10: who applies the session of a later start of its own goes on") \
    X(earlier_life_welcome, "a connection of an earlier life takes the place of a later one")    \
    X(emptied_directory_welcome, "S47: restored from before it was told, it is told and votes")  \
    X(formation_by_hellos, "S47: empty at different times is taken for empty at once")           \
    X(founded_while_state_installs, "S47: who is about to be of a cluster founds another")       \
    X(offer_of_other_list, "S47: a founding by voters other than those configured now counts")   \
    X(try_has_time_twice, "S48: a try that is read first has as much time again for the log")    \
    X(offer_before_durable, "S47: a founding is offered before it is on disk")                   \
    X(format_gate_misses_one, "P12: who was not heard of is taken to read the newer format")     \
    X(chunk_checksum_ignored, "a damaged piece of a state is taken as it is")                    \
    X(chunk_of_other_state, "pieces of two states are put together")                             \
    X(install_untold_to_program, "S15: after an installed state nothing is asked again")         \
    X(backlog_in_one_step, "V14: all that is committed is applied in one step")                  \
    X(applied_behind_install, "S2: what is committed goes onto a state that is being replaced")  \
    X(state_lag_ignored, "P11: memory fills while the state on disk does not keep up")           \
    X(cancels_keep_renewals_out, "P11: what ends things takes the last of the room")             \
    X(countdowns_ahead_dropped, "S4: what was saved is lost while the log is applied again")     \
    X(chunks_without_bound, "P11: a state comes faster than it gets to disk")                    \
    X(lags_and_leads, "P7: whoever takes nothing any more leads on")                             \
    X(purge_ahead_of_state, "the log is purged up to what is applied, not to what is on disk")   \
    X(states_not_compared, "a replica that differs goes on")                                     \
    X(answers_not_saved, "S17: answers are not part of the state on disk")                       \
    X(token_restarts_on_restore, "P1: the newest token is not part of the state on disk")        \
    X(holder_trusts_whole_ttl, "S3 without margin and without rho")                              \
    X(lease_from_answer, "S3: the first lease begins when the session is there")                 \
    X(lease_revived, "S6: a lease that ran out is extended")                                     \
    X(renewal_of_any_number, "S2: a renewal counts whatever its number is")                      \
    X(expiry_despite_renewal, "S4: an expiry counts though the session was renewed since")       \
    X(countdown_of_earlier_renewal, "S4: a restart goes on with the time of an earlier renewal") \
    X(countdown_restarts_at_failover, "S4: every new leader lets all sessions begin anew")       \
    X(no_grace_for_renewals, "S4: a new leader expires before renewals can arrive")              \
    X(deaf_node_renews_on, "a node that learns of nothing keeps its session alive")              \
    X(former_life_lives_on, "S10: the former process's session is not ended")                    \
    X(request_taken_twice, "S17: a repeat takes effect again")                                   \
    X(unseen_answers_acknowledged, "S17: answers are acknowledged that were never told")         \
    X(gap_applied, "S17: a request is applied though one before it is missing")                  \
    X(gap_counts_as_applied, "S17: what comes ahead of a missing request takes its place")       \
    X(applied_not_saved, "S17: how far a stream is applied is not part of the state on disk")    \
    X(declined_still_waits, "P11: a request that was declined gets no answer")                   \
    X(acquires_without_bound, "P11: who acknowledges nothing goes on acquiring")                 \
    X(answers_without_bound, "P11: who acknowledges nothing is answered on")                     \
    X(run_of_two_sessions, "S17: in an entry a request is counted to the session before it")     \
    X(run_over_a_gap, "S17: in an entry a request gets the number behind the one before it")     \
    X(run_goes_on_behind_others, "S17: requests go on behind those of another session")          \
    X(timeout_without_cancel, "S18: a call that timed out is not cancelled in the log")          \
    X(late_grant_kept, "S18: what was granted after the lease is not given back")                \
    X(late_upgrade_kept, "S28: what was upgraded after its caller gave up stays exclusive")      \
    X(confirmed_by_any_renewal, "S6: a renewal that was asked for before confirms a hold")       \
    X(several_follow_one_name, "S20: who asks for several names keeps the order of one")         \
    X(try_before_own_release, "S20: a try is answered from a read behind our own release")       \
    X(endings_overtake_each_other,                                                               \
      "S20: what follows the newer of two releases does not follow both")                        \
    X(cancel_without_its_place,                                                                  \
      "S20: a cancel in front of its call lets others pass what that came after")                \
    X(downgrade_out_of_order,                                                                    \
      "S27: a downgrade may get there before the cancel of an upgrade of its hold")              \
    X(recursion_on_lost_hold, "S22: a locker counts on though its hold is lost")                 \
    X(recursion_without_end, "S22: a locker's holds have no bound")                              \
    X(names_never_forgotten, "what was asked once for a name is in the way for ever")            \
    X(token_counted_per_name, "S12: every name counts its own tokens")                           \
    X(newcomer_overtakes, "S29: who is compatible with the holders enters at once")              \
    X(newcomer_passes_upgrade, "S28: others enter while an upgrade waits")                       \
    X(upgrade_keeps_its_token, "S13: an upgrade takes no new token")                             \
    X(downgrade_to_anything, "S27: a hold may become stronger by a downgrade")                   \
    X(upgrade_of_shared_waits, "S27: two readers that upgrade wait for each other")              \
    X(upgrade_outlives_its_hold, "S27: who releases leaves the upgrade of its hold waiting")     \
    X(upgrade_turns_the_phase, "S31: after an upgrade the turn is the readers'")                 \
    X(overtaken_for_ever, "S29: who was overtaken moves up no class")                            \
    X(preference_ignored, "S31: a preferring policy serves as they came")                        \
    X(batch_of_one, "S31: of the waiting readers only the first enters")                         \
    X(barrier_passed, "S32: who came after a request for all of several names passes it")        \
    X(any_of_waits_on, "S32: who got one of any names keeps its places in the other queues")     \
    X(deadlock_by_holders_only, "S33: only holders are waited for, not those in front")          \
    X(deadlock_without_phases, "S33: a reader waits for every writer in front of it")            \
    X(deadlock_any_stuck_by_one, "S33: who wants any of several names is stuck by one of them")  \
    X(deadlock_seen_by_who_asks, "S33: a circle that a grant closes is not looked for")          \
    X(deadlock_ends_the_oldest, "S33: not who closed the circle is refused")                     \
    X(deadlock_with_the_dead, "S33: what a dead session waits for holds others up")              \
    X(deadlock_missed_at_an_end, "S33: who is in front of others by an end is not looked at")    \
    X(writers_keep_the_turn, "S31: the turn never passes to the readers")                        \
    X(waiter_outlives_session, "S11: the end of a session leaves its places in queues")          \
    X(dead_holder_in_the_way, "S11: what a dead session holds keeps others out until the sweep") \
    X(empty_record_kept, "S37: the record of a name that nobody uses stays")                     \
    X(directory_unsynced, "a file is renamed and its directory not synced")                      \
    X(damage_taken_for_torn_end, "damage within the log is taken for a torn end")                \
    X(witness_not_asked, "a log that lost what was synced is taken as it is")                    \
    X(vote_unsynced_in_witness, "the second place of a vote is not synced")                      \
    X(outbox_unbounded, "what waits for a slow peer has no bound")                               \
    X(frame_of_any_length, "a frame may be as long as it says")                                  \
    X(anybody_at_the_address,                                                                    \
      "whoever answers at an address is taken for the one who lived there")                      \
    X(broken_name_opens_at_once, "S24: nobody waits until the holder's node knows of a break")   \
    X(contention_before_grant_untold, "S24: a new holder is not told of who waited before")      \
    X(renewal_silent_of_broken, "S24: a renewal's result tells nothing of what was broken")      \
    X(holder_extends_broken, "S24: a node extends what a renewal said was broken")               \
    X(break_confirmed_before_told, "S24: a break is confirmed before the hold was dropped")      \
    X(reaper_before_told, "S6: what is lost goes back before its owner was told")                \
    X(broken_by_leader_alone, "S24: the leader's clock alone opens a broken name")               \
    X(broken_hold_writes, "S36: a value is written under a hold that was broken")                \
    X(lost_holder_leaves_no_dirt, "S36: a value is clean though its writer was lost")            \
    X(expired_given_back_cleanly, "S9, S36: what was lost is given back as if by its owner")     \
    X(min_hold_ends_with_release, "S8: whoever gives back early opens the name early")           \
    X(lock_delay_after_release, "S9: a name is closed after a clean release as well")            \
    X(no_lock_delay, "S9: a name is open as soon as its holder is lost")                         \
    X(closure_from_last_renewal, "S8, S9: counted from the session's last renewal")              \
    X(saved_closure_is_over, "S8, S9: what a restart knows of as begun has run out")             \
    X(max_hold_from_the_grant, "S8: counted before its node can know of the hold")               \
    X(max_hold_left_to_the_cluster, "S8: a holder does not end what is over")                    \
    X(mutex_unlocks_by_name, "S22: whoever unlocks frees what another thread locked")            \
    X(gate_mark_after_effect, "S14: the mark is written when the effect is over")                \
    X(gate_effect_unlocked, "S14: others are admitted while an effect is under way")             \
    X(suspended_is_valid, "S6: a suspended hold is valid")                                       \
    X(upgrade_beside_readers, "S27: an upgrade does not wait for the readers")                   \
    X(former_grant_frees_the_next, "S22: what is left of a former grant gives back the next")    \
    X(mutex_recursion_on_lost_hold, "S22: a mutex is locked again though its hold is lost")      \
    X(barrier_passes_upgrade, "S28: a request for all of several names passes an upgrade")       \
    X(barrier_passes_others, "S32: a request for all of several names passes who waits")         \
    X(readers_keep_the_turn, "S31: after a batch the turn stays the readers'")                   \
    X(leaver_wakes_nobody, "S30: who leaves a queue wakes nobody")                               \
    X(intents_ignored, "S26: an intent to write keeps no reader out")                            \
    X(deadlock_without_barriers, "S33: nobody waits for a request for all of several names")     \
    X(deadlock_with_the_broken, "S33: a hold that was broken adds an edge")                      \
    X(break_whatever_token, "S24: a break takes whoever has it now")                             \
    X(break_leaves_lock_delay, "S24: a name that is closed for its lock_delay is not opened")    \
    X(writers_in_a_batch, "S31: a batch of readers takes writers along")                         \
    X(risen_come_last, "S29: who rose to a class comes after those who asked for it")            \
    X(downgraded_when_answered, "S27: until the cluster answered a hold is valid as it was")     \
    X(nested_holds_convert, "S22: one of several holds of a locker is converted")                \
    X(idle_for_ever, "S8: who makes no progress keeps its hold")                                 \
    X(mutexes_without_lockers, "S33: who locks mutexes is in no circle of waits")                \
    X(mark_unsynced, "S14: the mark is not synced before the effect")                            \
    X(max_hold_without_rho, "S8: a max_hold is counted as if its holder's clock went right")     \
    X(expired_session_leaves_cleanly, "S23: what a lost session held was left cleanly")          \
    X(forked_child_goes_on, "S25: the child of a fork takes its handles for its own")            \
    X(access_unchecked, "S50: apply does not look whether a session may do what it asks for")    \
    X(access_not_saved, "S50: the access of a session is not in its row")                        \
    X(prefix_backwards, "S50: a rule allows the names that its prefix begins with")              \
    X(forward_of_anybody, "S50: a leader takes commands of another node's session")              \
    X(access_as_claimed, "S50: a leader takes the access that an opener claims to have")         \
    X(promoted_without_role, "S50: who has no voter's certificate is promoted")

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
