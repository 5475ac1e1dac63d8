#include "tests/explore/explorer.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/quorum.hpp"
#include "tests/explore/words.hpp"

namespace mortise::explore {

namespace {

core::NodeId node_at(std::size_t place) {
    return core::NodeId{place + 1};
}

std::uint8_t* allowance(Budget& left, Act act) {
    switch (act) {
        case Act::time_out: return &left.time_outs;
        case Act::heartbeat: return &left.heartbeats;
        case Act::propose: return &left.proposals;
        case Act::read: return &left.reads;
        case Act::transfer: return &left.transfers;
        case Act::crash: return &left.crashes;
        case Act::lose_power: return &left.power_losses;
        case Act::recover: return &left.questions;
        case Act::sync:
        case Act::meet:
        case Act::deliver:
        case Act::write_done: break;
    }
    return nullptr;
}

void spend(std::uint8_t& left) {
    if (left != any_number) --left;
}

}  // namespace

Explorer::Explorer(const Options& options) : options_{options} {}

Report Explorer::run() {
    Report report;
    worlds_.add(first_world(), 0, {});
    std::size_t level_end = 1;
    Number next = 0;
    for (; next < worlds_.size() && worlds_.size() < options_.states_max && !found_; ++next) {
        if (next == level_end) {
            ++report.depth;
            level_end = worlds_.size();
        }
        expand(next);
    }
    report.states = worlds_.size();
    report.machines = machines_.machines();
    report.steps = machines_.steps();
    report.complete = next == worlds_.size() && !found_;
    if (found_) {
        report.violation = found_->what;
        report.trace = trace_to(*found_);
    }
    return report;
}

void Explorer::expand(Number number) {
    const auto world = worlds_[number];
    // New nodes differ only in their names, so the first event may concern node 1.
    const bool alike = number == 0 && options_.start == Start::fresh;
    for (std::uint8_t place = 0; place < (alike ? 1 : cluster_size); ++place)
        expand_machine(number, world, place);
    expand_packets(number, world);
}

void Explorer::expand_packets(Number number, const World& world) {
    for (const auto packet : world.packets) {
        const auto& [from, to, message] = machines_.packet(packet);
        const auto place = static_cast<std::uint8_t>(to.raw() - 1);
        const auto& sender = machines_.machine(world.machines[from.raw() - 1]).machine;
        const auto& receiver = machines_.machine(world.machines[place]).machine;
        if (receiver.met[from.raw() - 1] != sender.losses) continue;
        const Event delivery{Act::deliver, packet};
        try_move(number, world, {Deed::event, place, delivery});
        if (world.left.duplicates > 0)
            try_move(number, world, {Deed::deliver_copy, place, delivery});
        if (world.left.drops > 0) try_move(number, world, {Deed::drop, place, delivery});
    }
}

void Explorer::expand_machine(Number number, const World& world, std::uint8_t place) {
    const auto& machine = machines_.machine(world.machines[place]).machine;
    const auto offer = [&](Act act, std::uint32_t argument = 0) {
        auto left = world.left;
        const auto* allowed = allowance(left, act);
        if (allowed != nullptr && *allowed == 0) return;
        try_move(number, world, {Deed::event, place, {act, argument}});
    };
    if (!machine.writes.empty()) offer(Act::write_done);
    offer(Act::time_out);
    for (std::uint32_t written = 0; written <= machine.writes.size(); ++written)
        offer(Act::crash, written);
    const auto last = machine.disk.entries.back().id.index.raw();
    if (machine.synced.raw() < last) offer(Act::sync);
    for (auto left = last - machine.synced.raw() + 1; options_.in_memory && left > 0; --left)
        offer(Act::lose_power, static_cast<std::uint32_t>(left - 1));
    for (const auto other : world.machines) {
        const auto& peer = machines_.machine(other).machine;
        if (peer.self != machine.self && machine.met[peer.self.raw() - 1] != peer.losses)
            offer(Act::meet, run_of(peer));
    }
    if (machine.raft.is_forgetful() && machine.raft.leader()) offer(Act::recover);
    if (machine.raft.leader()) offer(Act::read);
    if (!machine.raft.is_leader()) return;
    offer(Act::heartbeat);
    offer(Act::propose, static_cast<std::uint32_t>(core::EntryKind::commands));
    if (options_.in_memory)
        offer(Act::propose, static_cast<std::uint32_t>(core::EntryKind::sealed_commands));
    for (std::size_t other = 0; other < cluster_size; ++other) {
        const auto target = static_cast<std::uint32_t>(node_at(other).raw());
        if (other != place) offer(Act::transfer, target);
    }
}

void Explorer::try_move(Number number, World world, const Move& move) {
    if (found_) return;
    auto problem = follow(world, move);
    const bool in_bounds = world.packets.size() <= options_.packets_max;
    if (problem.empty() && in_bounds && worlds_.add(world, number, move)) problem = check(world);
    if (!problem.empty()) found_ = Found{number, move, std::move(problem)};
}

std::string Explorer::follow(World& world, const Move& move) {
    if (move.deed == Deed::drop) {
        spend(world.left.drops);
        world.take(move.event.argument);
        return {};
    }
    if (move.deed == Deed::deliver_copy) spend(world.left.duplicates);
    if (move.deed == Deed::event && move.event.act == Act::deliver) world.take(move.event.argument);
    if (auto* allowed = allowance(world.left, move.event.act)) spend(*allowed);
    auto problem = happen(world, move.place, move.event);
    const auto writes = [&] {
        return machines_.machine(world.machines[move.place]).machine.writes.size();
    };
    while (options_.instant_disk && problem.empty() && writes() > 0)
        problem = happen(world, move.place, {Act::write_done, 0});
    if (options_.instant_disk && move.event.act == Act::lose_power) {
        const auto run = run_of(machines_.machine(world.machines[move.place]).machine);
        for (std::uint8_t place = 0; place < cluster_size && problem.empty(); ++place)
            if (place != move.place) problem = happen(world, place, {Act::meet, run});
    }
    return problem;
}

std::string Explorer::happen(World& world, std::uint8_t place, Event event) {
    auto& machine = world.machines[place];
    const auto& step = machines_.step(machine, event);
    if (!step.problem.empty()) return step.problem;
    machine = step.next;
    if (event.act == Act::lose_power) {
        // Its connections are gone. What it said may as well have arrived before.
        std::erase_if(world.packets, [&](Number number) {
            const auto& packet = machines_.packet(number);
            return packet.from == node_at(place) || packet.to == node_at(place);
        });
    }
    for (const auto packet : step.sent)
        world.send(packet);
    return remember(world, event, step);
}

std::string Explorer::remember(World& world, Event event, const Step& step) {
    const auto& known = machines_.machine(step.next);
    const auto& past = histories_[world.history];
    auto floor = past.read_floor;
    if (event.act == Act::read) floor = core::LogIndex{past.committed.size()};
    if (step.read_at && *step.read_at < floor)
        return "linearizable read: it does not see what was committed before it";
    if (floor == past.read_floor && !has_news(known, past)) return {};
    auto history = past;
    history.read_floor = floor;
    auto problem = begin_era(world, known, history);
    if (problem.empty()) problem = observe(known, history);
    world.history = histories_.add(std::move(history));
    return problem;
}

// What a majority has forgotten may be lost, if all voters agree that their newest log is valid.
std::string Explorer::begin_era(const World& world, const Known& leader, History& history) const {
    const auto& raft = leader.machine.raft;
    const auto term = raft.term().raw();
    const bool is_new = raft.is_leader() && (history.leaders.size() <= term ||
                                             history.leaders[term] != leader.machine.self);
    const auto last = raft.log().last().index;
    if (!is_new || raft.log().at(last).kind != core::EntryKind::era) return {};
    const auto forgetful = std::ranges::count_if(world.machines, [&](Number number) {
        return machines_.machine(number).machine.raft.is_forgetful();
    });
    if (static_cast<std::size_t>(forgetful) < core::majority_of(cluster_size))
        return "era: a majority has forgotten nothing";
    while (!history.committed.empty()) {
        const auto place = history.committed.size() - 1;
        const auto& lost = history.committed[place].entry;
        const auto* there = place < leader.log.size() ? &leader.log[place] : nullptr;
        if (there != nullptr && *there == lost) break;
        if (there != nullptr && there->kind != core::EntryKind::era)
            return "era: an entry that was not committed takes the place of one that was";
        if (lost.kind != core::EntryKind::commands) return "era: a sealed entry is lost";
        for (const auto number : world.machines) {
            const auto& log = machines_.machine(number).log;
            if (place < log.size() && log[place] == lost)
                return "era: what a voter still has is lost";
        }
        history.committed.pop_back();
    }
    history.read_floor = std::min(history.read_floor, core::LogIndex{history.committed.size()});
    return {};
}

std::string Explorer::check(const World& world) const {
    Cluster cluster{};
    for (std::size_t place = 0; place < cluster_size; ++place)
        cluster[place] = &machines_.machine(world.machines[place]);
    return violation(cluster, histories_[world.history]);
}

// --- where it begins

namespace {

core::RaftState formed(const std::vector<core::Term>& terms, core::HardState hard_state,
                       bool in_memory) {
    core::Configuration configuration;
    configuration.cluster = {7, 9};
    if (in_memory) configuration.durability = core::Durability::replicated;
    for (std::size_t place = 0; place < cluster_size; ++place)
        configuration.voters.push_back({node_at(place), core::Incarnation{place + 1}, ""});
    core::RaftState disk;
    disk.hard_state = hard_state;
    disk.entries.push_back(core::make_entry({core::Term{1}, core::LogIndex{1}},
                                            core::EntryKind::configuration,
                                            core::encode_configuration(configuration)));
    for (const auto term : terms) {
        const core::LogId id{term, disk.entries.back().id.index.next()};
        disk.entries.push_back(core::make_entry(id, core::EntryKind::noop, {}));
    }
    disk.applied = core::LogIndex{1};
    if (in_memory) disk.unsynced = core::Unsynced::entries;
    return disk;
}

}  // namespace

World Explorer::first_world() {
    std::array<core::RaftState, cluster_size> disks;
    const bool in_memory = options_.in_memory;
    disks.fill(formed({}, {core::Term{1}, {}}, in_memory));
    if (options_.start == Start::divided) {
        // Node 1 led in term 2 and node 3 in term 3, which has the longer log, and neither could
        // send anything.
        disks[0] = formed({core::Term{2}}, {core::Term{3}, {}}, in_memory);
        disks[1] = formed({}, {core::Term{3}, node_at(2)}, in_memory);
        disks[2] = formed({core::Term{3}, core::Term{3}}, {core::Term{3}, node_at(2)}, in_memory);
    }
    World world;
    History history;
    for (std::size_t place = 0; place < cluster_size; ++place) {
        world.machines[place] = machines_.add(start(node_at(place), disks[place]));
        // The first entry is not a decision of this log: it counts as committed from the start.
        MORTISE_CHECK(observe(machines_.machine(world.machines[place]), history).empty());
    }
    if (options_.start == Start::divided) {
        history.leaders = {{}, {}, node_at(0), node_at(2)};
    }
    world.history = histories_.add(std::move(history));
    if (options_.start == Start::led) settle(world);
    world.left = options_.budget;
    return world;
}

// Node 1 asks for votes, and then everything happens that is possible without a fault.
void Explorer::settle(World& world) {
    world.left.time_outs = 1;
    MORTISE_CHECK(follow(world, {Deed::event, 0, {Act::time_out, 0}}).empty());
    for (bool busy = true; busy;) {
        busy = false;
        for (std::uint8_t place = 0; place < cluster_size; ++place) {
            if (machines_.machine(world.machines[place]).machine.writes.empty()) continue;
            MORTISE_CHECK(follow(world, {Deed::event, place, {Act::write_done, 0}}).empty());
            busy = true;
        }
        if (world.packets.empty()) continue;
        const auto packet = world.packets.front();
        const auto place = static_cast<std::uint8_t>(machines_.packet(packet).to.raw() - 1);
        MORTISE_CHECK(follow(world, {Deed::event, place, {Act::deliver, packet}}).empty());
        busy = true;
    }
    MORTISE_CHECK(machines_.machine(world.machines[0]).machine.raft.is_leader());
}

// --- what happened

std::string Explorer::in_words(const Move& move) const {
    const auto node = node_at(move.place);
    if (move.event.act != Act::deliver) return explore::in_words(node, move.event);
    const auto text = explore::in_words(machines_.packet(move.event.argument));
    if (move.deed == Deed::drop) return "lost: " + text;
    return text + (move.deed == Deed::deliver_copy ? " (a copy stays on its way)" : "");
}

std::vector<std::string> Explorer::trace_to(const Found& found) {
    std::vector<std::string> trace{in_words(found.move)};
    for (auto number = found.from; number != 0; number = worlds_.came_from(number))
        trace.push_back(in_words(worlds_.came_by(number)));
    std::ranges::reverse(trace);
    return trace;
}

}  // namespace mortise::explore
