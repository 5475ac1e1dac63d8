// Effects of the core: its decisions reach the callers and the holds.
#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "core/base/overloaded.hpp"
#include "embed/config/host_port.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/threads/stage_trace.hpp"
#include "embed/values/duration_buckets.hpp"
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise::detail {

void CoreLoop::state_replaced(core::LogId last) {
    ++program_.counters().states_taken_over;
    const auto index = std::to_string(last.index.raw());
    parts_.log.info("snapshot_installed",
                    "was too far behind: installed the state of another member, up to " + index,
                    {{"index", index}});
}

void CoreLoop::appended(core::LogIndex last) {
    entries_.appended(last, driver_->core().raft().is_leader());
}

// NOLINTNEXTLINE(readability-function-size): a line for each kind of note
void CoreLoop::noted(const core::Note& note) {
    using Kind = core::Note::Kind;
    const auto peer = std::to_string(note.peer.raw());
    switch (note.kind) {
        case Kind::lost_quorum:
            parts_.log.warn("quorum_lost", "lost contact with a majority");
            return;
        case Kind::disk_stalled:
            parts_.log.warn("disk_stalled", "the disk stalls; stopped leading");
            return;
        case Kind::peer_cut_off:
            parts_.log.warn("peer_cut_off",
                            "node " + peer + " is too far behind: the log it needs is gone",
                            {{"peer", peer}});
            return;
        case Kind::transfer_started:
            parts_.log.info("transfer_started", "transfers leadership to node " + peer,
                            {{"peer", peer}});
            return;
        case Kind::transfer_failed:
            parts_.log.warn("transfer_failed", "leadership stays here");
            return;
        case Kind::refused_message:
            parts_.log.warn("message_refused",
                            "refused a message of node " + peer + " (" + std::string{note.message} +
                                "): " + std::string{note.why},
                            {{"peer", peer}, {"message", note.message}, {"reason", note.why}});
            return;
        case Kind::unheard_message:
            parts_.log.debug("message_unheard",
                             "refused a message of node " + peer + " (" +
                                 std::string{note.message} + "): " + std::string{note.why},
                             {{"peer", peer}, {"message", note.message}, {"reason", note.why}});
            return;
        case Kind::refused_chunk:
            parts_.log.warn(
                "snapshot_failed",
                "the transfer of a snapshot with node " + peer + " failed: it starts again",
                {{"peer", peer}});
            return;
        case Kind::own_life_doubted:
            parts_.log.error(
                "directory_doubted",
                "node " + peer +
                    " says that this data directory was rolled back, or is a copy: "
                    "until the cluster has opened a session for it, it takes no part in "
                    "elections; it gives the directory up if another member says so too",
                {{"peer", peer}});
            return;
        case Kind::senseless_entry:
            parts_.log.error(
                "entry_skipped",
                "an entry of the log has invalid commands: it was skipped, as on all members");
            return;
        case Kind::false_leader:
            parts_.log.error("false_leader",
                             "node " + peer +
                                 " claims to lead, and a majority did not vote for it: it is not "
                                 "followed",
                             {{"peer", peer}});
            return;
        case Kind::distant_term:
            parts_.log.warn("distant_term",
                            "node " + peer +
                                " says a term that no election can have reached: the term rises "
                                "towards it in steps",
                            {{"peer", peer}});
            return;
        case Kind::terms_used_up:
            parts_.log.error("terms_used_up",
                             "the last possible term was used: no leader can be elected any more; "
                             "`mortise recover` begins the terms anew");
            return;
        case Kind::may_have_forgotten:
            parts_.log.warn(
                "may_have_forgotten",
                "the machine was started anew, and the newest entries of the log may be "
                "lost: this node gives no vote until it has recovered from a leader");
            return;
        case Kind::recovered:
            parts_.log.info(
                "recovered",
                "this node has everything again that it may have lost with its machine");
            return;
        case Kind::era_begun:
            parts_.log.warn("era_begun",
                            "the machines of a majority lost power: all sessions end, and none "
                            "opens until their leases are over");
            return;
        case Kind::peer_forgot:
            parts_.log.error(
                "peer_forgot",
                "node " + peer + " has lost what it acknowledged, or is a copy: it is not counted",
                {{"peer", peer}});
            return;
        case Kind::peer_counts_again:
            parts_.log.info("peer_counts_again",
                            "node " + peer + " has received what it had lost: it is counted again",
                            {{"peer", peer}});
            return;
        case Kind::refused_state:
            parts_.log.error("snapshot_refused",
                             "cannot read the snapshot that node " + peer +
                                 " sends: damaged, or of a newer version than this",
                             {{"peer", peer}});
            return;
        case Kind::became_candidate: ++program_.counters().elections_started; return;
        case Kind::state_sent: ++program_.counters().snapshots_sent; return;
        case Kind::formed: return membership_.formed();
        case Kind::configuration_changed:
            return membership_.changed(driver_->core().raft().configuration());
        case Kind::removed:
            parts_.log.warn("removed", "this node is not a member of its cluster any more");
            parts_.events.publish({.kind = NodeEvent::Kind::removed});
            return;
        default: return;  // the leader reports it
    }
}

// --- leases and holds --------------------------------------------------------------------------

void CoreLoop::lost(const core::HoldLost& lost) {
    program_.holds().lost(lost);
}

void CoreLoop::lease_changed(const core::LeaseChanged& lease) {
    auto releases = program_.holds().lease_changed(lease);
    if (!releases.calls.empty()) step(std::move(releases));
}

// --- answers -----------------------------------------------------------------------------------

void CoreLoop::answered(std::vector<core::CallAnswer> answers) {
    const Notifier::Burst burst{parts_.gate->notifier()};
    for (auto& answer : answers) {
        if (!closing_.is_answer(answer.tag)) {
            program_.answered(answer);
            continue;
        }
        asio::post(parts_.io, [this] {
            if (!ended_) hand_over_leadership();
        });
    }
}

}  // namespace mortise::detail
