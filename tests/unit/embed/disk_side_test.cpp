// The data directory of a node while it is in use.
#include "embed/runtime/disk_side.hpp"

#include <gtest/gtest.h>

#include "embed/runtime/log_thread.hpp"
#include "embed/runtime/state_thread.hpp"
#include "storage/directory/data_directory.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(DiskSide, CountsNoReportOfAnEarlierRun) {
    asio::io_context io;
    DescriptorWatch descriptors{io};
    DiskSide disk{descriptors, IdlePoll{true}, 50ms};
    const auto first = disk.begin_run();
    EXPECT_TRUE(disk.is_run(first));
    disk.end_run();
    EXPECT_FALSE(disk.is_run(first));
    const auto second = disk.begin_run();
    EXPECT_FALSE(disk.is_run(first));
    EXPECT_TRUE(disk.is_run(second));
}

TEST(DiskSide, IsTheNodesUntilItLetsGo) {
    asio::io_context io;
    DescriptorWatch descriptors{io};
    DiskSide disk{descriptors, IdlePoll{true}, 50ms};
    auto opened = storage::open_in_memory({.self = core::NodeId{1}});
    auto lock = std::make_shared<int>(0);
    const std::weak_ptr<int> is_locked = lock;
    disk.hold(std::move(lock), core::Incarnation{7});
    EXPECT_EQ(disk.incarnation(), core::Incarnation{7});
    disk.start(std::move(opened.log), {}, std::move(opened.state_store), {});
    disk.watch([] { return false; });
    EXPECT_FALSE(descriptors.is_whole());
    disk.stop();
    disk.close();
    EXPECT_TRUE(descriptors.is_whole());
    EXPECT_FALSE(is_locked.expired());
    disk.let_go();
    EXPECT_TRUE(is_locked.expired());
}

TEST(DiskSide, MayBeStoppedBeforeItWasStarted) {
    asio::io_context io;
    DescriptorWatch descriptors{io};
    DiskSide disk{descriptors, IdlePoll{true}, 50ms};
    disk.stop();
    disk.close();
    disk.let_go();
}

TEST(LogCounters, AddUpWhatWasWritten) {
    LogCounters counters;
    counters.count({10, 2ms});
    counters.count({20, 1ms});
    EXPECT_EQ(counters.writes, 2U);
    EXPECT_EQ(counters.bytes, 30U);
    EXPECT_EQ(counters.slowest.load(), 2ms);
}

TEST(LogCounters, CountWhatNobodyWaitedForSeparately) {
    LogCounters counters;
    counters.count({10, 2ms, LogWrite::Kind::unsynced});
    counters.count({0, 5ms, LogWrite::Kind::background_sync});
    EXPECT_EQ(counters.unsynced_writes, 1U);
    EXPECT_EQ(counters.background_syncs, 1U);
    EXPECT_EQ(counters.bytes, 10U);
    EXPECT_EQ(counters.writes, 0U);
    EXPECT_EQ(counters.slowest.load(), 0ms);
}

}  // namespace
}  // namespace mortise::detail
