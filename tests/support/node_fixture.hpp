// Whole nodes that a test drives by hand: raft_fixture.hpp with bootstrap and generations.
#pragma once

#include <functional>

#include "core/codec/command_codec.hpp"
#include "core/node/node_core.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {

// As configured: without incarnations, which are not known yet.
inline std::vector<Member> configured(std::initializer_list<std::uint64_t> ids) {
    auto list = members(ids);
    for (auto& each : list)
        each.incarnation = {};
    return list;
}

inline NodeOptions node_options(std::uint64_t id, std::initializer_list<std::uint64_t> voters) {
    NodeOptions options;
    options.self = NodeId{id};
    options.generation.incarnation = member(id).incarnation;
    options.generation.boot_epoch = BootEpoch{1};
    options.voters = configured(voters);
    options.election_timeout = election_timeout;
    options.heartbeat = heartbeat;
    options.seed = id;
    return options;
}

// One node, its disk and its clock. Its messages stay in `sent` until a test takes them.
class HandDrivenNode {
public:
    HandDrivenNode(std::uint64_t id, std::initializer_list<std::uint64_t> voters)
        : HandDrivenNode{node_options(id, voters), RaftState{}} {}
    HandDrivenNode(NodeOptions options, const RaftState& state)
        : options_{std::move(options)},
          disk_{state.hard_state, state.base, state.entries, state.applied, state.configuration},
          core_{std::make_unique<NodeCore>(options_, NodeState{state, {}, {}}, Now{now, now})} {}
    HandDrivenNode(NodeOptions options, NodeState state)
        : options_{std::move(options)},
          disk_{state.raft.hard_state, state.raft.base, state.raft.entries, state.raft.applied,
                state.raft.configuration},
          core_{std::make_unique<NodeCore>(options_, std::move(state), Now{now, now})} {}

