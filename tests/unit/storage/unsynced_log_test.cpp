// Writes that are acknowledged in the page cache (docs/decisions/0095): what a loss of power takes,
// and what it leaves.
#include <algorithm>
#include <fstream>
#include <thread>

#include "storage/directory/directory_reader.hpp"
#include "storage/files/meta_file.hpp"
#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

using core::Unsynced;
using mortise::test::FaultyDisk;
using mortise::test::Trouble;

core::Write marks(Unsynced mark) {
    core::Write write;
    write.unsynced = mark;
    return write;
}
core::Write unsynced(std::vector<Entry> entries) {
    auto write = appends(std::move(entries));
    write.synced = false;
    return write;
}
Entry sealed(LogId id) {
    return core::make_entry(id, core::EntryKind::sealed_commands, core::Bytes{std::string{"s"}});
}

// The machine is booted: the former run has another boot id.
void boot(const std::filesystem::path& directory) {
    auto file = MetaFile::open(directory / "meta", nullptr);
    ASSERT_TRUE(file) << file.error().what;
    auto meta = file->meta();
    meta.life.boot_id = "another boot";
    ASSERT_TRUE(file->write(std::move(meta), Durable::yes));
}

// The formats of the slots of `meta` that were written.
std::vector<int> formats_in(const std::filesystem::path& directory) {
    std::ifstream file{directory / "meta", std::ios::binary};
    std::vector<int> formats;
    for (std::size_t slot = 0; slot < MetaFile::slots; ++slot) {
        constexpr std::size_t format_at = 8;
        file.seekg(static_cast<std::streamoff>(slot * MetaFile::slot_bytes + format_at));
        if (const auto format = file.get(); format != 0) formats.push_back(format);
    }
    return formats;
}

class UnsyncedLog : public testing::Test {
protected:
    Result<Opened> open() { return open(disk_); }
    Result<Opened> open(FaultyDisk& disk) {
        return open_directory(path_, as_node_1(), {mortise::test::file_system_of(disk), &disk});
    }
    // A node in the mode, with entries 1 (synced) and 2 (not).
    Opened begin() {
        auto node = open();
        EXPECT_TRUE(node) << node.error().what;
        EXPECT_TRUE(put(*node, appends({one_})));
        EXPECT_TRUE(put(*node, marks(Unsynced::entries)));
        EXPECT_TRUE(put(*node, unsynced({two_})));
        return *std::move(node);
    }

    TemporaryDirectory directory_;
    std::filesystem::path path_ = directory_.data();
    FaultyDisk disk_;
    const Entry one_ = commands(log_id(1, 1), "one");
    const Entry two_ = commands(log_id(1, 2), "two");
    const Entry three_ = commands(log_id(1, 3), "three");
};

TEST_F(UnsyncedLog, LosesNothingWhenAProcessIsKilled) {
    begin() = {};  // not closed
    {
        const auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(node->state.raft.entries, (std::vector{one_, two_}));
        EXPECT_EQ(node->state.raft.unsynced, Unsynced::entries);
    }
    // What that start has found counts as acknowledged.
    disk_.lose_unsynced(1);
    boot(path_);
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.raft.entries, (std::vector{one_, two_}));
    EXPECT_EQ(node->state.raft.unsynced, Unsynced::forgotten);
}

TEST_F(UnsyncedLog, DemandsEverythingOnTheSameBoot) {
    begin() = {};
    std::filesystem::path newest;
    for (const auto& file : std::filesystem::directory_iterator{path_ / "log"})
        if (file.path().extension() == ".log") newest = std::max(newest, file.path());
    std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
    const auto node = open();
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().code, Errc::damaged) << node.error().what;
}

TEST_F(UnsyncedLog, HasNoMarkAfterAnOrderlyClose) {
    auto node = begin();
    const auto formats = formats_in(path_);
    EXPECT_EQ(std::ranges::count(formats, 2), 2);  // the one of the mark, and the newest
    ASSERT_TRUE(node.log->close());
    node = {};
    disk_.lose_unsynced(1);
    EXPECT_EQ(formats_in(path_), (std::vector{1, 1, 1, 1}));
    boot(path_);
    const auto again = open();
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->state.raft.entries, (std::vector{one_, two_}));
    EXPECT_EQ(again->state.raft.unsynced, Unsynced::nothing);
}

