// A client node whose members a test plays: they answer what a member would, or what the test wants
// them to. A message and its answer take a millisecond.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/overloaded.hpp"
#include "core/client/client_core.hpp"
#include "core/locks/rows/session_row.hpp"
#include "core/node/decoded_forward.hpp"

namespace mortise::core::test {

using namespace std::chrono_literals;

// What all members of a cluster have applied. A request is applied and answered at once.
struct PlayedCluster {
    struct Opened {
        SessionId id;
        OpenSession by;
        Seq applied{};
    };

    explicit PlayedCluster(std::uint64_t number, LogIndex from = LogIndex{100})
        : id{number, 1}, applied{from} {}

    Opened* find(SessionId session) {
        const auto found = std::ranges::find(sessions, session, &Opened::id);
        return found == sessions.end() ? nullptr : &*found;
    }
    void open(const OpenSession& request) {
        newest = newest.next();
        sessions.push_back({newest, request});
        sessions.back().by.access = Access::all();  // as the member writes it
    }

    [[nodiscard]] ClientPosition position() const { return {applied, eras}; }
    // All sessions end, and so many entries are lost.
    void begin_era(std::uint64_t lost) {
        sessions.clear();
        ++eras;
        applied = LogIndex{applied.raw() - lost};
    }

    ClusterId id;
    LogIndex applied;
    std::uint64_t eras = 0;
    bool has_leader = true;
    bool is_full = false;      // every opening is refused
    bool grants = true;        // false: a request waits
    std::size_t openings = 0;  // that were sent to it
    std::vector<Opened> sessions;
    SessionId newest;
};

struct PlayedMember {
    PlayedCluster* cluster = nullptr;
    bool is_reachable = true;
    bool drops_forwards = false;  // it answers nevertheless
    bool hangs_up = false;        // when it gets a forward
    std::size_t pings = 0;        // that it got
    bool is_new = false;          // its hello names no cluster: it joins one later
    MemberLoad load{};            // as it says when it is looked at
};

class ClientOfPlayedMembers {
public:
    ClientOfPlayedMembers(ClientOptions options, std::vector<PlayedMember> played)
        : members{std::move(played)}, core_{options, now} {
        step(ClientTimer{});
    }

    void step(ClientEvent event) {
        auto effects = core_.step(std::move(event), now);
        core_.check_invariants();
        std::ranges::move(effects.lost, std::back_inserter(lost));
        std::ranges::move(effects.answers, std::back_inserter(answers));
        for (auto& message : effects.send)
            said_.emplace_back(effects.send_to, std::move(message));
        if (effects.hang_up.is_set()) connection_ = {};
        if (effects.dial) dials_.push_back(*effects.dial);
        if (effects.look) looks_.push_back({connection_, *effects.look, {}, {}});
    }
    void call(Call one) {
        ClientCalls calls;
        calls.calls.push_back(std::move(one));
        step(std::move(calls));
    }
    void acquire(std::uint64_t tag, std::string name) {
        AcquireCall acquire;
        acquire.tag = CallTag{tag};
        acquire.request.names.push_back({std::move(name)});
        call(std::move(acquire));
    }
    void run_for(Nanoseconds time) {
        for (Nanoseconds passed{0}; passed < time; passed += 1ms) {
            deliver();
            now = {now.steady + 1ms, now.boot + 1ms};
            if (core_.deadline() <= now.steady) step(ClientTimer{});
        }
    }
    // It is connected no longer, and notices.
    void lose_member() {
        const auto connection = std::exchange(connection_, {});
        step(MemberDown{connection});
    }

