// Directories to be damaged, and random runs that remember what they write: what is found later is
// compared with that memory.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "storage/directory/memory_directory.hpp"
#include "storage/directory/open_parts.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::storage::test {

using core::Entry;
using core::LogId;
using core::LogIndex;
using core::Term;
using core::test::commands;
using core::test::log_id;
using core::test::n1;
using core::test::n2;

class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    // Not created yet, and in a directory of its own.
    [[nodiscard]] std::filesystem::path data() const { return path_ / "data"; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

inline OpenOptions as_node_1() {
    return {n1, true, {17, 4}};
}

class OnDisk {
public:
    Result<Opened> open() { return open_directory(directory_.data(), as_node_1()); }
    [[nodiscard]] std::filesystem::path path() const { return directory_.data(); }

private:
    TemporaryDirectory directory_;
};

class InMemory {
public:
    Result<Opened> open() { return open_memory(directory_, as_node_1()); }

private:
    std::shared_ptr<MemoryDirectory> directory_ = std::make_shared<MemoryDirectory>();
};

// --- short forms --------------------------------------------------------------------------------

inline core::Write appends(std::vector<Entry> entries) {
    core::Write write;
    write.append = std::move(entries);
    return write;
}
inline core::Write votes(std::uint64_t term, core::NodeId candidate) {
    core::Write write;
    write.hard_state = core::HardState{Term{term}, candidate};
    return write;
}
inline core::Write rewrites(std::uint64_t from, std::vector<Entry> entries) {
    auto write = appends(std::move(entries));
    write.truncate_from = LogIndex{from};
    return write;
}
inline core::Write resets(LogBase base) {
    core::Write write;
    write.reset = std::move(base);
    return write;
}
// A single write.
inline Result<void> put(Opened& node, const core::Write& write) {
    return node.log->write({&write, 1});
}

// The content of a log that a run can be asked for.
struct LogContent {
    core::HardState hard_state;
    LogId base;
    core::Configuration configuration;
    std::vector<Entry> entries;

    friend bool operator==(const LogContent&, const LogContent&) = default;
};
[[nodiscard]] LogContent content_of(const Opened& node);
[[nodiscard]] std::string in_words(const LogContent& content);
inline void PrintTo(const LogContent& content, std::ostream* out) {
    *out << in_words(content);
}

// --- the state ----------------------------------------------------------------------------------

// The commands of entry `index`.
[[nodiscard]] std::vector<core::Command> batch_for(LogIndex index);
// The machine after all of them.
[[nodiscard]] core::LockMachine machine_at(LogIndex index);
[[nodiscard]] bool is_same_state(const core::LockMachine& a, const core::LockMachine& b);
// All of its rows, ascending.
[[nodiscard]] std::vector<core::Row> rows_at(LogIndex index);
// All rows of a view, in pages of so many bytes.
[[nodiscard]] Result<std::vector<core::Row>> rows_of(StateView& view, std::size_t bytes_max);
// From another node, in pieces of two rows, without finishing it.
[[nodiscard]] Result<void> begin_install(StateStore& store, const LogBase& to);

// --- random runs --------------------------------------------------------------------------------

// What was acknowledged, and what may or may not have happened besides.
struct Memory {
    LogContent log;
    std::optional<LogContent> tried;  // instead of `log`: the failed write or install, complete
    std::optional<LogBase> purging;   // done with some later write
    LogIndex committed;               // never truncated
    LogIndex saved;                   // the state may be up to here,
    LogIndex flushed;                 // and is at least up to here
    std::uint64_t epoch = 0;
};

class RandomLife {
public:
    RandomLife(std::uint64_t seed, Memory& memory) : prng_{seed}, memory_{memory} {}

    // Compares a start with the memory, and updates the memory to it. Returns what is wrong, or
    // nothing.
    std::string begin(const Opened& found);
    // One random action, and the store's result.
    Result<void> act(Opened& node);
    Result<void> write(Opened& node);
    Result<void> install(Opened& node);

private:
    Result<void> purge(Opened& node);
    Result<void> save(Opened& node);
    Result<void> flush(Opened& node);
    Result<void> look(Opened& node);
    core::Write draw_write(LogContent& log);
    [[nodiscard]] LogBase draw_install();

    core::Prng prng_;
    Memory& memory_;
    core::LockMachine machine_;
    LogIndex applied_;
};

}  // namespace mortise::storage::test
