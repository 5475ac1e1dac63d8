// A snapshot from another node, row by row: in chunks, as a member that is far behind receives it,
// or from the disk. It is refused, or the resulting state is consistent.
#include <map>
#include <utility>
#include <vector>

#include "core/locks/machine/machine_loader.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::fuzz {
namespace {

using namespace core;
using namespace core::test;

constexpr LogId installed = {Term{1}, LogIndex{40}};

Row next_row(Choices& choices) {
    auto key = choices.text(choices.byte());
    return {std::move(key), choices.piece()};
}

// What was accepted is saved in the same form, except for rows that have two possible forms: so the
// second save is compared with the first.
void check_saved(const LockMachine& machine) {
    machine.check_invariants();
    const auto rows = machine.all_rows();
    const auto load = [&rows] {
        MachineLoader loader;
        for (const auto& row : rows) {
            if (row.value) FUZZ_CHECK(loader.add(row.key, *row.value));
        }
        return loader.finish(installed.index);
    };
    auto again = load();
    FUZZ_CHECK(rows.empty() || again);
    if (again) FUZZ_CHECK(again->all_rows() == rows);
}

// The machine works afterwards: sessions end, names are swept.
void check_goes_on(LockMachine machine) {
    auto index = installed.index;
    std::vector<Request> closes;
    for (const auto& [id, session] : machine.sessions().all())
        closes.push_back({id, session.applied.next(), CloseSession{}});
    for (const auto& close : closes) {
        Outcomes outcomes;
        index = index.next();
        machine.apply(index, {close, Sweep{}}, outcomes);
        machine.check_invariants();
    }
}

void load_from_disk(Choices& choices) {
    MachineLoader loader;
    bool good = true;
    while (!choices.is_empty() && good) {
        const auto row = next_row(choices);
        good = loader.add(row.key, *row.value);
    }
    auto machine = loader.finish(installed.index);
    FUZZ_CHECK(good || !machine);
    if (!machine) return;
    check_saved(*machine);
    check_goes_on(*std::move(machine));
}

SnapshotChunk next_chunk(Choices& choices, std::uint64_t& sum, std::uint64_t position) {
    SnapshotChunk chunk;
    chunk.term = Term{1};
    chunk.last = installed;
    chunk.configuration = voters({1, 2, 3});
    const auto how = choices.byte();
    chunk.cut = (how & 1U) != 0;
    chunk.done = (how & 2U) != 0;
    chunk.position = (how & 12U) == 12U ? choices.byte() : position;
    // Ascending by key: the transport ensures that.
    std::map<std::string, std::string> rows;
    for (auto left = choices.below(8); left > 0 && !choices.is_empty(); --left) {
        auto row = next_row(choices);
        rows[row.key] = *std::move(row.value);
    }
    for (const auto& [key, value] : rows)
        chunk.rows.push_back({key, value});
    if (chunk.position == 0) sum = 0;
    chunk.checksum = sum = sum_with(sum, chunk);
    return chunk;
}

void receive_chunks(Choices& choices) {
    auto options = node_options(1, {1, 2, 3});
    HandDrivenNode node{options, disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    auto leader = empty_hello(2, {1, 2, 3});
    leader.cluster = voters({1, 2, 3}).cluster;
    node.step(PeerUp{std::move(leader)});
    std::uint64_t sum = 0;
    std::uint64_t position = 0;
    while (!choices.is_empty()) {
        auto chunk = next_chunk(choices, sum, position);
        position = chunk.position + 1;
        node.receive(n2, RaftMessage{std::move(chunk)});
        for (const auto& step : std::exchange(node.installs, {})) {
            node.step(InstallTaken{});
            if (step.done) node.step(StateInstalled{step.last});
        }
        node.complete_writes();
        node.timer_when_due();
    }
    node.core().machine().check_invariants();
}

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    mortise::fuzz::Choices choices{data, size};
    if (choices.coin()) {
        mortise::fuzz::receive_chunks(choices);
    } else {
        mortise::fuzz::load_from_disk(choices);
    }
    return 0;
}
