// A client node that a test drives by hand, beside the members of node_fixture.hpp. Messages take
// no time; a member that was made silent gets and says nothing more.
#pragma once

#include <set>

#include "core/client/client_codec.hpp"
#include "core/client/client_core.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {

class HandDrivenClient {
public:
    explicit HandDrivenClient(NodeCluster& cluster, ClientOptions options = default_options())
        : cluster_{cluster}, core_{options, at()} {
        for (auto& [id, node] : cluster)
            members_.push_back(id);
    }
    static ClientOptions default_options() {
        ClientOptions options;
        options.members = 3;
        options.election_timeout = election_timeout;
        options.seed = 4'711;
        return options;
    }

    void step(ClientEvent event) {
        auto effects = core_.step(std::move(event), at());
        core_.check_invariants();
        std::ranges::move(effects.lost, std::back_inserter(lost));
        std::ranges::move(effects.answers, std::back_inserter(answers));
        std::ranges::move(effects.contended, std::back_inserter(contended));
        std::ranges::move(effects.reads, std::back_inserter(reads));
        for (auto& message : effects.send)
            said.push_back(decode_client_message(encode(message)).value());
        deliver();
        if (effects.hang_up.is_set()) {
            left_because.push_back(effects.left_because);
            hang_up();
        }
        if (effects.dial) dial(*effects.dial);
    }
    void call(Call one) {
        ClientCalls calls;
        calls.calls.push_back(std::move(one));
        step(std::move(calls));
    }
    void acquire(std::uint64_t tag, std::string name, bool wait = true) {
        AcquireCall acquire;
        acquire.tag = CallTag{tag};
        acquire.request.names.push_back({std::move(name)});
        acquire.request.wait = wait;
        call(std::move(acquire));
    }
    // Asks for a cached grant.
    void acquire_cached(std::uint64_t tag, std::string name) {
        AcquireCall acquire;
        acquire.tag = CallTag{tag};
        acquire.request.names.push_back({std::move(name)});
        acquire.request.cached_tokens = 8;
        call(std::move(acquire));
    }
    // Members and client together.
    void run_for(Nanoseconds time) {
        constexpr Nanoseconds step_length = 1ms;
        settle();
        for (Nanoseconds passed{0}; passed < time; passed += step_length) {
            cluster_.run_for(step_length);
            settle();
            if (core_.deadline() <= at().steady) step(ClientTimer{});
            settle();
        }
    }
    // The connection breaks, and the client notices. What it has sent was delivered.
    void lose_member() {
        const auto connection = to_member_;
        hang_up();
        step(MemberDown{connection});
    }
    void silence(NodeId member) { silent_.insert(member); }
    void unsilence(NodeId member) { silent_.erase(member); }
    // It can be connected with these only.
    void reach_only(std::set<NodeId> members) { reachable_ = std::move(members); }

    // Set while it is connected.
    [[nodiscard]] NodeId member() const { return member_; }
    [[nodiscard]] ClientId connection() const { return connection_; }
    [[nodiscard]] const ClientCore& core() const { return core_; }
    [[nodiscard]] Now at() {
        const auto now = cluster_.begin()->second.now;
        return {now, now};
    }
    [[nodiscard]] SessionId session() const { return core_.agent().open_session().value(); }
    template <class Result>
    [[nodiscard]] bool was_answered(std::uint64_t tag) const {
        return std::ranges::any_of(answers, [&](const CallAnswer& answer) {
            return answer.tag == CallTag{tag} && std::holds_alternative<Result>(answer.result);
        });
    }
    [[nodiscard]] OperationId granted(std::uint64_t tag) const {
        const auto found = std::ranges::find_if(answers, [&](const CallAnswer& answer) {
            return answer.tag == CallTag{tag} && std::holds_alternative<Acquired>(answer.result);
        });
        if (found == answers.end()) throw std::runtime_error{"it was not granted"};
        return std::get<Acquired>(found->result).hold;
    }
    [[nodiscard]] std::optional<CallError> error_of(std::uint64_t tag) const {
        for (const auto& answer : answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (answer.tag == CallTag{tag} && error != nullptr) return *error;
        }
        return std::nullopt;
    }

    std::vector<HoldLost> lost;
    std::vector<CallAnswer> answers;
    std::vector<Contended> contended;
    std::size_t contended_with_state = 0;  // in the newest notice that had a state
    std::vector<InspectCall> reads;
    std::vector<std::string> left_because;
    std::vector<ClientMessage> said;                     // not delivered yet
    Access access = Access::all();                       // of its certificate, as members see it
    std::string address{};                               // likewise, of its connection
    std::uint8_t member_format = command_format_newest;  // what members say at most that they read

private:
    void dial(const ClientEffects::Dial& dial) {
        const auto member = members_.at(dial.member);
        const bool can = reachable_.empty() || reachable_.contains(member);
        if (!can || silent_.contains(member)) return step(MemberDown{dial.connection});
        to_member_ = dial.connection;
        member_ = member;
        connection_ = ClientId{++connections_};
        const auto hello = cluster_[member].hello();
        step(MemberUp{dial.connection, hello.cluster,
                      std::min(hello.command_format, member_format)});
    }
    void hang_up() {
        if (!connection_.is_set()) return;
        if (!silent_.contains(member_)) cluster_[member_].step(ClientGone{connection_});
        connection_ = {};
        member_ = {};
        said.clear();
    }
    void deliver() {
        for (auto& message : std::exchange(said, {})) {
            if (!connection_.is_set() || silent_.contains(member_)) continue;
            cluster_[member_].step(
                ClientSaid{connection_, {std::move(message)}, access, {}, address});
        }
    }
    void settle() {
        for (bool busy = true; busy;) {
            busy = false;
            cluster_.settle();
            for (auto& [id, node] : cluster_) {
                for (auto& [client, notice] : std::exchange(node.notices, {})) {
                    if (client != connection_ || silent_.contains(id)) continue;
                    busy = true;
                    if (notice.state) contended_with_state = notice.contended.size();
                    step(MemberSaid{to_member_, decode_client_notice(encode(notice)).value()});
                }
            }
        }
    }

    inline static std::uint64_t connections_ = 0;
    NodeCluster& cluster_;
    ClientCore core_;
    std::vector<NodeId> members_;
    std::set<NodeId> silent_;
    std::set<NodeId> reachable_;
    MemberConnectionId to_member_;
    NodeId member_;
    ClientId connection_;
};

}  // namespace mortise::core::test
