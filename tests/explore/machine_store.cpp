#include "tests/explore/machine_store.hpp"

#include <utility>

namespace mortise::explore {

namespace {

constexpr unsigned argument_bits = 28;

std::uint64_t key_of(Number machine, Event event) {
    const auto act = static_cast<std::uint64_t>(event.act);
    return std::uint64_t{machine} << 32U | act << argument_bits | event.argument;
}

std::vector<EntryMark> marks_of(const core::Log& log) {
    std::vector<EntryMark> marks;
    for (auto index = log.first_index(); index <= log.last().index; index = index.next())
        marks.push_back({log.at(index).id.term, log.at(index).checksum, log.at(index).kind});
    return marks;
}

std::vector<EntryMark> marks_of(const std::vector<core::Entry>& entries) {
    std::vector<EntryMark> marks;
    for (const auto& entry : entries)
        marks.push_back({entry.id.term, entry.checksum, entry.kind});
    return marks;
}

}  // namespace

Number MachineStore::add(Machine machine) {
    auto identity = identity_of(machine);
    return machines_.add(std::move(identity), [&] {
        auto log = marks_of(machine.raft.log());
        auto disk = marks_of(machine.disk.entries);
        return Known{std::move(machine), std::move(log), std::move(disk)};
    });
}

const Step& MachineStore::step(Number machine, Event event) {
    const auto key = key_of(machine, event);
    const auto known = steps_.find(key);
    if (known != steps_.end()) return known->second;
    return steps_.emplace(key, run(machine, event)).first->second;
}

Step MachineStore::run(Number number, Event event) {
    Step step;
    auto machine = machines_[number].machine;
    const auto* packet = event.act == Act::deliver ? &packets_[event.argument] : nullptr;
    auto effects = apply(machine, event, packet);
    step.problem = std::move(effects.problem);
    step.read_at = effects.read_at;
    step.next = add(std::move(machine));
    for (auto& sent : effects.sent) {
        auto identity = identity_of(sent);
        step.sent.push_back(packets_.add(std::move(identity), [&] { return std::move(sent); }));
    }
    return step;
}

}  // namespace mortise::explore
