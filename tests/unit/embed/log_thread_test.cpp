// Who writes the log, when it is synced, and in which order it is reported (decision 0095).
#include "embed/runtime/log_thread.hpp"

#include <condition_variable>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embed/values/clocks.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using core::WriteId;
using core::test::commands;
using core::test::log_id;
using testing::ElementsAre;

// What the store is asked for, and what is reported, in one order.
class Diary {
public:
    void say(const std::string& word) {
        const std::scoped_lock lock{mutex_};
        words_.push_back(word);
        said_.notify_all();
    }
    // Waits for this many words.
    std::vector<std::string> wait(std::size_t count) {
        std::unique_lock lock{mutex_};
        said_.wait(lock, [&] { return words_.size() >= count; });
        return words_;
    }
    std::vector<std::string> words() { return wait(0); }

private:
    std::mutex mutex_;
    std::condition_variable said_;
    std::vector<std::string> words_;
};

struct Behaviour {
    std::atomic<bool> waits = false;  // a write at once would wait
    std::atomic<bool> fails = false;  // the next sync
    std::mutex syncing;               // a sync waits for it
};

class ToldStore final : public storage::LogStore {
public:
    ToldStore(Diary& diary, Behaviour& how) : diary_{diary}, how_{how} {}
    storage::Result<void> write(std::span<const core::Write> writes) override {
        diary_.say("write " + std::to_string(writes.back().id.raw()));
        return {};
    }
    storage::Result<bool> write_at_once(const core::Write& write) override {
        if (how_.waits) return false;
        diary_.say("at once " + std::to_string(write.id.raw()));
        return true;
    }
    storage::Result<void> sync() override {
        diary_.say("sync");
        const std::scoped_lock lock{how_.syncing};
        if (how_.fails) return storage::make_error(storage::Errc::io, "no sync");
        diary_.say("synced");
        return {};
    }
    storage::Result<void> close() override {
        diary_.say("close");
        return {};
    }
    storage::Result<void> purge_to(const core::LogBase& /*base*/) override { return {}; }

private:
    Diary& diary_;
    Behaviour& how_;
};

class LogThreadTest : public testing::Test {
protected:
    void start(core::Nanoseconds interval) {
        DiskEvents events;
        events.written = [this](WriteId id) { diary_.say("told " + std::to_string(id.raw())); };
        events.failed = [this](const DiskFailure& failure) { diary_.say(failure.why); };
        log_.emplace(std::make_unique<ToldStore>(diary_, how_), std::move(events), IdlePoll{false},
                     interval);
    }
    void submit(std::uint64_t id, bool synced, std::size_t bytes = 1) {
        core::Write write;
        write.id = WriteId{id};
        write.synced = synced;
        write.append = {commands(log_id(1, id), std::string(bytes, 'x'))};
        log_->submit(std::move(write));
    }

    Diary diary_;
    Behaviour how_;
    std::optional<LogThread> log_;
};

TEST_F(LogThreadTest, WritesAtOnceAndSyncsLater) {
    start(1ms);
    submit(1, false);
    submit(2, false);
    EXPECT_THAT(std::vector(diary_.words()), testing::IsSupersetOf({"told 1", "told 2"}));
    EXPECT_TRUE(log_->wait_synced(WriteId{2}));
    EXPECT_FALSE(log_->unsynced_since());
    log_->stop();
    EXPECT_EQ(diary_.words().back(), "close");
}

// Otherwise an idle node would wake for nothing.
TEST_F(LogThreadTest, SyncsNothingThatIsSynced) {
    start(1ms);
    submit(1, true);
    ASSERT_TRUE(log_->wait_synced(WriteId{1}));
    log_->stop();
    EXPECT_THAT(diary_.words(), ElementsAre("write 1", "sync", "synced", "told 1", "close"));
}

TEST_F(LogThreadTest, KeepsTheOrder) {
    start(1h);
    how_.waits = true;
    submit(1, false);
    diary_.wait(2);
    how_.waits = false;
    {
        const std::scoped_lock lock{how_.syncing};
        submit(2, true);
        diary_.wait(4);  // within its sync
        submit(3, false);
    }
    diary_.wait(8);
    EXPECT_THAT(diary_.words(), ElementsAre("write 1", "told 1", "write 2", "sync", "synced",
                                            "told 2", "write 3", "told 3"));
}

TEST_F(LogThreadTest, WritesAtOnceDuringASyncInTheBackground) {
    start(20ms);
    const std::scoped_lock lock{how_.syncing};
    submit(1, false);
    diary_.wait(3);
    submit(2, false);
    EXPECT_THAT(diary_.words(), ElementsAre("at once 1", "told 1", "sync", "at once 2", "told 2"));
}

// P7: a leader whose disk hangs steps down, and what may be lost is bounded.
TEST_F(LogThreadTest, WaitsForASyncThatHangsAfterTenIntervals) {
    start(2ms);
    {
        const std::scoped_lock lock{how_.syncing};
        submit(1, false);
        diary_.wait(3);
        const auto since = *log_->unsynced_since();
        while (steady_now() - since <= 20ms)
            std::this_thread::yield();
        submit(2, false);
        EXPECT_THAT(diary_.words(), ElementsAre("at once 1", "told 1", "sync"));
        EXPECT_EQ(log_->unsynced_since(), since);
    }
    diary_.wait(6);
    EXPECT_EQ(diary_.words().at(5), "told 2");
}

// What waited behind a sync that hung is itself old, so it waits for its own.
TEST_F(LogThreadTest, ReportsWhatIsLateWhenItIsSynced) {
    start(20ms);
    {
        const std::scoped_lock lock{how_.syncing};
        submit(1, false);
        diary_.wait(3);
        submit(2, false);
        const auto since = steady_now();
        while (steady_now() - since <= 210ms)
            std::this_thread::yield();
        submit(3, false);
    }
    EXPECT_THAT(diary_.wait(10), ElementsAre("at once 1", "told 1", "sync", "at once 2", "told 2",
                                             "synced", "write 3", "sync", "synced", "told 3"));
}

TEST_F(LogThreadTest, SyncsEarlierIfMuchWaits) {
    start(1h);
    submit(1, false, std::size_t{4} << 20U);
    EXPECT_TRUE(log_->wait_synced(WriteId{1}));
}

TEST_F(LogThreadTest, SyncsAtOnceWhenOthersWaitToEnd) {
    start(1h);
    submit(1, false);
    log_->hurry();
    EXPECT_TRUE(log_->wait_synced(WriteId{1}));
}

TEST_F(LogThreadTest, EndsWithASyncThatFails) {  // P5
    start(1ms);
    how_.fails = true;
    submit(1, false);
    EXPECT_FALSE(log_->wait_synced(WriteId{1}));
    diary_.wait(4);
    submit(2, false);
    log_->stop();
    EXPECT_THAT(diary_.words(), ElementsAre("at once 1", "told 1", "sync", "no sync"));
}

}  // namespace
}  // namespace mortise::detail