TEST_F(UnsyncedLog, StaysForgottenUntilItHasRecovered) {
    begin() = {};
    boot(path_);
    for (int start = 0; start < 3; ++start) {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(node->state.raft.unsynced, Unsynced::forgotten);
        if (start == 1) {
            ASSERT_TRUE(node->log->close());
        }
    }
    {
        auto node = open();
        ASSERT_TRUE(node && put(*node, marks(Unsynced::nothing)));
    }
    const auto node = open();
    ASSERT_TRUE(node);
    EXPECT_EQ(node->state.raft.unsynced, Unsynced::nothing);
}

// A start that was cut short after it has set the mark is repeated as it was.
TEST_F(UnsyncedLog, DemandsNothingMoreInASecondStartAfterALossOfPower) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::filesystem::remove_all(path_);
        begin() = {};
        disk_.lose_unsynced(seed);
        boot(path_);
        core::Prng prng{seed};
        for (int start = 0; start < 3; ++start) {
            disk_.trouble_at(1 + prng.below(60), Trouble::power_off);
            static_cast<void>(open());
            disk_.lose_unsynced(prng.next());
        }
        const auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_GE(node->state.raft.entries.size(), 1U);
        EXPECT_EQ(node->state.raft.unsynced, Unsynced::forgotten);
    }
}

TEST_F(UnsyncedLog, WritesNothingWithoutASyncThatMustHaveOne) {
    const auto two = log_id(1, 2);
    auto vote = votes(2, n2);
    auto rewrite = rewrites(1, {commands(log_id(2, 1))});
    auto reset = resets({log_id(3, 7), {}});
    auto mark = marks(Unsynced::entries);
    std::vector<core::Write> unfit{vote,
                                   rewrite,
                                   reset,
                                   mark,
                                   appends({sealed(two)}),
                                   appends({core::test::configures(two, {})}),
                                   appends({core::make_entry(two, core::EntryKind::era, {})})};
    for (auto& write : unfit) {
        std::filesystem::remove_all(path_);
        auto node = open();
        ASSERT_TRUE(node && put(*node, appends({one_})) && put(*node, marks(Unsynced::entries)));
        write.synced = false;
        EXPECT_FALSE(node->log->write_at_once(write));
    }
    std::filesystem::remove_all(path_);
    auto node = open();
    ASSERT_TRUE(node);
    EXPECT_FALSE(node->log->write_at_once(unsynced({one_})));  // before the mark
}

TEST_F(UnsyncedLog, LeavesToOthersWhatWouldWaitForTheDisk) {
    auto node = begin();
    EXPECT_FALSE(*node.log->write_at_once(appends({three_})));
    EXPECT_TRUE(*node.log->write_at_once(unsynced({three_})));
    ASSERT_TRUE(node.state_store->write({one_.id, {}, rows_at(LogIndex{1})}));
    ASSERT_TRUE(node.state_store->flush());
    ASSERT_TRUE(node.log->purge_to({one_.id, {}}));
    const auto four = unsynced({commands(log_id(1, 4))});
    EXPECT_FALSE(*node.log->write_at_once(four));
    ASSERT_TRUE(put(node, four));  // with the purge, and therefore synced
    node = {};
    disk_.lose_unsynced(3);
    boot(path_);
    const auto again = open();
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->state.raft.base, one_.id);
    EXPECT_EQ(again->state.raft.entries.back(), four.append.front());
}

// A file is synced before the next one is begun, by the thread that may wait.
TEST_F(UnsyncedLog, LosesOnlyTheEndWhenItHasSeveralFiles) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        std::filesystem::remove_all(path_);
        auto node = begin();
        std::vector<Entry> written{one_, two_};
        std::size_t synced = 0;
        while (written.size() < 40 && (synced == 0 || written.size() < synced + 3)) {
            const auto next = written.back().id.index.next();
            written.push_back(commands({Term{1}, next}, std::string(std::size_t{2} << 20U, 'x')));
            const auto write = unsynced({written.back()});
            const auto done = node.log->write_at_once(write);
            ASSERT_TRUE(done) << done.error().what;
            if (*done) continue;
            EXPECT_EQ(synced, 0U);
            synced = written.size() - 1;
            ASSERT_TRUE(put(node, write));
        }
        ASSERT_NE(synced, 0U);
        disk_.trouble_at(1, Trouble::power_off);
        node = {};
        disk_.lose_unsynced(seed);
        boot(path_);
        const auto again = open();
        ASSERT_TRUE(again) << again.error().what;
        const auto& found = again->state.raft.entries;
        EXPECT_GE(found.size(), synced);
        ASSERT_LE(found.size(), written.size());
        EXPECT_TRUE(std::ranges::equal(found, std::span{written}.first(found.size())));
    }
}

