// Runs of a node on a disk with faults, always the same for a seed.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {

using mortise::test::FaultyDisk;
using mortise::test::Trouble;

constexpr int acts_per_life = 6;
constexpr std::chrono::milliseconds patience{30};  // for a shortage of descriptors

using Act = std::function<Result<void>(RandomLife& life, Opened& node, int number)>;

inline Result<void> anything(RandomLife& life, Opened& node, int /*number*/) {
    return life.act(node);
}

inline Result<void> states_from_elsewhere(RandomLife& life, Opened& node, int number) {
    return number % 3 == 0 ? life.write(node) : life.install(node);
}

// Runs on a disk, always the same, until a call fails.
class Script {
public:
    Script(std::uint64_t seed, Act act) : seed_{seed}, act_{std::move(act)} {}

    // The error of the call that failed last.
    [[nodiscard]] const Error& error() const { return error_; }
    // False if it ended early.
    bool run(FaultyDisk& disk) {
        disk.watch_names(directory_.path());
        core::Prng lives{seed_};
        for (int life = 0; life < 2; ++life) {
            auto node = open(&disk);
            if (!node) {
                error_ = node.error();
                return false;
            }
            RandomLife writer{lives.next(), memory_};
            EXPECT_EQ(writer.begin(*node), "");
            for (int acts = 0; acts < acts_per_life; ++acts) {
                const auto done = act_(writer, *node, acts);
                if (done) continue;
                error_ = done.error();
                expect_it_is_over(*node, disk);
                return false;
            }
        }
        return true;
    }

    // On a disk without faults.
    void expect_everything_is_there() {
        const auto node = open(nullptr);
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ((RandomLife{0, memory_}.begin(*node)), "");
    }
    // Or the loss is detected, and this returns false.
    bool expect_nothing_is_missing_unnoticed(FaultyDisk* disk = nullptr) {
        const auto node = open(disk);
        if (!node) return true;
        EXPECT_EQ((RandomLife{0, memory_}.begin(*node)), "");
        return false;
    }

private:
    Result<Opened> open(FaultyDisk* disk) {
        if (disk == nullptr) disk = &calm_;
        return open_directory(directory_.data(), as_node_1(),
                              {mortise::test::file_system_of(*disk), disk, patience});
    }

    // The failed store keeps failing, and writes nothing more, not even when it is closed.
    static void expect_it_is_over(Opened& node, FaultyDisk& disk) {
        const bool is_log = !node.log->write({});
        const auto written = written_since(disk, is_log);
        if (is_log) {
            EXPECT_FALSE(put(node, votes(1'000'000, n2)));
            EXPECT_FALSE(node.log->purge_to({log_id(1, 1), {}}));
        } else {
            EXPECT_FALSE(node.state_store->flush());
            EXPECT_FALSE(node.state_store->write({log_id(1'000, 1'000), {}, {}}));
            EXPECT_FALSE(node.state_store->begin_install(log_id(1'000, 1'000), {}));
            EXPECT_FALSE(node.state_store->save_countdowns({}));
        }
        node = {};
        EXPECT_EQ(written_since(disk, is_log), written) << "after " << disk.failed_step();
    }

    // Writes of the failed store; the other one may continue.
    static std::vector<std::string> written_since(FaultyDisk& disk, bool is_log) {
        auto steps = disk.written_after_failure();
        std::erase_if(steps, [&](const std::string& step) {
            const bool is_of_log =
                step.find("/log/") != std::string::npos || step.ends_with("/meta");
            return is_of_log != is_log;
        });
        return steps;
    }

    std::uint64_t seed_;
    Act act_;
    TemporaryDirectory directory_;
    FaultyDisk calm_;
    Memory memory_;
    Error error_;
};

}  // namespace mortise::storage::test
