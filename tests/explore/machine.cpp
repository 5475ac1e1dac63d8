#include "tests/explore/machine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/check.hpp"
#include "tests/explore/state_reader.hpp"

namespace mortise::explore {

namespace {

using namespace std::chrono_literals;

constexpr core::Nanoseconds election_timeout = 1s;
constexpr core::ReadId the_read{1};  // a run reads at most once

core::RaftOptions options_of(core::NodeId self) {
    core::RaftOptions options;
    options.self = self;
    // as in the configuration of the bootstrap
    options.incarnation = core::Incarnation{self.raw()};
    options.election_timeout = election_timeout;
    // much shorter than the timeout, so heartbeats alone let no deadline pass
    options.heartbeat = 10ms;
    options.append_bytes_max = 1;  // one entry per message, the finest steps
    options.appends_in_flight_max = 2;
    return options;
}

core::Raft boot(core::NodeId self, const core::RaftState& disk, core::Instant now) {
    return core::Raft{options_of(self), disk, core::Prng{self.raw()}, now};
}

std::string carry_out(const core::Write& write, core::RaftState& disk) {
    MORTISE_CHECK(!write.reset);  // nothing is purged here, so no node needs a snapshot
    std::string problem;
    if (write.hard_state) {
        const auto& before = disk.hard_state;
        const auto& after = *write.hard_state;
        const bool revoted = after.term == before.term && before.voted_for.is_set() &&
                             after.voted_for != before.voted_for;
        if (after.term < before.term) problem = "hard state: the term on disk went back";
        if (revoted) problem = "hard state: two votes in one term";
        disk.hard_state = after;
    }
    if (write.truncate_from) {
        std::erase_if(disk.entries,
                      [&](const auto& entry) { return entry.id.index >= *write.truncate_from; });
    }
    disk.entries.insert(disk.entries.end(), write.append.begin(), write.append.end());
    return problem;
}

std::string carry_out(const core::Write& write, Machine& machine) {
    auto problem = carry_out(write, machine.disk);
    const auto last = machine.disk.entries.back().id.index;
    if (write.unsynced) machine.disk.unsynced = *write.unsynced;
    machine.synced = write.synced ? last : std::min(machine.synced, last);
    return problem;
}

std::string complete_write(Machine& machine) {
    auto problem = carry_out(machine.writes.front(), machine);
    const auto id = machine.writes.front().id;
    machine.writes.pop_front();
    machine.raft.on_write_done(id, machine.now);
    return problem;
}

std::string crash(Machine& machine, std::size_t written) {
    std::string problem;
    for (std::size_t i = 0; i < written && problem.empty(); ++i)
        problem = carry_out(machine.writes[i], machine);
    machine.writes.clear();
    machine.raft = boot(machine.self, machine.disk, machine.now);
    // A start syncs what it finds.
    machine.synced = machine.disk.entries.back().id.index;
    return problem;
}

std::string lose_power(Machine& machine, std::size_t left) {
    const core::LogIndex kept{machine.synced.raw() + left};
    std::erase_if(machine.disk.entries,
                  [&](const core::Entry& entry) { return entry.id.index > kept; });
    if (machine.disk.unsynced == core::Unsynced::entries)
        machine.disk.unsynced = core::Unsynced::forgotten;
    ++machine.losses;
    return crash(machine, 0);
}

void meet(Machine& machine, std::uint32_t run) {
    const core::NodeId peer{run >> 8U};
    machine.met.at(peer.raw() - 1) = static_cast<std::uint8_t>(run);
    machine.raft.begin_event(machine.now);
    machine.raft.on_peer_restarted(peer);
}

core::ReadId question_of(const Machine& machine) {
    return core::ReadId{machine.self.raw() << 16U | std::uint64_t{machine.losses} << 8U |
                        machine.asked};
}

std::string carry_out(Machine& machine, Event event, const Packet* packet) {
    auto& raft = machine.raft;
    switch (event.act) {
        case Act::deliver:
            raft.begin_event(machine.now);
            if (!raft.refuses(packet->from, packet->message))
                raft.take_message(packet->from, packet->message, machine.now);
            break;
        case Act::write_done: return complete_write(machine);
        case Act::time_out:
            machine.now = std::max(machine.now + 2 * election_timeout, raft.deadline());
            raft.on_timer(machine.now);
            break;
        case Act::heartbeat:
            machine.now = std::max(machine.now, raft.deadline());
            raft.on_timer(machine.now);
            break;
        case Act::propose:
            raft.propose(static_cast<core::EntryKind>(event.argument), core::Bytes{"x"},
                         machine.now);
            break;
        case Act::read: raft.read(the_read, machine.now); break;
        case Act::transfer: raft.transfer_to(core::NodeId{event.argument}, machine.now); break;
        case Act::crash: return crash(machine, event.argument);
        case Act::sync: machine.synced = machine.disk.entries.back().id.index; break;
        case Act::lose_power: return lose_power(machine, event.argument);
        case Act::meet: meet(machine, event.argument); break;
        case Act::recover:
            ++machine.asked;
            raft.read(question_of(machine), machine.now);
            break;
    }
    return {};
}

// A leader only appends to its log.
bool has_rewritten(const core::Raft& before, const core::Raft& after) {
    if (!before.is_leader() || !after.is_leader() || before.term() != after.term()) return false;
    const auto last = before.log().last();
    return !after.log().has(last);
}

}  // namespace

Machine start(core::NodeId self, core::RaftState disk) {
    auto raft = boot(self, disk, core::Instant{});
    const auto last = disk.entries.back().id.index;
    return {self, std::move(raft), std::move(disk), {}, core::Instant{}, last};
}

Effects apply(Machine& machine, Event event, const Packet* packet) {
    Effects effects;
    const auto before = machine.raft;
    try {
        effects.problem = carry_out(machine, event, packet);
        const auto decided = machine.raft.take_decided();
        for (const auto& grant : decided.reads) {
            if (grant.id == the_read) effects.read_at = grant.index;
            if (grant.id == question_of(machine)) machine.raft.recover_at(grant.index);
        }
        auto out = machine.raft.collect(machine.now);
        machine.raft.check_invariants();
        if (out.write) machine.writes.push_back(std::move(*out.write));
        for (auto& envelope : out.send)
            effects.sent.push_back({machine.self, envelope.to, std::move(envelope.message)});
        if (!out.distrusted.empty()) effects.problem = "a message of a node in order was refused";
        const bool restarts = event.act == Act::crash || event.act == Act::lose_power;
        const bool rewritten = !restarts && has_rewritten(before, machine.raft);
        if (rewritten) effects.problem = "leader append-only: its log changed";
    } catch (const core::InvariantBroken& broken) {
        effects.problem = broken.what();
    }
    return effects;
}

std::string identity_of(const Machine& machine) {
    core::ByteWriter out;
    core::StateReader::read(machine.raft, out);
    core::StateReader::read(machine.disk, out);
    out.varint(machine.writes.size());
    for (const auto& write : machine.writes)
        core::StateReader::read(write, out);
    out.varint(machine.synced.raw());
    out.u8(machine.losses);
    out.u8(machine.asked);
    for (const auto met : machine.met)
        out.u8(met);
    return out.take();
}

std::string identity_of(const Packet& packet) {
    core::ByteWriter out;
    out.varint(packet.from.raw());
    out.varint(packet.to.raw());
    core::StateReader::read(packet.message, out);
    return out.take();
}

}  // namespace mortise::explore