// --- syncs --------------------------------------------------------------------------------------

// Syncs of the log wait until they are let go.
class HeldSyncs final : public rocksdb::FileSystemWrapper {
public:
    HeldSyncs() : FileSystemWrapper{rocksdb::FileSystem::Default()} {}
    [[nodiscard]] const char* Name() const override { return "HeldSyncs"; }

    void hold() {
        const std::scoped_lock lock{mutex_};
        is_held_ = true;
    }
    void wait_for_one() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return waiting_; });
    }
    void let_go() {
        const std::scoped_lock lock{mutex_};
        is_held_ = false;
        changed_.notify_all();
    }
    rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override {
        auto status = target()->NewWritableFile(path, options, file, debug);
        if (status.ok() && path.ends_with(".log"))
            *file = std::make_unique<File>(std::move(*file), *this);
        return status;
    }

private:
    class File final : public rocksdb::FSWritableFileOwnerWrapper {
    public:
        File(std::unique_ptr<rocksdb::FSWritableFile>&& file, HeldSyncs& syncs)
            : FSWritableFileOwnerWrapper{std::move(file)}, syncs_{syncs} {}
        rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
            syncs_.wait();
            return target()->Sync(options, debug);
        }

    private:
        HeldSyncs& syncs_;
    };

    void wait() {
        std::unique_lock lock{mutex_};
        if (!is_held_) return;
        waiting_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !is_held_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_held_ = false;
    bool waiting_ = false;
};

TEST_F(UnsyncedLog, GoesOnDuringASyncThatDoesNotCoverIt) {
    const auto files = std::make_shared<HeldSyncs>();
    auto node = open_directory(path_, as_node_1(), {files, nullptr});
    ASSERT_TRUE(node && put(*node, appends({one_})) && put(*node, marks(Unsynced::entries)));
    ASSERT_TRUE(put(*node, unsynced({two_})));
    files->hold();
    std::thread syncing{[&] { EXPECT_TRUE(node->log->sync()); }};
    files->wait_for_one();
    EXPECT_TRUE(*node->log->write_at_once(unsynced({three_})));
    files->let_go();
    syncing.join();
    const auto four = commands(log_id(1, 4));
    EXPECT_TRUE(*node->log->write_at_once(unsynced({four})));
    const auto meta = MetaFile::read(path_ / "meta", nullptr);
    ASSERT_TRUE(meta);
    EXPECT_EQ(meta->last.id, four.id);
    EXPECT_EQ(meta->synced.id, two_.id);
}

// The kernel reports an error once, and may have dropped what it could not write.
TEST_F(UnsyncedLog, IsForgottenAfterASyncThatFailed) {
    auto node = begin();
    disk_.trouble_at(1, Trouble::once);
    ASSERT_FALSE(node.log->sync());
    EXPECT_NE(disk_.failed_step().find("sync "), std::string::npos) << disk_.failed_step();
    disk_.mend();
    EXPECT_FALSE(node.log->sync());
    EXPECT_FALSE(node.log->write_at_once(unsynced({three_})));
    EXPECT_FALSE(node.log->close());
    node = {};
    disk_.lose_unsynced(2, "/log/");
    const auto again = open();
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->state.raft.entries.front(), one_);
    EXPECT_EQ(again->state.raft.unsynced, Unsynced::forgotten);
}

// --- losses of power ----------------------------------------------------------------------------

// A run in the mode that remembers what it has written, until the power fails.
class MarkedLife {
public:
    explicit MarkedLife(std::uint64_t seed) : prng_{seed} {}

