// The close of a node, whoever asks for it.
#include "embed/runtime/closing.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/no_threads.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using Outcome = Closing::Outcome;

constexpr core::Nanoseconds long_enough = 30s;

// What the threads of a test have in common with the node that ends.
struct Ending {
    std::atomic<int> ends = 0;
    std::promise<void> may_be_quiet;
    std::promise<void> disk_answers;
    std::promise<void> gone;
};

class ClosingNode {
public:
    explicit ClosingNode(std::shared_ptr<Ending> ending) : ending_{std::move(ending)} {}
    ~ClosingNode() { ending_->gone.set_value(); }
    ClosingNode(const ClosingNode&) = delete;
    ClosingNode& operator=(const ClosingNode&) = delete;

    Closing closing{[this] {
        ++ending_->ends;
        ending_->may_be_quiet.get_future().wait();
        closing.quiet();
        ending_->disk_answers.get_future().wait();
    }};

private:
    std::shared_ptr<Ending> ending_;
};

class ClosingTest : public ::testing::Test {
protected:
    const std::shared_ptr<Ending> ending_ = std::make_shared<Ending>();
    std::shared_ptr<ClosingNode> node_ = std::make_shared<ClosingNode>(ending_);
};

TEST_F(ClosingTest, EndsTheNodeOnce) {
    ending_->may_be_quiet.set_value();
    ending_->disk_answers.set_value();
    EXPECT_EQ(node_->closing.close(node_, false, long_enough), Outcome::done);
    EXPECT_TRUE(node_->closing.is_done());
    EXPECT_EQ(node_->closing.close(node_, false, long_enough), Outcome::done);
    EXPECT_EQ(node_->closing.close(node_, true, long_enough), Outcome::done);
    node_->closing.close_in_time(node_, long_enough);
    node_->closing.here();
    EXPECT_EQ(ending_->ends, 1);
}

TEST_F(ClosingTest, ASecondCallerWaitsForTheFirst) {
    std::thread first{[&] { node_->closing.here(); }};
    while (ending_->ends == 0)
        std::this_thread::yield();
    std::atomic<bool> returned = false;
    std::thread second{[&] {
        node_->closing.here();
        returned = true;
    }};
    ending_->may_be_quiet.set_value();
    EXPECT_FALSE(returned);
    ending_->disk_answers.set_value();
    first.join();
    second.join();
    EXPECT_EQ(ending_->ends, 1);
}

// The last owner may be gone by then: the thread that closes the node owns it.
TEST_F(ClosingTest, OnlyBeginsOnAThreadOfTheNode) {
    auto gone = ending_->gone.get_future();
    EXPECT_EQ(node_->closing.close(node_, true, long_enough), Outcome::begun);
    node_.reset();
    ending_->may_be_quiet.set_value();
    EXPECT_EQ(gone.wait_for(0s), std::future_status::timeout);
    ending_->disk_answers.set_value();
    EXPECT_EQ(gone.wait_for(long_enough), std::future_status::ready);
    EXPECT_EQ(ending_->ends, 1);
}

TEST_F(ClosingTest, DoesNotWaitForAnUnresponsiveDisk) {
    auto gone = ending_->gone.get_future();
    ending_->may_be_quiet.set_value();
    EXPECT_EQ(node_->closing.close(node_, false, 10ms), Outcome::unresponsive);
    EXPECT_FALSE(node_->closing.is_done());
    ending_->disk_answers.set_value();
    node_->closing.here();
    EXPECT_TRUE(node_->closing.is_done());
    node_.reset();
    EXPECT_EQ(gone.wait_for(long_enough), std::future_status::ready);
}

TEST_F(ClosingTest, WaitsForCodeOfTheProgramHoweverLongItTakes) {
    std::thread later{[&] {
        std::this_thread::sleep_for(50ms);
        ending_->may_be_quiet.set_value();
        ending_->disk_answers.set_value();
    }};
    EXPECT_EQ(node_->closing.close(node_, false, long_enough), Outcome::done);
    later.join();
}

// Nobody can close it: a thread of the node cannot wait for itself.
TEST_F(ClosingTest, StaysAliveIfAThreadOfTheNodeHasNoOtherThatClosesIt) {
    const auto owner = std::make_shared<int>();
    {
        const test::NoThreads none;
        EXPECT_EQ(node_->closing.close(owner, true, long_enough), Outcome::kept);
    }
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(ending_->ends, 0);
    EXPECT_FALSE(node_->closing.is_done());
}

TEST_F(ClosingTest, EndsTheNodeOnTheCallersThreadIfThereIsNoOther) {
    ending_->may_be_quiet.set_value();
    ending_->disk_answers.set_value();
    const test::NoThreads none;
    EXPECT_EQ(node_->closing.close(node_, false, long_enough), Outcome::done);
    EXPECT_EQ(ending_->ends, 1);
}

TEST_F(ClosingTest, ADestructorWaitsForNothingLonger) {
    node_->closing.close_in_time(node_, 10ms);
    EXPECT_FALSE(node_->closing.is_done());
    ending_->may_be_quiet.set_value();
    ending_->disk_answers.set_value();
    node_->closing.here();
    EXPECT_EQ(ending_->ends, 1);
}

}  // namespace
}  // namespace mortise::detail
