// The judge of the streams of requests (S17, docs/decisions/0039), with its own account:
//
//   (1) a node sends numbers without a gap: within a message, and from one message to the next. It
//       may go back. To another leader, or on a new connection, it begins no later than with the
//       first request that it has not seen applied. Leaders leave no gap in the log;
//   (2) the requests of a session take effect in the order of their numbers, and none is left out:
//       each that the log has at its turn has an outcome in that entry, and no other request has;
//   (3) each takes effect once: a later answer to it equals the first one;
//   (4) none takes effect after the end of its session.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "core/agent/forward.hpp"
#include "core/locks/table/session_table.hpp"
#include "core/node/effects.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class Streams {
public:
    // `window` is core::NodeOptions::window of all nodes.
    Streams(Violations& violations, Tally& tally, std::size_t window)
        : violations_{violations}, tally_{tally}, window_{window} {}

    // A message to a leader, and the sessions as its node has applied them.
    void sent(core::NodeId from, core::NodeId to, const core::Forward& forward,
              const core::SessionTable& sessions);
    // A connection with that peer has come up, and replaces a former one.
    void connected(core::NodeId node, core::NodeId peer);
    // The node has installed a snapshot.
    void state_replaced(core::NodeId node);
    void node_lost(core::NodeId node) { senders_.erase(node); }
    // Called for each node; the first one that applies an entry counts.
    void applied(const core::Applied& applied);

private:
    struct Run {  // requests in one message
        core::SessionId session;
        core::Seq first;
        core::Seq last;
        std::set<core::Seq> withdrawn;  // requests whose callers have given up
        bool closes = false;
    };
    // A request that its node has sent and not seen applied.
    struct Trail {
        core::NodeId leader;        // the last receiver
        std::uint64_t changes = 0;  // of the leader, since the request was first sent
        bool installed = false;     // its node has installed a snapshot since the last attempt
        bool withdrawn = false;     // at the last attempt
    };
    struct Sender {
        core::SessionId session;
        core::Seq next;  // after the last request that it sent
        core::NodeId leader;
        bool reconnected = false;  // to that leader, since then
        std::map<core::Seq, Trail> trails;
    };
    struct Stream {
        core::Seq read;   // the log has had everything up to here, each at its turn
        core::Seq begun;  // everything up to here has had an outcome
        std::map<core::Seq, core::Answer> answers;
        bool closes = false;
        bool ended = false;
    };
    struct Entry {  // the current entry
        std::set<core::SessionId> sessions;
        // by a leader; the first one of each session
        std::map<core::SessionId, core::Seq> declined;
        std::set<core::OperationId> releases;
        std::set<core::OperationId> ahead;  // ahead of their turn
    };

    Run run_in(core::NodeId from, const core::Forward& forward);
    void check_order(core::NodeId from, core::NodeId to, const Run& run, core::Seq applied);
    void follow(Sender& sender, core::NodeId to, const Run& run, core::Seq applied);
    void read(const core::Request& request);
    // Declined by a leader: its node sent another request.
    [[nodiscard]] bool was_declined(const core::Request& request) const;
    void on(const core::Outcome& outcome);
    void on_begun(core::OperationId operation);
    void on_answered(core::OperationId operation, const core::Answer& answer);
    void on_ended(const core::SessionEnded& ended);
    void probe_release(core::OperationId operation, core::AnswerKind kind);
    void check_entry();
    void report(core::NodeId node, const std::string& what) {
        violations_.report(node, "stream: " + what);
    }

    Violations& violations_;
    Tally& tally_;
    std::size_t window_;
    std::map<core::NodeId, Sender> senders_;
    std::map<core::SessionId, Stream> streams_;
    core::LogIndex last_;
    Entry entry_;
};

}  // namespace mortise::sim