    void run(Opened& node) {
        if (!put(node, marks(Unsynced::entries))) return;
        for (int act = 0; act < 40; ++act) {
            if (!this->act(node)) return;
        }
    }
    // What is wrong with what a start has found, or nothing.
    std::string examine(const Opened& found) {
        const auto& raft = found.state.raft;
        const bool is_state =
            raft.hard_state == hard_state_ || (tried_ && raft.hard_state == tried_->hard_state);
        if (!is_state) return "another vote";
        const auto& entries = raft.entries;
        if (is_prefix(entries, entries_) && entries.size() >= synced_) return {};
        if (tried_ && entries == *tried_append_) return {};
        if (tried_ && is_prefix(entries, *tried_append_) && entries.size() >= synced_) return {};
        return "found " + std::to_string(entries.size()) + " entries, of " +
               std::to_string(entries_.size()) + " of which " + std::to_string(synced_) +
               " were synced";
    }

private:
    static bool is_prefix(const std::vector<Entry>& a, const std::vector<Entry>& of) {
        return a.size() <= of.size() && std::equal(a.begin(), a.end(), of.begin());
    }
    Entry draw(std::size_t behind, bool is_sealed) {
        const LogId id{hard_state_.term, LogIndex{behind + 1}};
        if (is_sealed) return sealed(id);
        return commands(id, std::string(prng_.below(prng_.one_in(4) ? 40'000 : 200), 'y'));
    }
    bool act(Opened& node) {
        const auto what = prng_.below(10);
        if (what == 0) {
            const auto covers = entries_.size();
            if (!node.log->sync()) return false;
            synced_ = covers;
            return true;
        }
        core::Write write;
        auto after = entries_;
        if (what == 1) {
            write.hard_state = core::HardState{hard_state_.term.next(), n2};
        } else if (what == 2 && !after.empty()) {
            after.resize(prng_.below(after.size()));
            write.truncate_from = LogIndex{after.size() + 1};
        }
        write.synced = what < 4;
        for (auto left = write.synced ? prng_.below(3) : 1 + prng_.below(3); left > 0; --left) {
            after.push_back(draw(after.size(), write.synced && prng_.one_in(2)));
            write.append.push_back(after.back());
        }
        tried_ = write;
        if (!write.hard_state) tried_->hard_state = hard_state_;
        tried_append_ = after;
        if (!carry_out(node, write)) return false;
        hard_state_ = *tried_->hard_state;
        tried_.reset();
        entries_ = std::move(after);
        if (write.synced) synced_ = entries_.size();
        return true;
    }
    bool carry_out(Opened& node, const core::Write& write) {
        if (write.synced || prng_.one_in(2)) return put(node, write).has_value();
        const auto done = node.log->write_at_once(write);
        return done && (*done || put(node, write));
    }

    core::Prng prng_;
    std::vector<Entry> entries_;
    std::size_t synced_ = 0;
    core::HardState hard_state_{Term{1}, {}};
    std::optional<core::Write> tried_;
    std::optional<std::vector<Entry>> tried_append_;
};

TEST_F(UnsyncedLog, LosesOnlyTheEndThatWasNotSyncedWheneverThePowerFails) {  // P4
    constexpr std::uint64_t steps = 150;
    for (std::uint64_t step = 1; step <= 3 * steps && !HasFailure(); ++step) {
        SCOPED_TRACE(testing::Message() << "step " << step);
        std::filesystem::remove_all(path_);
        FaultyDisk disk;
        MarkedLife life{step};
        {
            auto node = open(disk);
            ASSERT_TRUE(node && put(*node, votes(1, {})));
            disk.trouble_at(1 + step % steps, Trouble::power_off);
            life.run(*node);
        }
        disk.lose_unsynced(step);
        boot(path_);
        const auto read = read_directory(path_);
        auto node = open();
        ASSERT_TRUE(node) << node.error().what << " after " << disk.failed_step();
        EXPECT_EQ(life.examine(*node), "") << disk.failed_step();
        ASSERT_TRUE(read);
        EXPECT_EQ(read->entries, node->state.raft.entries);
        EXPECT_TRUE(read->damage.empty());
        EXPECT_TRUE(step % steps < 4 || node->state.raft.unsynced == Unsynced::forgotten);
    }
}

// What was synced is demanded after a loss of power as well.
TEST_F(UnsyncedLog, IsDamagedWhenItLacksWhatWasSynced) {
    int noticed = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::filesystem::remove_all(path_);
        FaultyDisk disk;
        {
            auto node = open(disk);
            ASSERT_TRUE(node && put(*node, appends({one_})));
            ASSERT_TRUE(put(*node, marks(Unsynced::entries)));
            disk.lie_about_syncs_of("/log/");
            ASSERT_TRUE(put(*node, appends({two_})));
            ASSERT_TRUE(put(*node, unsynced({three_})));
            disk.trouble_at(1, Trouble::power_off);
        }
        disk.lose_unsynced(seed, "/log/");
        boot(path_);
        const auto node = open();
        if (node) {
            EXPECT_GE(node->state.raft.entries.size(), 2U);
            continue;
        }
        EXPECT_EQ(node.error().code, Errc::damaged) << node.error().what;
        ++noticed;
    }
    EXPECT_GT(noticed, 0);
}

}  // namespace
}  // namespace mortise::storage::test