    [[nodiscard]] const ClientCore& core() const { return core_; }
    [[nodiscard]] std::size_t member() const { return member_; }
    [[nodiscard]] std::optional<OperationId> granted(std::uint64_t tag) const {
        for (const auto& answer : answers) {
            const auto* acquired = std::get_if<Acquired>(&answer.result);
            if (answer.tag == CallTag{tag} && acquired != nullptr) return acquired->hold;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<CallError> error_of(std::uint64_t tag) const {
        for (const auto& answer : answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (answer.tag == CallTag{tag} && error != nullptr) return *error;
        }
        return std::nullopt;
    }

    std::vector<PlayedMember> members;
    Now now{Instant{1'000'000'000}, Instant{2'000'000'000}};
    std::vector<HoldLost> lost;
    std::vector<CallAnswer> answers;
    std::size_t dialled = 0;
    std::size_t looked = 0;
    std::size_t attached_twice = 0;  // on a connection that had shown a session

private:
    void deliver() {
        for (auto& [to, message] : std::exchange(said_, {})) {
            if (to != connection_ || !members.at(member_).is_reachable) continue;
            if (members.at(member_).hangs_up && std::holds_alternative<Forward>(message)) {
                lose_member();
                continue;
            }
            for (auto& notice : answers_to(members.at(member_), message))
                step(MemberSaid{to, std::move(notice)});
        }
        for (auto& look : std::exchange(looks_, {})) {
            ++looked;
            look.own = members.at(member_).load;
            look.other = members.at(look.member).load;
            step(look);
        }
        for (const auto& dial : std::exchange(dials_, {}))
            connect(dial);
    }
    // A played member refuses a client that names another cluster, as a real one does.
    void connect(const ClientEffects::Dial& dial) {
        ++dialled;
        const auto& its = members.at(dial.member);
        const bool fits = !dial.cluster.is_set() || dial.cluster == its.cluster->id;
        if (!its.is_reachable || !fits) return step(MemberDown{dial.connection});
        connection_ = dial.connection;
        shown_session_ = false;
        member_ = dial.member;
        step(MemberUp{dial.connection, its.is_new ? ClusterId{} : its.cluster->id});
    }
    std::vector<ClientNotice> answers_to(PlayedMember& member, const ClientMessage& message) {
        std::vector<ClientNotice> notices;
        std::visit(Overloaded{[&](const Attach& one) {
                                  if (shown_session_) ++attached_twice;
                                  attach(*member.cluster, one, notices);
                                  shown_session_ =
                                      !notices.empty() && notices.back().state->session.is_set();
                              },
                              [&](const Forward& one) { forward(member, one, notices); },
                              [](const WatchHold&) {},
                              [&](const Ping&) {
                                  ++member.pings;
                                  notices.emplace_back().applied = member.cluster->position();
                              }},
                   message);
        return notices;
    }
    static void attach(PlayedCluster& cluster, const Attach& asked,
                       std::vector<ClientNotice>& notices) {
        if (asked.position > cluster.position()) return;  // it waits until it has caught up
        SessionState state{asked.nonce};
        for (const auto& one : cluster.sessions) {
            if (one.by.nonce != asked.nonce) continue;
            Session session;
            session.id = one.id;
            session.opened = one.by;
            session.renewed_at = LogIndex{1};
            session.applied = one.applied;
            state.session = one.id;
            state.row = encode_session(session);
        }
        auto& notice = notices.emplace_back();
        notice.applied = cluster.position();
        notice.state = std::move(state);
        notice.has_leader = cluster.has_leader;
    }
    static void forward(PlayedMember& member, const Forward& message,
                        std::vector<ClientNotice>& notices) {
        auto& cluster = *member.cluster;
        const auto decoded = decode(message, command_format_newest);
        if (decoded.is_malformed) throw std::runtime_error{"the client sent nonsense"};
        if (member.drops_forwards || !cluster.has_leader) return;
        for (const auto& command : decoded.commands) {
            if (const auto* opening = std::get_if<OpenSession>(&command))
                tell(cluster, opened(cluster, *opening), notices);
            const auto* request = std::get_if<Request>(&command);
            auto* session = request != nullptr ? cluster.find(request->session) : nullptr;
            if (session == nullptr || request->seq != session->applied.next()) continue;
            session->applied = request->seq;
            tell(cluster, answer(cluster, *request), notices);
        }
        if (!decoded.renewal) return;
        const auto [session, number] = *decoded.renewal;
        tell(cluster,
             cluster.find(session) != nullptr ? Outcome{SessionRenewed{session, number, {}}}
                                              : Outcome{RenewalLost{session}},
             notices);
    }
    static Outcome opened(PlayedCluster& cluster, const OpenSession& opening) {
        ++cluster.openings;
        if (cluster.is_full) return OpenRefused{opening.nonce, OpenRefusal::table_full};
        cluster.open(opening);
        return SessionOpened{cluster.newest, opening.nonce};
    }
    static Outcome answer(const PlayedCluster& cluster, const Request& request) {
        const OperationId operation{request.session, request.seq};
        if (!std::holds_alternative<Acquire>(request.body))
            return Answered{operation, {AnswerKind::released, {}, {}}};
        if (!cluster.grants) return Queued{operation};
        return Answered{operation, {AnswerKind::granted, FencingToken{request.seq.raw()}, {}}};
    }
    static void tell(PlayedCluster& cluster, Outcome outcome, std::vector<ClientNotice>& notices) {
        cluster.applied = cluster.applied.next();
        auto& notice = notices.emplace_back();
        notice.applied = cluster.position();
        notice.outcomes.push_back({cluster.applied, std::move(outcome)});
    }

    ClientCore core_;
    std::vector<std::pair<MemberConnectionId, ClientMessage>> said_;
    std::vector<ClientEffects::Dial> dials_;
    std::vector<MembersCompared> looks_;
    MemberConnectionId connection_;
    std::size_t member_ = 0;
    bool shown_session_ = false;  // the state that the present connection began with has one
};

}  // namespace mortise::core::test
