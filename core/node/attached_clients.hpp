// The client nodes that enter the cluster by this member (S49, docs/decisions/0051). It checks what
// they ask for, passes it on to the leader, and reports to each what was applied of its session:
// first the state of the session, then its outcomes in order. A member that is behind what a client
// has seen reports nothing to it until it has applied that much.
//
// A client that changes the member says nothing to the former one, so a session belongs to the
// connection that named its nonce last. The former one is closed: if messages of an abandoned
// connection arrive late, the client learns at once that its present one has no session any more.
//
// A client is served if it has a place (client_places.hpp), which it asks for by its Attach.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/client/client_message.hpp"
#include "core/node/client_flow.hpp"
#include "core/node/client_places.hpp"
#include "core/node/contention_watch.hpp"
#include "core/node/event.hpp"
#include "core/node/message.hpp"
#include "core/node/node_options.hpp"
#include "core/node/watched_holds.hpp"

namespace mortise::core {

struct DecodedForward;

class AttachedClients {
public:
    AttachedClients(const NodeOptions& options, const LockMachine& machine,
                    ContentionWatch& contentions)
        : options_{options},
          machine_{machine},
          contentions_{contentions},
          places_{options.client_places} {}

    // --- events

    void said(const ClientSaid& said, Instant now);
    // The connection has ended.
    void gone(ClientId client);
    // An outcome of any session, applied at `index`. Called in order.
    void on_outcome(const Outcome& outcome, LogIndex index);
    void on_gap(const StreamGap& gap);
    // Called on every change of the leader, and on a new connection to it.
    void on_leader(bool known);
    // Outcomes were skipped, because the state was replaced.
    void on_state_replaced();
    // Reports the states of sessions, to clients for which this member has applied enough.
    void tell_states(ClientPosition applied);
    // Takes out the holds of clients, and reports them to their clients.
    void take_theirs(std::vector<Contended>& contended);

    // --- what is to be sent

    // To the leader, in this order.
    [[nodiscard]] std::vector<Forward> take_forwards() { return std::exchange(forwards_, {}); }
    struct Notices {
        std::vector<std::pair<ClientId, ClientNotice>> notices;
        // Clients that said what no client says: their connections are to be closed.
        std::vector<ClientId> unfit;
        // Their sessions are used over other connections now: theirs are to be closed.
        std::vector<ClientId> replaced;
        std::vector<ClientFlow::Change> flow;
    };
    // At the end of a step, in which everything up to `applied` was applied.
    [[nodiscard]] Notices collect(ClientPosition applied);
    // More states could have been told than fit into one step.
    [[nodiscard]] bool has_more() const { return has_more_; }

    [[nodiscard]] std::size_t size() const { return clients_.size(); }
    [[nodiscard]] const ClientPlaces& places() const { return places_; }
    [[nodiscard]] bool has(SessionId session) const { return by_session_.contains(session); }

private:
    struct Client {
        // Zero: it has not said yet whose session it uses, or was told that this one is no more.
        std::uint64_t nonce = 0;
        ClientPosition position;  // as in Attach
        bool is_served = false;   // the state of its session was reported
        bool is_opening = false;  // it was served, and asked to open its session
        bool is_refused = false;  // it was told so, and goes to another member
        bool is_closing = false;  // its connection is to be closed: it is not listened to
        SessionId session;        // not set: there is none under that nonce, or it is not served
        WatchedHolds watched;
        LogIndex received;                   // the newest that it acknowledged
        std::unique_ptr<ClientNotice> next;  // to be sent with this step
    };
    using Clients = std::map<ClientId, Client>;

    // How a message came.
    struct Way {
        const Access& access;
        const std::string& certificate;
        const std::string& address;
        Instant now;
    };
    void take(Clients::iterator client, const Attach& message, const Way& way);
    void take(Clients::iterator client, const Forward& message, const Way& way);
    void take(Clients::iterator client, const WatchHold& message, const Way& way);
    void take(Clients::iterator client, const Ping& message, const Way& way);
    // Null if it has none, or the session has ended.
    [[nodiscard]] const Session* session_of(const Client& client) const;
    void note_received(Client& client, const DecodedForward& decoded);
    // The client asks for more than it may before it is told what became of the rest.
    [[nodiscard]] bool has_too_many(const Client& client, const DecodedForward& decoded) const;
    void close(Clients::iterator client, std::vector<ClientId>& why);
    void take_over(ClientId from);
    void forget_nonce(Client& client);
    [[nodiscard]] std::string why_refused(const Access& access) const;
    [[nodiscard]] std::string why_no_place(ClientId client, std::uint64_t nonce, const Way& way);
    [[nodiscard]] ClientStake stake_in(std::uint64_t nonce) const;
    void refuse(Clients::iterator client, std::string why);
    [[nodiscard]] ClientNotice& notice_of(Clients::iterator client);
    // Null if the session is not that of a served client.
    [[nodiscard]] ClientNotice* notice_of(SessionId session);
    template <class AnyOutcome>
    void report(SessionId session, const AnyOutcome& outcome, LogIndex at);
    void on_refused(const OpenRefused& refused, LogIndex at);
    void on_opened(const SessionOpened& opened, LogIndex at);
    void on_ended(SessionId session);
    void on_queued(OperationId request);
    void on_broken(const LockBroken& broken, LogIndex at);
    void on_evicted(SessionId session, LogIndex at);
    void on_asked(const ReleaseAsked& asked);
    void wait_for_state(Clients::iterator client);
    // Returns what that costs, in bytes.
    std::size_t serve(Clients::iterator client, ClientPosition applied);
    void watch_cached(Client& client, const Session& session);
    void on_answered(const Answered& answered);
    void on_renewed(SessionId session);
    [[nodiscard]] SessionState state_of(const Client& client) const;

    const NodeOptions& options_;
    const LockMachine& machine_;
    ContentionWatch& contentions_;
    ClientPlaces places_;
    Clients clients_;
    std::map<std::uint64_t, ClientId> by_nonce_;
    std::map<SessionId, ClientId> by_session_;  // of served clients
    std::set<ClientId> waiting_;                // for the state of their sessions
    std::set<ClientId> told_;                   // have a notice to be sent
    std::vector<ClientId> unfit_;
    std::vector<ClientId> replaced_;
    ClientFlow flow_;
    std::vector<Forward> forwards_;
    bool has_leader_ = false;
    bool has_more_ = false;
};

}  // namespace mortise::core
