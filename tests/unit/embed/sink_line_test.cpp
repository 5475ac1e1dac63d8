#include "embed/threads/sink_line.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

// A sink that blocks until it may go on.
class SinkLineTest : public testing::Test {
protected:
    using Line = SinkLine<int>;

    void add(int number) { line_->add(number, notifier_); }
    void stop() { notifier_.stop(); }

    std::promise<void> promise_;
    std::shared_future<void> go_on_ = promise_.get_future().share();
    std::promise<void> begun_;
    std::vector<int> seen_;
    std::atomic<int> asked_ = 0;
    Notifier notifier_{"test"};
    std::shared_ptr<Line> line_ = std::make_shared<Line>(
        [this](int number) {
            if (number == 1) begun_.set_value();
            go_on_.wait();
            seen_.push_back(number);
        },
        4, [this] { ++asked_; });
};

TEST_F(SinkLineTest, SaysWhenThereIsRoomAgain) {  // P11
    add(1);
    begun_.get_future().wait();
    EXPECT_EQ(line_->room(), 4U);
    for (int number = 2; number <= 5; ++number)
        add(number);
    EXPECT_EQ(line_->room(), 0U);
    add(6);  // there is no room for it
    EXPECT_EQ(asked_, 0);
    promise_.set_value();
    stop();
    EXPECT_EQ(asked_, 1);
    EXPECT_EQ(seen_, (std::vector{1, 2, 3, 4, 5}));
    EXPECT_EQ(line_->room(), 4U);
}

TEST_F(SinkLineTest, DoesNotSayItToWhoDidNotAsk) {
    promise_.set_value();
    for (int number = 1; number <= 3; ++number)
        add(number);
    stop();
    EXPECT_EQ(asked_, 0);
    EXPECT_EQ(seen_, (std::vector{1, 2, 3}));
}

TEST_F(SinkLineTest, EndsWithItsSubscription) {
    promise_.set_value();
    auto subscription = Line::subscription_of(line_);
    subscription.end();
    add(1);
    stop();
    EXPECT_TRUE(seen_.empty());
}

}  // namespace
}  // namespace mortise::detail
