// What a leader takes from the streams of all sessions (docs/decisions/0039): it checks whose each
// Forward is and whether it follows what came before, and passes it on to the proposer. It keeps
// for a while what it cannot judge yet, and asks later for what it has no capacity for. It is the
// second of the three places that check the rights of certificates (S50, docs/decisions/0031).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/locks/limits.hpp"
#include "core/node/decoded_forward.hpp"
#include "core/node/message.hpp"
#include "core/node/patient_requests.hpp"
#include "core/node/peers.hpp"
#include "core/node/proposer.hpp"
#include "core/node/session_members.hpp"
#include "core/node/state_saver.hpp"
#include "core/node/stream_positions.hpp"

namespace mortise::core {

class ForwardIntake {
public:
    ForwardIntake(const NodeOptions& options, const Raft& raft, const LockMachine& machine,
                  const Peers& peers, const StateSaver& saver)
        : options_{options},
          raft_{raft},
          machine_{machine},
          peers_{peers},
          saver_{saver},
          patient_{machine} {}

    // What was taken and waits to be proposed. The leader adds its own commands.
    [[nodiscard]] Proposer& proposer() { return proposer_; }
    [[nodiscard]] PatientRequests& patient() { return patient_; }

    // A node, which may be this one, forwarded it. No effect if this node does not lead.
    void take(NodeId from, const Forward& forward);
    // Takes what it kept, if it can judge it now.
    void take_early_forwards();
    // Asks for what it did not take, if there is capacity now.
    void ask_for_held_up();

    void gone(NodeId peer) { early_forwards_.erase(peer); }
    // That renewal was applied.
    void renewed(const SessionRenewed& renewal) {
        proposer_.renewal_applied(renewal.session, renewal.number);
    }
    // No renewal of it counts any more.
    void evicted(SessionId session) { proposer_.renewal_applied(session, last_renewal); }
    void ended(SessionId session);
    // By which members the sessions of clients enter the cluster.
    [[nodiscard]] const SessionMembers& session_members() const { return members_; }
    // Leadership began or ended.
    void clear();

    // What is to be told since the last call.
    struct Output {
        struct Gap {
            NodeId to;  // may be this node
            StreamGap gap;
        };
        std::vector<Gap> gaps;
        std::vector<Note> notes;
        std::uint64_t refused = 0;  // messages
    };
    [[nodiscard]] Output collect() { return std::exchange(out_, {}); }

private:
    // The owner of the sessions that a peer uses. `unknown`: a session was opened in an entry that
    // is not applied here yet, or it never was.
    enum class Owner : std::uint8_t { sender, unknown, somebody_else };
    [[nodiscard]] Owner owner_of(SessionId session, NodeId sender) const;
    [[nodiscard]] Owner owner_of(const Command& command, NodeId sender) const;
    [[nodiscard]] Owner owner_of(const DecodedForward& decoded, NodeId sender) const;
    [[nodiscard]] bool opens_for_itself(const OpenSession& opening, NodeId sender) const;
    [[nodiscard]] const Access* access_of(NodeId node) const;
    void refuse_forward(NodeId from);
    void keep_early(NodeId from, const Forward& forward);
    void note_member(NodeId from, const DecodedForward& decoded);

    void take_requests(NodeId from, DecodedForward decoded);
    void take_renewal(const Renewal& renewal);
    [[nodiscard]] Seq next_of(const Session& session) const;
    [[nodiscard]] Seq next_to_take(NodeId from, const DecodedForward& decoded);
    [[nodiscard]] bool is_ahead_of_the_log(const DecodedForward& decoded) const;
    [[nodiscard]] bool has_capacity() const;
    [[nodiscard]] bool takes_acquires(SessionId turn) const;
    void hold_up(NodeId from, const DecodedForward& decoded);
    void queue(const DecodedForward& decoded, SessionId turn);

    const NodeOptions& options_;
    const Raft& raft_;
    const LockMachine& machine_;
    const Peers& peers_;
    const StateSaver& saver_;
    Proposer proposer_;
    PatientRequests patient_;  // those in the proposer, unless it is urgent
    StreamPositions streams_;
    SessionMembers members_;
    std::map<NodeId, std::vector<Forward>> early_forwards_;  // a few of each peer
    SessionId newest_when_early_{};     // the newest session when the first of them came
    bool knew_log_when_early_ = false;  // whether all of earlier leaders was applied then
    Output out_;
};

}  // namespace mortise::core
