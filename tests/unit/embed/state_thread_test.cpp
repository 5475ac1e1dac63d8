// The disk threads with stores in memory: the order of their work, and what they report.
#include "embed/runtime/state_thread.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <future>
#include <mutex>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/directory/memory_directory.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::detail {
namespace {

using core::LogIndex;
using core::WriteId;
using core::test::log_id;
using core::test::n1;
using core::test::n2;

// The reports, in order.
class Told {
public:
    DiskEvents events() {
        return {[this](core::WriteId id) { say("written " + std::to_string(id.raw())); },
                [this](LogIndex index) { say("durable " + std::to_string(index.raw())); },
                [this](const core::SnapshotRows& rows) {
                    {
                        const std::scoped_lock lock{mutex_};
                        rows_.push_back(rows);
                    }
                    say("rows");
                },
                [this] { say("taken"); },
                [this](core::StateInstalled installed) {
                    say("installed " + std::to_string(installed.last.index.raw()));
                },
                [this](const DiskFailure& failure) { say("failed: " + failure.why); },
                {}};
    }

    // Waits for this many reports, and returns all of them.
    std::vector<std::string> wait(std::size_t count) {
        std::unique_lock lock{mutex_};
        said_.wait(lock, [&] { return words_.size() >= count; });
        return words_;
    }
    std::vector<core::SnapshotRows> rows() {
        const std::scoped_lock lock{mutex_};
        return rows_;
    }

private:
    void say(std::string word) {
        {
            const std::scoped_lock lock{mutex_};
            words_.push_back(std::move(word));
        }
        said_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable said_;
    std::vector<std::string> words_;
    std::vector<core::SnapshotRows> rows_;
};

// A log whose first write waits until it is allowed.
class HeldLog final : public storage::LogStore {
public:
    explicit HeldLog(std::shared_future<void> go) : go_{std::move(go)} {}
    storage::Result<void> write(std::span<const core::Write> /*writes*/) override {
        go_.wait();
        return {};
    }
    storage::Result<bool> write_at_once(const core::Write& /*write*/) override { return true; }
    storage::Result<void> sync() override { return {}; }
    storage::Result<void> close() override { return {}; }
    storage::Result<void> purge_to(const core::LogBase& /*base*/) override { return {}; }

private:
    std::shared_future<void> go_;
};

// The bytes that the process has allocated; zero if that is unknown.
std::size_t bytes_in_use() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    const auto now = mallinfo2();
    return now.uordblks + now.hblkhd;
#else
    return 0;
#endif
}

// Records the order of the calls and writes nothing. Its first write waits until it is allowed.
// Examine it after its thread has ended.
struct Asked {
    std::vector<std::string> what;
    std::vector<std::size_t> in_use;  // at each write
};

class AskedStore final : public storage::StateStore {
public:
    AskedStore(Asked& asked, std::shared_future<void> go) : asked_{asked}, go_{std::move(go)} {}
    storage::Result<void> write(const storage::StateWrite& write) override {
        go_.wait();
        applied_ = write.applied.index;
        asked_.what.push_back("write " + std::to_string(applied_.raw()));
        asked_.in_use.push_back(bytes_in_use());
        return {};
    }
    storage::Result<LogIndex> flush() override { return applied_; }
    storage::Result<void> save_countdowns(const core::SavedCountdowns& /*some*/) override {
        asked_.what.emplace_back("countdowns");
        return {};
    }
    storage::Result<std::unique_ptr<storage::StateView>> view() override {
        return std::unique_ptr<storage::StateView>{};
    }
    storage::Result<void> begin_install(const core::LogId& /*last*/,
                                        const core::Configuration& /*there*/) override {
        return {};
    }
    storage::Result<void> install(std::span<const core::Row> /*rows*/) override { return {}; }
    storage::Result<void> finish_install() override { return {}; }

private:
    Asked& asked_;
    std::shared_future<void> go_;
    LogIndex applied_;
};

class StateThreadTest : public testing::Test {
protected:
    StateThreadTest()
        : log_{std::make_unique<HeldLog>(go_.get_future().share()), told_.events(), IdlePoll{true},
               std::chrono::milliseconds{1}},
          state_{std::make_unique<storage::MemoryStateStore>(directory_), log_, told_.events()} {}

    void write_log(std::uint64_t id) {
        core::Write write;
        write.id = WriteId{id};
        log_.submit(write);
    }
    void read(core::NodeId peer, std::optional<std::string> after) {
        state_.read_snapshot({peer, std::move(after), 1});
    }

