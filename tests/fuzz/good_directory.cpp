#include "tests/fuzz/good_directory.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/directory/data_directory.hpp"
#include "storage/marks/mark_store.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/scratch.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace core;
using namespace core::test;

// Runs a node that writes, saves and counts, and raises marks.
void make_good(const fs::path& path) {
    fs::create_directory(path);
    auto node = storage::open_directory(path / "data", {n1, true, {17, 4}});
    FUZZ_CHECK(node);
    Write write;
    write.hard_state = HardState{Term{1}, n1};
    write.append.push_back(configures(log_id(1, 1), voters({1})));
    OpenSession open;
    open.node = n1;
    open.nonce = 1;
    open.generation.incarnation = Incarnation{1};
    open.generation.boot_epoch = BootEpoch{1};
    open.ttl_ms = 10'000;
    open.rho_ppm = 10'000;
    Acquire acquire;
    acquire.names.push_back({"name"});
    BatchBuilder batch;
    batch.add(open);
    batch.add(Request{SessionId{1}, Seq{1}, acquire});
    const auto bytes = batch.take(command_format_newest);
    write.append.push_back(make_entry(log_id(1, 2), EntryKind::commands, bytes));
    FUZZ_CHECK(node->log->write({&write, 1}));
    LockMachine machine;
    Outcomes outcomes;
    machine.apply(LogIndex{2}, *decode_batch(bytes), outcomes);
    FUZZ_CHECK(node->state_store->write({log_id(1, 2), voters({1}), machine.take_changed_rows()}));
    FUZZ_CHECK(node->state_store->flush());
    const SavedCountdowns countdowns{{{{SessionId{1}, LogIndex{2}}, Nanoseconds{5}}}, {}};
    FUZZ_CHECK(node->state_store->save_countdowns(countdowns));
    auto marks = storage::MarkStore::open(path / "marks");
    FUZZ_CHECK(marks && (*marks)->raise("resource", 7));
}

std::string piece(const std::string& bytes) {
    ByteWriter out;
    FUZZ_CHECK(bytes.size() < (1U << 16U));
    out.u16(static_cast<std::uint16_t>(bytes.size()));
    return out.take() + bytes;
}

}  // namespace

std::string good_directory() {
    const auto path = scratch() / "good";
    make_good(path);
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& entry : fs::recursive_directory_iterator{path}) {
        if (entry.is_regular_file())
            files.emplace_back(fs::relative(entry.path(), path).string(), bytes_of(entry.path()));
    }
    std::ranges::sort(files);
    std::string packed;
    for (const auto& [name, bytes] : files)
        packed += piece(name) + piece(bytes);
    return packed;
}

}  // namespace mortise::fuzz
