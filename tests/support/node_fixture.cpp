#include "tests/support/node_fixture.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace mortise::core::test {

std::vector<Member> configured(std::initializer_list<std::uint64_t> ids) {
    auto list = members(ids);
    for (auto& each : list)
        each.incarnation = {};
    return list;
}

NodeOptions node_options(std::uint64_t id, std::initializer_list<std::uint64_t> voters) {
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

HandDrivenNode::HandDrivenNode(std::uint64_t id, std::initializer_list<std::uint64_t> voters)
    : HandDrivenNode{node_options(id, voters), RaftState{}} {}

HandDrivenNode::HandDrivenNode(NodeOptions options, const RaftState& state)
    : options_{std::move(options)},
      disk_{state.hard_state, state.base, state.entries, state.applied, state.configuration},
      core_{std::make_unique<NodeCore>(options_, NodeState{state, {}, {}}, Now{now, now})} {}

HandDrivenNode::HandDrivenNode(NodeOptions options, NodeState state)
    : options_{std::move(options)},
      disk_{state.raft.hard_state, state.raft.base, state.raft.entries, state.raft.applied,
            state.raft.configuration},
      core_{std::make_unique<NodeCore>(options_, std::move(state), Now{now, now})} {}

HandDrivenNode::HandDrivenNode(HandDrivenNode&&) noexcept = default;
HandDrivenNode& HandDrivenNode::operator=(HandDrivenNode&&) noexcept = default;
HandDrivenNode::~HandDrivenNode() = default;

Now HandDrivenNode::clocks() const {
    const auto passed = static_cast<std::uint64_t>((now - Instant{}) / 1ms);
    return {now, now, wall_ms == 0 ? 0 : wall_ms + passed};
}

void HandDrivenNode::step(Event event) {
    auto effects = core_->step(std::move(event), clocks());
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

void HandDrivenNode::call(Call one) {
    Calls calls;
    calls.calls.push_back(std::move(one));
    step(std::move(calls));
}

void HandDrivenNode::change(std::uint64_t tag, MembershipGoal goal, Nanoseconds patience) {
    call(ChangeCall{CallTag{tag}, std::move(goal), now + patience});
}

void HandDrivenNode::acquire(std::uint64_t tag, std::string name) {
    AcquireCall acquire;
    acquire.tag = CallTag{tag};
    acquire.request.names.push_back({std::move(name)});
    call(std::move(acquire));
}

OperationId HandDrivenNode::granted(std::uint64_t tag) const {
    const auto found = std::ranges::find_if(answers, [&](const CallAnswer& answer) {
        return answer.tag == CallTag{tag} && std::holds_alternative<Acquired>(answer.result);
    });
    return std::get<Acquired>(found->result).hold;
}

std::optional<CallError> HandDrivenNode::error_of(std::uint64_t tag) const {
    for (const auto& answer : answers) {
        const auto* error = std::get_if<CallError>(&answer.result);
        if (answer.tag == CallTag{tag} && error != nullptr) return *error;
    }
    return std::nullopt;
}

std::optional<MembershipRefusal> HandDrivenNode::refusal_of(std::uint64_t tag) const {
    for (const auto& answer : answers) {
        const auto* why = std::get_if<MembershipRefusal>(&answer.result);
        if (answer.tag == CallTag{tag} && why != nullptr) return *why;
    }
    return std::nullopt;
}

void HandDrivenNode::inspect(std::uint64_t tag, std::string name) {
    InspectCall inspect;
    inspect.tag = CallTag{tag};
    inspect.name = std::move(name);
    call(std::move(inspect));
}

void HandDrivenNode::timer() {
    step(TimerFired{});
}
void HandDrivenNode::timer_when_due() {
    now = std::max(now, core_->deadline());
    timer();
}

void HandDrivenNode::receive(NodeId from, PeerMessage message) {
    step(Received{from, std::move(message)});
}
void HandDrivenNode::all_agree() {
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

void HandDrivenNode::complete_write() {
    disk_.carry_out(writes.front());
    const auto id = writes.front().id;
    writes.pop_front();
    step(WriteDone{id});
}

void HandDrivenNode::complete_writes() {
    while (!writes.empty())
        complete_write();
}

void HandDrivenNode::crash_and_restart() {
    options_.generation.boot_epoch = options_.generation.boot_epoch.next();
    start_again();
}

void HandDrivenNode::lose_power_and_restart() {
    disk_.lose_power();
    crash_and_restart();
}

void HandDrivenNode::change_durability(Durability durability) {
    options_.durability = durability;
    crash_and_restart();
}

void HandDrivenNode::change_version(std::uint8_t command_format) {
    options_.command_format = command_format;
    crash_and_restart();
}

void HandDrivenNode::roll_back(Disk image, BootEpoch epoch, std::uint64_t life) {
    disk_ = std::move(image);
    options_.generation.boot_epoch = epoch;
    options_.generation.life = life;
    start_again();
}

void HandDrivenNode::wipe_and_restart() {
    options_.generation.incarnation = Incarnation{options_.generation.incarnation.raw() + 1000};
    options_.generation.boot_epoch = BootEpoch{1};
    disk_ = {};
    start_again();
}

void HandDrivenNode::configure(std::initializer_list<std::uint64_t> voters) {
    options_.voters = configured(voters);
    start_again();
}

bool HandDrivenNode::noted(Note::Kind kind) const {
    return std::ranges::find(notes, kind, &Note::kind) != notes.end();
}

void HandDrivenNode::start_again() {
    writes.clear();
    sent.clear();
    notes.clear();
    options_.seed += 100;
    core_ = std::make_unique<NodeCore>(options_, NodeState{disk_.state(), {}, {}}, clocks());
}

Hello empty_hello(std::uint64_t id, std::initializer_list<std::uint64_t> voters) {
    return HandDrivenNode{id, voters}.hello();
}

Hello played_hello(NodeId id, Hello of_another) {
    of_another.node = id;
    of_another.generation.incarnation = member(id.raw()).incarnation;
    of_another.generation.boot_epoch = BootEpoch{1};
    of_another.generation.life = 0;
    return of_another;
}

OpenSession opening_of(NodeId id, std::uint32_t ttl_ms) {
    return {id.raw(), id, {member(id.raw()).incarnation, BootEpoch{1}}, ttl_ms, 0, false};
}

Forward forward_of(Bytes batch, std::optional<Renewal> renewal) {
    return {std::move(batch), renewal};
}

Request next_request(const HandDrivenNode& leader, SessionId session, RequestBody body) {
    const auto* found = leader.core().machine().sessions().find(session);
    if (found == nullptr) throw std::runtime_error{"the session has ended"};
    return {session, found->applied.next(), std::move(body)};
}

NodeCluster::NodeCluster(std::initializer_list<std::uint64_t> ids)
    : NodeCluster{ids, [](NodeOptions&) {}} {}

NodeCluster::NodeCluster(std::initializer_list<std::uint64_t> ids,
                         const std::function<void(NodeOptions&)>& change) {
    for (const auto id : ids) {
        auto options = node_options(id, ids);
        change(options);
        nodes_.try_emplace(NodeId{id}, options, RaftState{});
    }
}

NodeCluster::~NodeCluster() = default;

HandDrivenNode& NodeCluster::operator[](NodeId id) {
    return nodes_.at(id);
}
void NodeCluster::add(std::uint64_t id, std::initializer_list<std::uint64_t> voters) {
    nodes_.try_emplace(NodeId{id}, id, voters);
}

void NodeCluster::add(NodeOptions options) {
    const auto id = options.self;
    nodes_.try_emplace(id, std::move(options), RaftState{});
}

void NodeCluster::connect(NodeId a, NodeId b) {
    const auto hello = nodes_.at(a).hello();
    links_.insert(std::minmax(a, b));
    nodes_.at(a).step(PeerUp{nodes_.at(b).hello()});
    nodes_.at(b).step(PeerUp{hello});
}

void NodeCluster::disconnect(NodeId a, NodeId b) {
    links_.erase(std::minmax(a, b));
    nodes_.at(a).step(PeerDown{b});
    nodes_.at(b).step(PeerDown{a});
}

void NodeCluster::connect_all() {
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

void NodeCluster::crash_and_restart(NodeId id) {
    lose_links(id);
    nodes_.at(id).crash_and_restart();
}

void NodeCluster::lose_power_and_restart(NodeId id) {
    lose_links(id);
    nodes_.at(id).lose_power_and_restart();
}

void NodeCluster::change_durability(NodeId id, Durability durability) {
    lose_links(id);
    nodes_.at(id).change_durability(durability);
}

void NodeCluster::wipe_and_restart(NodeId id) {
    lose_links(id);
    nodes_.at(id).wipe_and_restart();
}

void NodeCluster::change_version(NodeId id, std::uint8_t command_format) {
    lose_links(id);
    nodes_.at(id).change_version(command_format);
}

void NodeCluster::roll_back(NodeId id, Disk image, std::uint64_t epoch, std::uint64_t life) {
    lose_links(id);
    nodes_.at(id).roll_back(std::move(image), BootEpoch{epoch}, life);
}

void NodeCluster::add_played(NodeId id) {
    played_.push_back(played_hello(id, leader()->hello()));
    for (auto& [other, node] : nodes_)
        node.step(PeerUp{played_.back()});
    const MembershipGoal goal{MembershipGoal::Kind::learner, id, member(id.raw()).address};
    leader()->change(UINT64_MAX, goal, election_timeout);
    run_for(5 * heartbeat);
}

void NodeCluster::pass(Nanoseconds time) {
    for (auto& [id, node] : nodes_)
        node.now = node.now + time;
}

void NodeCluster::deliver() {
    for (auto& [from, node] : nodes_) {
        for (auto& envelope : std::exchange(node.sent, {})) {
            if (links_.contains(std::minmax(from, envelope.to)))
                nodes_.at(envelope.to).receive(from, std::move(envelope.message));
        }
    }
}

void NodeCluster::settle() {
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

void NodeCluster::run_for(Nanoseconds time) {
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

HandDrivenNode* NodeCluster::leader() {
    for (auto& [id, node] : nodes_) {
        if (node.raft().is_leader()) return &node;
    }
    return nullptr;
}

void NodeCluster::lose_links(NodeId id) {
    for (auto& [other, node] : nodes_) {
        if (links_.erase(std::minmax(id, other)) != 0) node.step(PeerDown{id});
    }
}
}  // namespace mortise::core::test