    std::promise<void> go_;
    std::promise<void> held_;  // for an AskedStore
    Told told_;
    std::shared_ptr<storage::MemoryDirectory> directory_ =
        std::make_shared<storage::MemoryDirectory>();
    LogThread log_;
    StateThread state_;
};

const std::vector<core::Row> two{{"a", "1"}, {"b", "2"}};

TEST_F(StateThreadTest, InstallBehindTheWritesBefore) {  // B-D24
    write_log(1);
    state_.install({0, log_id(2, 9), {}, {two[0]}, false});
    state_.install({1, log_id(2, 9), {}, {two[1]}, true});
    EXPECT_EQ(directory_->applied, core::LogId{});
    go_.set_value();
    // Each thread reports its own work, as soon as the other one may continue.
    EXPECT_THAT(told_.wait(4),
                testing::UnorderedElementsAre("written 1", "taken", "taken", "installed 9"));
    EXPECT_EQ(directory_->applied, log_id(2, 9));
    EXPECT_EQ(directory_->rows.size(), 2U);
}

TEST_F(StateThreadTest, DropAnUnfinishedInstallAtPositionZero) {
    go_.set_value();
    state_.install({0, log_id(2, 9), {}, {two[0]}, false});
    state_.install({0, log_id(3, 12), {}, {two[1]}, true});
    EXPECT_EQ(told_.wait(3), (std::vector<std::string>{"taken", "taken", "installed 12"}));
    EXPECT_EQ(directory_->rows, (std::map<std::string, std::string>{{"b", "2"}}));
}

// Each peer has a view of its own, which does not change.
TEST_F(StateThreadTest, ReadAViewPageByPage) {  // B-S14
    go_.set_value();
    const auto configuration = core::test::voters({1, 2});
    state_.save({log_id(1, 1), configuration, two});
    read(n2, {});
    state_.save({log_id(1, 2), {}, {{"a", std::nullopt}, {"c", "3"}}});
    read(n1, {});
    read(n2, "a");
    told_.wait(3);
    const auto rows = told_.rows();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].peer, n2);
    EXPECT_EQ(rows[0].last, log_id(1, 1));
    EXPECT_EQ(rows[0].configuration, configuration);
    EXPECT_EQ(rows[0].after, std::nullopt);
    EXPECT_EQ(rows[0].rows, (std::vector{two[0]}));
    EXPECT_FALSE(rows[0].done);
    EXPECT_EQ(rows[1].last, log_id(1, 2));
    EXPECT_EQ(rows[1].rows, (std::vector{two[1]}));
    EXPECT_EQ(rows[2].last, log_id(1, 1));
    EXPECT_EQ(rows[2].after, "a");
    EXPECT_EQ(rows[2].rows, (std::vector{two[1]}));
    EXPECT_TRUE(rows[2].done);
}

TEST_F(StateThreadTest, AnswerNothingFromAViewThatIsClosed) {
    go_.set_value();
    state_.save({log_id(1, 1), {}, two});
    read(n2, {});
    state_.close_snapshot(n2);
    state_.close_snapshot(n2);
    read(n2, "a");
    read(n1, {});
    told_.wait(2);
    const auto rows = told_.rows();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].peer, n2);
    EXPECT_EQ(rows[1].peer, n1);
}

TEST_F(StateThreadTest, StopWithTheFirstFailure) {  // P5, B-F6
    go_.set_value();
    state_.install({1, log_id(2, 9), {}, {two[0]}, true});
    EXPECT_EQ(told_.wait(1).back(), "failed: memory: no install was begun");
    state_.save({log_id(1, 1), {}, two});
    state_.stop();
    EXPECT_EQ(directory_->applied, core::LogId{});
}

// P11: otherwise the log would stay in memory until enough rows change or enough time passes.
TEST_F(StateThreadTest, FlushWhenMuchOfTheLogWaitsForIt) {
    constexpr std::size_t much = std::size_t{20} << 20U;
    go_.set_value();
    state_.save({log_id(1, 1), {}, two, much});
    state_.save({log_id(1, 2), {}, two, much});
    state_.save({log_id(1, 3), {}, two, 1});
    EXPECT_EQ(told_.wait(1), (std::vector<std::string>{"durable 2"}));
}

TEST_F(StateThreadTest, FlushWhenTheRowsThemselvesAreMuch) {  // P11
    go_.set_value();
    state_.save({log_id(1, 1), {}, {{"a", std::string(std::size_t{33} << 20U, 'x')}}});
    EXPECT_EQ(told_.wait(1), (std::vector<std::string>{"durable 1"}));
}

// P11: what is written is released from memory while the rest waits.
TEST_F(StateThreadTest, KeepNothingOfWhatIsDone) {
    constexpr std::size_t heavy = std::size_t{8} << 20U;
    constexpr std::uint64_t count = 8;
    Asked asked;
    StateThread state{std::make_unique<AskedStore>(asked, held_.get_future().share()), log_,
                      told_.events()};
    go_.set_value();
    // In whatever groups it takes them: the first one delays the others.
    state.save({log_id(1, 1), {}, {}});
    for (std::uint64_t i = 2; i < 2 + count; ++i)
        state.save({log_id(1, i), {}, {{"a", std::string(heavy, 'x')}}});
    held_.set_value();
    state.stop();
    ASSERT_EQ(asked.in_use.size(), count + 1);
    if (asked.in_use[1] < count * heavy) GTEST_SKIP() << "this allocator does not say";
    EXPECT_LT(asked.in_use.back() + (count - 2) * heavy, asked.in_use[1]);
}

// S4: a restart counts from the saved values, which must not become old because much is to be
// written.
TEST_F(StateThreadTest, SaveCountdownsBetweenTwoTasks) {
    Asked asked;
    StateThread state{std::make_unique<AskedStore>(asked, held_.get_future().share()), log_,
                      told_.events()};
    go_.set_value();
    for (std::uint64_t i = 1; i <= 4; ++i)
        state.save({log_id(1, i), {}, two});
    state.save_countdowns({});
    held_.set_value();
    state.stop();
    ASSERT_EQ(asked.what.size(), 5U);
    EXPECT_THAT(asked.what, testing::Contains("countdowns"));
    EXPECT_NE(asked.what.back(), "countdowns");
}

TEST_F(StateThreadTest, FlushOnTheWayOut) {
    go_.set_value();
    state_.save({log_id(1, 1), {}, two});
    state_.stop();
    EXPECT_EQ(told_.wait(1), (std::vector<std::string>{"durable 1"}));
}

}  // namespace
}  // namespace mortise::detail
