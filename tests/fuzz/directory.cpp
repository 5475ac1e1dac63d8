// A data directory in which any file was altered, cut, lost, or replaced: a node starts from it, or
// gets an error message. RocksDB reads most of it.
#include <filesystem>
#include <string>
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

const storage::OpenOptions options{n1, true, {17, 4}};

struct File {
    std::string path;  // relative
    std::string bytes;
};

// As seed_corpus created it once: RocksDB writes different bytes each time, and an input has to
// mean the same in every run.
const std::vector<File>& good_files() {
    static const auto files = [] {
        Choices packed{bytes_of(MORTISE_FUZZ_DIRECTORY)};
        std::vector<File> all;
        while (!packed.is_empty()) {
            auto path = packed.piece();
            all.push_back({std::move(path), packed.piece()});
        }
        FUZZ_CHECK(!all.empty());
        return all;
    }();
    return files;
}

void change(std::vector<File>& files, Choices& choices) {
    auto& file = files[choices.below(files.size())];
    const auto at = choices.below(file.bytes.size() + 1);
    switch (choices.below(8)) {
        case 0: file.bytes.resize(at); break;
        case 1: file.bytes.clear(); break;
        case 2: file.path.clear(); break;  // lost
        case 3: file.bytes = files[choices.below(files.size())].bytes; break;
        case 4: file.bytes.insert(at, choices.text(choices.byte())); break;
        case 5: file.bytes.erase(at, choices.byte()); break;
        default: {
            const auto bytes = choices.text(1 + choices.below(16));
            file.bytes.replace(at, bytes.size(), bytes);
        }
    }
}

void put_all(const fs::path& to, const std::vector<File>& files) {
    fs::remove_all(to);
    for (const auto& file : files) {
        if (file.path.empty()) continue;
        fs::create_directories((to / file.path).parent_path());
        put(to / file.path, file.bytes);
    }
    fs::create_directories(to);
}

void check_refusal(const storage::Error& error) {
    FUZZ_CHECK(error.code.category() == storage::error_category());
    FUZZ_CHECK(!error.what.empty() && error.what.find('\n') == std::string::npos);
}

// Starts, and does what a node does first.
void begin_life(storage::Opened opened) {
    auto node_as = node_options(1, {1});
    node_as.generation.incarnation = opened.generation.incarnation;
    node_as.generation.boot_epoch = opened.generation.boot_epoch;
    opened.state.machine.check_invariants();
    HandDrivenNode node{std::move(node_as), std::move(opened.state)};
    for (int turns = 0; turns < 4; ++turns) {
        node.timer_when_due();
        for (auto& write : node.writes)
            FUZZ_CHECK(opened.log->write({&write, 1}));
        node.complete_writes();
    }
}

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    auto files = good_files();
    auto as = options;
    as.rejoins = choices.one_in(4);
    constexpr int changes_max = 8;
    for (int changes = 0; changes < changes_max && !choices.is_empty(); ++changes)
        change(files, choices);
    const auto path = scratch() / "data";
    put_all(path, files);
    fs::create_directories(path / "data");
    if (auto opened = mortise::storage::open_directory(path / "data", as)) {
        begin_life(*std::move(opened));
    } else {
        check_refusal(opened.error());
    }
    if (auto marks = mortise::storage::MarkStore::open(path / "marks")) {
        static_cast<void>((*marks)->mark("resource"));
    } else {
        check_refusal(marks.error());
    }
    return 0;
}
