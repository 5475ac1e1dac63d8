// The disk threads on stores in memory: what they do in which order, and what they tell.
#include "embed/state_thread.hpp"

#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/memory_directory.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::detail {
namespace {

using core::LogIndex;
using core::WriteId;
using core::test::log_id;
using core::test::n1;
using core::test::n2;

// What was told, in its order.
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
                [this](core::StateInstalled installed) {
                    say("installed " + std::to_string(installed.last.index.raw()));
                },
                [this](const DiskFailure& failure) { say("failed: " + failure.why); }};
    }

    // Waits for so many words, and answers all there are.
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

// A log whose first write waits until it is let go.
class HeldLog final : public storage::LogStore {
public:
    explicit HeldLog(std::shared_future<void> go) : go_{std::move(go)} {}
    storage::Result<void> write(std::span<const core::Write> /*writes*/) override {
        go_.wait();
        return {};
    }
    storage::Result<void> purge_to(const core::LogBase& /*base*/) override { return {}; }

private:
    std::shared_future<void> go_;
};

class StateThreads : public testing::Test {
protected:
    StateThreads()
        : log_{std::make_unique<HeldLog>(go_.get_future().share()), told_.events()},
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
    Told told_;
    std::shared_ptr<storage::MemoryDirectory> directory_ =
        std::make_shared<storage::MemoryDirectory>();
    LogThread log_;
    StateThread state_;
};

const std::vector<core::Row> two{{"a", "1"}, {"b", "2"}};

TEST_F(StateThreads, InstallBehindTheWritesBefore) {
    write_log(1);
    state_.install({0, log_id(2, 9), {}, {two[0]}, false});
    state_.install({1, log_id(2, 9), {}, {two[1]}, true});
    EXPECT_EQ(directory_->applied, core::LogId{});
    go_.set_value();
    // Each thread tells of its own, the one as soon as the other may go on.
    EXPECT_THAT(told_.wait(2), testing::UnorderedElementsAre("written 1", "installed 9"));
    EXPECT_EQ(directory_->applied, log_id(2, 9));
    EXPECT_EQ(directory_->rows.size(), 2U);
}

TEST_F(StateThreads, DropAnUnfinishedInstallAtPositionZero) {
    go_.set_value();
    state_.install({0, log_id(2, 9), {}, {two[0]}, false});
    state_.install({0, log_id(3, 12), {}, {two[1]}, true});
    EXPECT_EQ(told_.wait(1).back(), "installed 12");
    EXPECT_EQ(directory_->rows, (std::map<std::string, std::string>{{"b", "2"}}));
}

// Each peer has a view of its own, which stays as it was.
TEST_F(StateThreads, ReadAViewPageByPage) {
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

TEST_F(StateThreads, AnswerNothingFromAViewThatIsClosed) {
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

TEST_F(StateThreads, StopWithTheFirstFailure) {
    go_.set_value();
    state_.install({1, log_id(2, 9), {}, {two[0]}, true});
    EXPECT_EQ(told_.wait(1).back(), "failed: memory: no install was begun");
    state_.save({log_id(1, 1), {}, two});
    state_.stop();
    EXPECT_EQ(directory_->applied, core::LogId{});
}

// P11: or the log would stay in memory until enough rows changed, or enough time went by.
TEST_F(StateThreads, FlushWhenMuchOfTheLogWaitsForIt) {
    constexpr std::size_t much = std::size_t{20} << 20U;
    go_.set_value();
    state_.save({log_id(1, 1), {}, two, much});
    state_.save({log_id(1, 2), {}, two, much});
    state_.save({log_id(1, 3), {}, two, 1});
    EXPECT_EQ(told_.wait(1), (std::vector<std::string>{"durable 2"}));
}

TEST_F(StateThreads, FlushWhenTheRowsThemselvesAreMuch) {
    go_.set_value();
    state_.save({log_id(1, 1), {}, {{"a", std::string(std::size_t{33} << 20U, 'x')}}});
    EXPECT_EQ(told_.wait(1), (std::vector<std::string>{"durable 1"}));
}

TEST_F(StateThreads, FlushOnTheWayOut) {
    go_.set_value();
    state_.save({log_id(1, 1), {}, two});
    state_.stop();
    EXPECT_EQ(told_.wait(1), (std::vector<std::string>{"durable 1"}));
}

}  // namespace
}  // namespace mortise::detail