    void step(Event event) {
        auto effects = core_->step(std::move(event), {now, now});
        if (effects.peers) peers = std::move(*effects.peers);
        if (effects.write) writes.push_back(std::move(*effects.write));
        std::ranges::move(effects.send, std::back_inserter(sent));
        std::ranges::move(effects.applied, std::back_inserter(applied));
        std::ranges::move(effects.answers, std::back_inserter(answers));
        std::ranges::move(effects.notes, std::back_inserter(notes));
        std::ranges::move(effects.contended, std::back_inserter(contended));
        std::ranges::move(effects.save_state, std::back_inserter(deltas));
        std::ranges::move(effects.install, std::back_inserter(installs));
        if (effects.save_countdowns) countdowns = std::move(*effects.save_countdowns);
        std::ranges::move(effects.disconnect, std::back_inserter(disconnected));
        std::ranges::move(effects.notices, std::back_inserter(notices));
        std::ranges::move(effects.unfit_clients, std::back_inserter(unfit_clients));
        std::ranges::move(effects.replaced_clients, std::back_inserter(replaced_clients));
        superseded = superseded || effects.superseded;
        copied = copied || effects.copied;
        if (effects.purge_log_to) purged_to = effects.purge_log_to->id.index;
        if (checks_grants) {
            core_->check_invariants();
        } else {
            raft().check_invariants();
        }
    }
    void call(Call one) {
        Calls calls;
        calls.calls.push_back(std::move(one));
        step(std::move(calls));
    }
    // A call of the program that changes the membership, with that patience.
    void change(std::uint64_t tag, MembershipGoal goal, Nanoseconds patience) {
        call(ChangeCall{CallTag{tag}, std::move(goal), now + patience});
    }
    // A call of the program that waits without limit.
    void acquire(std::uint64_t tag, std::string name) {
        AcquireCall acquire;
        acquire.tag = CallTag{tag};
        acquire.request.names.push_back({std::move(name)});
        call(std::move(acquire));
    }
    // The hold that was granted to that call; requires that it was.
    [[nodiscard]] OperationId granted(std::uint64_t tag) const {
        const auto found = std::ranges::find_if(answers, [&](const CallAnswer& answer) {
            return answer.tag == CallTag{tag} && std::holds_alternative<Acquired>(answer.result);
        });
        return std::get<Acquired>(found->result).hold;
    }
    [[nodiscard]] std::optional<CallError> error_of(std::uint64_t tag) const {
        for (const auto& answer : answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (answer.tag == CallTag{tag} && error != nullptr) return *error;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<MembershipRefusal> refusal_of(std::uint64_t tag) const {
        for (const auto& answer : answers) {
            const auto* why = std::get_if<MembershipRefusal>(&answer.result);
            if (answer.tag == CallTag{tag} && why != nullptr) return *why;
        }
        return std::nullopt;
    }
    void inspect(std::uint64_t tag, std::string name) {
        InspectCall inspect;
        inspect.tag = CallTag{tag};
        inspect.name = std::move(name);
        call(std::move(inspect));
    }
    template <class Result>
    [[nodiscard]] bool was_answered(std::uint64_t tag) const {
        return std::ranges::any_of(answers, [&](const CallAnswer& answer) {
            return answer.tag == CallTag{tag} && std::holds_alternative<Result>(answer.result);
        });
    }
    void timer() { step(TimerFired{}); }
    void timer_when_due() {
        now = std::max(now, core_->deadline());
        timer();
    }
    void receive(NodeId from, PeerMessage message) { step(Received{from, std::move(message)}); }
    // All voters that were asked are still empty, and agree to the bootstrap.
    void all_agree() {
        std::vector<Envelope> answers_to_come;
        for (const auto& envelope : sent) {
            if (const auto* asked = std::get_if<FormationQuestion>(&envelope.message))
                answers_to_come.push_back({envelope.to, FormationAnswer{asked->round}});
        }
        std::erase_if(sent, [](const Envelope& envelope) {
            return std::holds_alternative<FormationQuestion>(envelope.message);
        });
        for (auto& answer : answers_to_come)
            receive(answer.to, std::move(answer.message));
    }
    void complete_write() {
        disk_.carry_out(writes.front());
        const auto id = writes.front().id;
        writes.pop_front();
        step(WriteDone{id});
    }
    void complete_writes() {
        while (!writes.empty())
            complete_write();
    }
    // The next run on the same directory.
    void crash_and_restart() {
        options_.generation.boot_epoch = options_.generation.boot_epoch.next();
        start_again();
    }
    // The next run is of a version that reads formats of commands up to that one.
    void change_version(std::uint8_t command_format) {
        options_.command_format = command_format;
        crash_and_restart();
    }
    // Starts on an earlier image of its directory, with that boot epoch.
    void roll_back(Disk image, BootEpoch epoch, std::uint64_t life) {
        disk_ = std::move(image);
        options_.generation.boot_epoch = epoch;
        options_.generation.life = life;
        start_again();
    }
    // Starts on another directory with the same id.
    void wipe_and_restart() {
        options_.generation.incarnation = Incarnation{options_.generation.incarnation.raw() + 1000};
        options_.generation.boot_epoch = BootEpoch{1};
        disk_ = {};
        start_again();
    }
    void configure(std::initializer_list<std::uint64_t> voters) {
        options_.voters = configured(voters);
        start_again();
    }

    template <class Message>
    std::vector<Message> take(NodeId to) {
        std::vector<Message> taken;
        std::erase_if(sent, [&](Envelope& envelope) {
            auto* message = find<Message>(envelope.message);
            if (envelope.to != to || message == nullptr) return false;
            taken.push_back(std::move(*message));
            return true;
        });
        return taken;
    }
    template <class Message>
    Message newest(NodeId to) {
        auto taken = take<Message>(to);
        return taken.at(taken.size() - 1);
    }
    template <class Message>
    [[nodiscard]] std::size_t sent_to(NodeId to) {
        return static_cast<std::size_t>(std::ranges::count_if(sent, [&](Envelope& envelope) {
            return envelope.to == to && find<Message>(envelope.message) != nullptr;
        }));
    }
    [[nodiscard]] bool noted(Note::Kind kind) const {
        return std::ranges::find(notes, kind, &Note::kind) != notes.end();
    }
    [[nodiscard]] bool is_formed() const { return raft().configuration().is_formed(); }

    [[nodiscard]] const NodeCore& core() const { return *core_; }
    [[nodiscard]] const Raft& raft() const { return core_->raft(); }
    [[nodiscard]] const Disk& disk() const { return disk_; }
    [[nodiscard]] Hello hello() const { return core_->hello(); }

    Instant now = start;
    std::deque<Write> writes;
    std::vector<Envelope> sent;
    std::vector<Applied> applied;
    std::vector<CallAnswer> answers;
    std::vector<Note> notes;
    std::vector<Contended> contended;
    std::vector<Member> peers;  // as last requested
    std::vector<StateDelta> deltas;
    std::vector<InstallStep> installs;
    SavedCountdowns countdowns;  // as last saved
    LogIndex purged_to;
    std::vector<NodeId> disconnected;
    std::vector<std::pair<ClientId, ClientNotice>> notices;
    std::vector<ClientId> unfit_clients;
    std::vector<ClientId> replaced_clients;
    bool checks_grants = true;  // false if another member lies
    bool superseded = false;
    bool copied = false;

private:
    template <class Message>
    static Message* find(PeerMessage& message) {
        if constexpr (!std::is_constructible_v<RaftMessage, Message>) {
            return std::get_if<Message>(&message);
        } else {
            auto* raft = std::get_if<RaftMessage>(&message);
            return raft == nullptr ? nullptr : std::get_if<Message>(raft);
        }
    }
    void start_again() {
        writes.clear();
        sent.clear();
        notes.clear();
        options_.seed += 100;
        core_ =
            std::make_unique<NodeCore>(options_, NodeState{disk_.state(), {}, {}}, Now{now, now});
    }

    NodeOptions options_;
    Disk disk_;
    std::unique_ptr<NodeCore> core_;
};

// The hello of a peer with the default incarnation while it is empty.
inline Hello empty_hello(std::uint64_t id, std::initializer_list<std::uint64_t> voters) {
    return HandDrivenNode{id, voters}.hello();
}

// --- members that the test plays: they send only what it sends in their name

// The hello of such a member to members of that cluster.
inline Hello played_hello(NodeId id, Hello of_another) {
    of_another.node = id;
    of_another.generation.incarnation = member(id.raw()).incarnation;
    of_another.generation.boot_epoch = BootEpoch{1};
    of_another.generation.life = 0;
    return of_another;
}
// Opens its session, which is never renewed.
inline OpenSession opening_of(NodeId id, std::uint32_t ttl_ms) {
    return {id.raw(), id, {member(id.raw()).incarnation, BootEpoch{1}}, ttl_ms, 0, false};
}
// A request of such a member to a leader.
inline Forward forward_of(Bytes batch, std::optional<Renewal> renewal = {}) {
    return {std::move(batch), renewal};
}
// The next request of a session, when all earlier ones are applied.
inline Request next_request(const HandDrivenNode& leader, SessionId session, RequestBody body) {
    const auto* found = leader.core().machine().sessions().find(session);
    if (found == nullptr) throw std::runtime_error{"the session has ended"};
    return {session, found->applied.next(), std::move(body)};
}
// A session that such a member opened, and whose first request is applied.
template <class Settle>
SessionId played_session(HandDrivenNode& leader, NodeId id, Settle settle) {
    const auto say = [&](const Command& command) {
        BatchBuilder batch;
        batch.add(command);
        leader.receive(id, forward_of(batch.take()));
        settle();
    };
    auto opening = opening_of(id, 60'000);
    opening.nonce += 1'000;
    say(opening);
    const auto& all = leader.core().machine().sessions().all();
    const auto opened = std::ranges::find_if(
        all, [&](const auto& each) { return each.second.opened.nonce == opening.nonce; });
    if (opened == all.end()) throw std::runtime_error{"the session was not opened"};
    const auto session = opened->first;
    say(Request{session, Seq{1}, Declined{}});
    return session;
}

// Several nodes. A message arrives if there is a connection; the clocks run together.
class NodeCluster {
public:
    explicit NodeCluster(std::initializer_list<std::uint64_t> ids)
        : NodeCluster{ids, [](NodeOptions&) {}} {}
    NodeCluster(std::initializer_list<std::uint64_t> ids,
                const std::function<void(NodeOptions&)>& change) {
        for (const auto id : ids) {
            auto options = node_options(id, ids);
            change(options);
            nodes_.try_emplace(NodeId{id}, options, RaftState{});
        }
    }

    HandDrivenNode& operator[](NodeId id) { return nodes_.at(id); }
    [[nodiscard]] auto begin() { return nodes_.begin(); }
    [[nodiscard]] auto end() { return nodes_.end(); }
    void add(std::uint64_t id, std::initializer_list<std::uint64_t> voters) {
        nodes_.try_emplace(NodeId{id}, id, voters);
    }
    void add(NodeOptions options) {
        const auto id = options.self;
        nodes_.try_emplace(id, std::move(options), RaftState{});
    }

    void connect(NodeId a, NodeId b) {
        const auto hello = nodes_.at(a).hello();
        links_.insert(std::minmax(a, b));
        nodes_.at(a).step(PeerUp{nodes_.at(b).hello()});
        nodes_.at(b).step(PeerUp{hello});
    }
    void disconnect(NodeId a, NodeId b) {
        links_.erase(std::minmax(a, b));
        nodes_.at(a).step(PeerDown{b});
        nodes_.at(b).step(PeerDown{a});
    }
    void connect_all() {
        for (const auto& [a, first] : nodes_) {
            for (const auto& [b, second] : nodes_) {
                if (a < b) connect(a, b);
            }
        }
        for (const auto& hello : played_) {
            for (auto& [id, node] : nodes_)
                node.step(PeerUp{hello});
        }
    }
    // Its connections end with the process: the others notice that, it does not.
    void crash_and_restart(NodeId id) {
        lose_links(id);
        nodes_.at(id).crash_and_restart();
    }
    void wipe_and_restart(NodeId id) {
        lose_links(id);
        nodes_.at(id).wipe_and_restart();
    }

    void change_version(NodeId id, std::uint8_t command_format) {
        lose_links(id);
        nodes_.at(id).change_version(command_format);
    }
    void roll_back(NodeId id, Disk image, std::uint64_t epoch, std::uint64_t life = 0) {
        lose_links(id);
        nodes_.at(id).roll_back(std::move(image), BootEpoch{epoch}, life);
    }

    // Adds a learner that the test plays. Requires a leader.
    void add_played(NodeId id) {
        played_.push_back(played_hello(id, leader()->hello()));
        for (auto& [other, node] : nodes_)
            node.step(PeerUp{played_.back()});
        const MembershipGoal goal{MembershipGoal::Kind::learner, id, member(id.raw()).address};
        leader()->change(UINT64_MAX, goal, election_timeout);
        run_for(5 * heartbeat);
    }

    void pass(Nanoseconds time) {
        for (auto& [id, node] : nodes_)
            node.now = node.now + time;
    }
    void deliver() {
        for (auto& [from, node] : nodes_) {
            for (auto& envelope : std::exchange(node.sent, {})) {
                if (links_.contains(std::minmax(from, envelope.to)))
                    nodes_.at(envelope.to).receive(from, std::move(envelope.message));
            }
        }
    }
    void settle() {
        const auto is_busy = [](const auto& each) {
            return !each.second.sent.empty() || !each.second.writes.empty() ||
                   each.second.core().raft().has_decided();
        };
        while (std::ranges::any_of(nodes_, is_busy)) {
            deliver();
            for (auto& [id, node] : nodes_) {
                node.complete_writes();
                if (node.core().raft().has_decided()) node.timer();  // one piece per step
            }
        }
    }
    // Runs in real time: timers fire when due, and messages take no time.
    void run_for(Nanoseconds time) {
        constexpr Nanoseconds step = 1ms;
        settle();
        for (Nanoseconds passed{0}; passed < time; passed += step) {
            pass(step);
            for (auto& [id, node] : nodes_) {
                if (node.core().deadline() > node.now) continue;
                node.timer();
                settle();
            }
        }
    }
    // Null if no node leads.
    HandDrivenNode* leader() {
        for (auto& [id, node] : nodes_) {
            if (node.raft().is_leader()) return &node;
        }
        return nullptr;
    }

private:
    void lose_links(NodeId id) {
        for (auto& [other, node] : nodes_) {
            if (links_.erase(std::minmax(id, other)) != 0) node.step(PeerDown{id});
        }
    }

    std::map<NodeId, HandDrivenNode> nodes_;
    std::set<std::pair<NodeId, NodeId>> links_;
    std::vector<Hello> played_;
};

}  // namespace mortise::core::test
