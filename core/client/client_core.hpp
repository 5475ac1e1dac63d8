// A client node, without side effects (S49, docs/decisions/0051): a session with its calls and
// holds, like that of a member, and no copy of the log. It enters the cluster by one member at a
// time. What that member reports takes the place of the log; when it falls silent, has no leader or
// does not get through to one, the client leaves it for another one. The session, the holds and the
// calls stay: the next member begins with the state of the session, not older than what the client
// has received, and the requests that it lacks are sent again.
//
// All of that belongs to one cluster. Another cluster may have the same name and the same members:
// one that was recovered from the first (docs/decisions/0054), or a former one whose directory a
// member still has. As long as the lease lasts the client enters no other cluster. After that it
// does if a leader is known there, and begins anew with another session.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/agent/session_agent.hpp"
#include "core/client/client_message.hpp"
#include "core/client/member_balance.hpp"
#include "core/client/member_choice.hpp"
#include "core/codec/command_codec.hpp"

namespace mortise::core {

struct ClientOptions {
    std::size_t members = 1;  // how many can be dialled
    Nanoseconds election_timeout{std::chrono::seconds{1}};
    std::uint32_t session_ttl_ms = 10'000;
    std::uint32_t clock_rate_bound_ppm = 10'000;
    Nanoseconds call_timeout{std::chrono::seconds{10}};
    std::size_t window = client_requests_max / 2;  // see AgentOptions
    Access access = Access::all();                 // what this client's own certificate allows
    std::uint64_t seed = 0;  // the nonces of sessions are drawn from it: not to be guessed
    Origin origin{};         // what this client says of itself, for people
};

// --- events

struct ClientTimer {};

// Everything that the program requested since the last step.
struct ClientCalls {
    std::vector<Call> calls;
};

// The member that was dialled can be spoken to. It belongs to that cluster.
struct MemberUp {
    MemberConnectionId connection;
    ClusterId cluster;
    std::uint8_t command_format = command_format_oldest;  // the newest one that the member reads
};

// It cannot be reached, or not any more, or broke the protocol.
struct MemberDown {
    MemberConnectionId connection;
};

struct MemberSaid {
    MemberConnectionId connection;
    ClientNotice notice;
};

// So many of ClientEffects::reads have no answer. Reported when there are more or fewer, and when
// the member has said something about one of them.
struct ReadsOpen {
    std::size_t count = 0;
    bool heard = false;
};

// What a look at another member has shown (ClientEffects::look).
struct MembersCompared {
    MemberConnectionId connection;
    std::size_t member = 0;
    MemberLoad own;
    MemberLoad other;
};

using ClientEvent = std::variant<ClientTimer, ClientCalls, MemberUp, MemberDown, MemberSaid,
                                 ReadsOpen, MembersCompared>;

// --- effects, to be executed in this order. What is sent leaves after the holds whose loss it
// reports are marked lost.

struct ClientEffects {
    std::vector<HoldLost> lost;
    std::vector<OperationId> suspended;
    std::optional<LeaseChanged> lease;
    std::vector<CallAnswer> answers;
    std::vector<Contended> contended;
    // Reads of locks that the program may make. Any member can answer them, outside of this class.
    std::vector<InspectCall> reads;
    MemberConnectionId send_to;
    std::vector<ClientMessage> send;  // in this order
    MemberConnectionId hang_up;       // not set: none
    std::string left_because;         // of hang_up, in words
    struct Dial {
        MemberConnectionId connection;
        std::size_t member = 0;  // its place in the list
        ClusterId cluster;       // the member has to belong to it; not set: to any
    };
    std::optional<Dial> dial;  // reported by MemberUp or MemberDown
    // Compare the load of the present member with that of this one; reported by MembersCompared, if
    // the former member is still the present one.
    std::optional<std::size_t> look;
    Instant deadline;  // of the steady clock: when to step again if nothing else happens
};

class ClientCore {
public:
    ClientCore(ClientOptions options, Now now);

    // Throws InvariantBroken if this core has an error: do not use it again.
    ClientEffects step(ClientEvent event, Now now);

