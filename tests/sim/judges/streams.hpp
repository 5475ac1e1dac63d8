// The judge of the streams of requests (S17, docs/decisions/0039), with an account of its own:
//
//   (1) a node sends numbers without a gap: in one message, and from one message to the next. It
//       may go back; and to another leader, or on a new connection, it begins with nothing left
//       out that it has not seen applied. Leaders leave no gap in the log;
//   (2) the requests of a session take effect in the order of their numbers, and none is left out:
//       each that the log has at its turn has an outcome in that entry, and no other one has;
//   (3) each takes effect once: whatever is told of it later is the answer that it was given;
//   (4) nothing takes effect behind the end of its session.
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

    // What a node hands over for a leader; with the sessions as it has applied them.
    void sent(core::NodeId from, core::NodeId to, const core::Forward& forward,
              const core::SessionTable& sessions);
    // A connection with that peer has come up, and takes the place of a former one.
    void connected(core::NodeId node, core::NodeId peer);
    // It has the state of another.
    void state_replaced(core::NodeId node);
    void node_lost(core::NodeId node) { senders_.erase(node); }
    // Told of each node; the first that applies an entry counts.
    void applied(const core::Applied& applied);

private:
    struct Run {  // of requests, in one message
        core::SessionId session;
        core::Seq first;
        core::Seq last;
        std::set<core::Seq> withdrawn;  // nobody there waits for those any more
        bool closes = false;
    };
    // Of a request that its node has sent and not seen applied.
    struct Trail {
        core::NodeId leader;        // it was sent to that one last
        std::uint64_t changes = 0;  // of the leader, since it was sent for the first time
        bool installed = false;     // since it was sent last, its node has installed a state
        bool withdrawn = false;     // as it was sent last
    };
    struct Sender {
        core::SessionId session;
        core::Seq next;  // behind what it sent last
        core::NodeId leader;
        bool reconnected = false;  // to it, since then
        std::map<core::Seq, Trail> trails;
    };
    struct Stream {
        core::Seq read;   // the log has had everything up to here, each at its turn
        core::Seq begun;  // everything up to here has had an outcome
        std::map<core::Seq, core::Answer> answers;
        bool closes = false;
        bool ended = false;
    };
    struct Entry {  // at hand
        std::set<core::SessionId> sessions;
        std::map<core::SessionId, core::Seq> declined;  // by a leader; the first of each
        std::set<core::OperationId> releases;
        std::set<core::OperationId> ahead;  // of their turn
    };

    Run run_in(core::NodeId from, const core::Forward& forward);
    void check_order(core::NodeId from, core::NodeId to, const Run& run, core::Seq applied);
    void follow(Sender& sender, core::NodeId to, const Run& run, core::Seq applied);
    void read(const core::Request& request);
    // By a leader: its node sent it as something else.
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
