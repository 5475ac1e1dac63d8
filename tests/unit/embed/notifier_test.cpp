#include "embed/notifier.hpp"

#include <atomic>
#include <future>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

TEST(Notifier, RunsTasksInOrderOnAThreadOfItsOwn) {
    Notifier notifier{"test"};
    std::vector<int> order;
    std::promise<bool> own;
    for (int i = 0; i < 3; ++i)
        notifier.post([&order, i] { order.push_back(i); });
    notifier.post([&] { own.set_value(notifier.is_own_thread()); });
    EXPECT_TRUE(own.get_future().get());
    EXPECT_FALSE(notifier.is_own_thread());
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

// It would wait for ever if the second waited for the first.
TEST(Notifier, GoesOnWithTheRestWhileOneTakesItsTime) {
    Notifier notifier{"test"};
    std::promise<void> second;
    std::promise<void> first;
    auto second_ran = second.get_future();
    notifier.post([&] {
        second_ran.wait();
        first.set_value();
    });
    notifier.post([&] { second.set_value(); });
    first.get_future().wait();
    EXPECT_GE(notifier.overruns(), 1U);
}

TEST(Notifier, SurvivesWhatATaskThrows) {
    Notifier notifier{"test"};
    std::promise<void> next;
    notifier.post([] { throw std::runtime_error{"theirs"}; });
    notifier.post([&] { next.set_value(); });
    next.get_future().wait();
}

TEST(Notifier, RunsWhatWasPostedBeforeItStopsAndNothingAfter) {
    Notifier notifier{"test"};
    std::atomic<int> ran = 0;
    for (int i = 0; i < 100; ++i) {
        notifier.post([&] {
            ++ran;
            notifier.post([&] { ++ran; });
        });
    }
    notifier.stop();
    EXPECT_EQ(ran, 200);
    EXPECT_FALSE(notifier.post([&] { ++ran; }));
    EXPECT_EQ(ran, 200);
}

}  // namespace
}  // namespace mortise::detail
