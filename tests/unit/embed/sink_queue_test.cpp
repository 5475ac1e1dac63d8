#include "embed/threads/sink_queue.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

// A sink that blocks until it may go on.
class SinkQueueTest : public testing::Test {
protected:
    using Queue = SinkQueue<int>;

    void add(int number) { queue_->add(number, notifier_); }
    void stop() { notifier_.stop(); }

    std::promise<void> promise_;
    std::shared_future<void> go_on_ = promise_.get_future().share();
    std::promise<void> begun_;
    std::vector<int> seen_;
    std::atomic<int> asked_ = 0;
    Notifier notifier_{"test"};
    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>(
        [this](int number) {
            if (number == 1) begun_.set_value();
            go_on_.wait();
            seen_.push_back(number);
        },
        4, [this] { ++asked_; });
};

TEST_F(SinkQueueTest, SaysWhenThereIsRoomAgain) {  // P11
    add(1);
    begun_.get_future().wait();
    EXPECT_EQ(queue_->room(), 4U);
    for (int number = 2; number <= 5; ++number)
        add(number);
    EXPECT_EQ(queue_->room(), 0U);
    add(6);  // there is no room for it
    EXPECT_EQ(asked_, 0);
    promise_.set_value();
    stop();
    EXPECT_EQ(asked_, 1);
    EXPECT_EQ(seen_, (std::vector{1, 2, 3, 4, 5}));
    EXPECT_EQ(queue_->room(), 4U);
}

TEST_F(SinkQueueTest, DoesNotSayItToWhoDidNotAsk) {
    promise_.set_value();
    for (int number = 1; number <= 3; ++number)
        add(number);
    stop();
    EXPECT_EQ(asked_, 0);
    EXPECT_EQ(seen_, (std::vector{1, 2, 3}));
}

TEST_F(SinkQueueTest, EndsWithItsSubscription) {
    promise_.set_value();
    auto subscription = Queue::subscription_of(queue_);
    subscription.end();
    add(1);
    stop();
    EXPECT_TRUE(seen_.empty());
}

}  // namespace
}  // namespace mortise::detail