    // On the steady clock.
    [[nodiscard]] Instant deadline() const;
    [[nodiscard]] const SessionAgent& agent() const { return agent_; }
    // A member serves this client, and knows a leader.
    [[nodiscard]] bool is_served() const { return stage_ == Stage::served && has_leader_; }
    // A member serves this client, and reports recalls to it.
    [[nodiscard]] bool hears_recalls() const {
        return stage_ == Stage::served && member_format_ >= command_format_of_recalls;
    }
    // Not set while none is connected.
    [[nodiscard]] MemberConnectionId connection() const { return connection_; }
    // Why the newest member that refused this client did so; empty since another one served it.
    [[nodiscard]] const std::string& refused() const { return refused_; }
    // Everything up to here was received.
    [[nodiscard]] ClientPosition position() const { return position_; }
    // To which the session and the position belong; not set until a member has served this client.
    [[nodiscard]] ClusterId cluster() const { return cluster_; }

    // Throws InvariantBroken.
    void check_invariants() const { agent_.check_invariants(); }

private:
    enum class Stage : std::uint8_t {
        apart,
        dialling,
        attaching,  // connected; the member has not reported the state of the session yet
        served,
    };

    // --- events
    void on(ClientTimer event, Now now);
    void on(ClientCalls& event, Now now);
    void on(const MemberUp& event, Now now);
    void on(const MemberDown& event, Now now);
    void on(MemberSaid& event, Now now);
    void on(ReadsOpen event, Now now);
    void on(const MembersCompared& event, Now now);

    // --- calls
    void take(Call& call, Now now);
    void on_call(AcquireCall& call, Now now);
    void on_call(const WatchCall& call, Now now);
    void on_call(PublishCall& call, Now now);
    void on_call(const ReleaseCall& call, Now now);
    void on_call(InspectCall& call, Now now);
    void on_call(const ChangeCall& call, Now now);

    // --- notices
    void take(ClientNotice& notice, Now now);
    [[nodiscard]] bool take_state(const SessionState& state, Now now);
    void take_asked(const Contended& asked);

    // --- the member
    [[nodiscard]] bool is_elsewhere() const;
    void begin_anew(Now now);
    void attach(Now now);
    void leave(Now now, std::string_view why);
    void part(Now now, std::string_view why);
    [[nodiscard]] bool may_move() const;
    void look_around(Now now);
    [[nodiscard]] Nanoseconds patience(int election_timeouts) const;
    [[nodiscard]] std::string_view why_leave(Now now) const;
    void ping_if_silent(Now now);
    void tell(ClientMessage message, Now now);
    [[nodiscard]] Instant member_deadline() const;
    [[nodiscard]] Instant silent_at() const;
    [[nodiscard]] Instant overdue_at() const;

    void send_forwards(std::vector<Forward>& forwards, Now now);
    void collect(Now now);
    void note_cached();
    void recall_cached();
    void forget_hold(OperationId hold);

    ClientOptions options_;
    Prng prng_;
    SessionAgent agent_;
    MemberChoice choice_;
    MemberBalance balance_;

    Stage stage_ = Stage::apart;
    MemberConnectionId connection_;  // set unless apart
    MemberConnectionId newest_connection_;
    std::uint64_t nonce_ = 0;  // of the newest Attach
    bool has_leader_ = false;
    ClusterId member_cluster_;                            // of the member
    std::uint8_t member_format_ = command_format_oldest;  // the newest one that it reads
    ClusterId cluster_;                                   // of the session and the position
    ClientPosition position_;
    std::string refused_;

    // When a member is left: see why_leave().
    Instant heard_at_;
    Instant unheard_since_ = Instant::never();  // something was sent then, and nothing heard since
    Instant pinged_at_{std::numeric_limits<std::int64_t>::min()};
    Instant told_at_;                              // something was sent to the member
    Instant unanswered_since_ = Instant::never();  // requests were sent then, and none answered
    Instant unread_since_ = Instant::never();      // the same of reads
    Instant leaderless_since_ = Instant::never();
    Instant attaching_since_;

    std::size_t reads_open_ = 0;  // as last reported
    std::set<OperationId> watched_;
    std::set<OperationId> cached_;  // grants that may be used again without the cluster
    std::map<OperationId, Contended> asked_early_;  // before their owners wanted to hear
    ClientEffects effects_;
};

}  // namespace mortise::core
