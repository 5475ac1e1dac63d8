// The end of a node while the program is still using it.
#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class Closing : public OneNode {};

TEST_F(Closing, ACallbackMayCloseWhileAnotherThreadDoes) {  // P10
    const auto hold = node_.acquire("x");
    bool returned = false;
    const std::stop_callback on_lost{hold.lost(), [&] {
                                         // it waits for this callback now
                                         std::this_thread::sleep_for(50ms);
                                         node_.close();
                                         returned = true;
                                     }};
    node_.close();
    EXPECT_TRUE(returned);
}

TEST_F(Closing, EndsWithManyCallsInFlight) {  // P10
    std::atomic<int> answered = 0;
    std::string why;
    const auto events = node_.on_event([&](const NodeEvent& event) {
        if (event.kind == NodeEvent::Kind::stopped) why = event.text;
    });
    constexpr int calls = 3'000;
    for (int i = 0; i < calls; ++i)
        async_acquire(node_, std::to_string(i), [&](std::error_code, const Hold&) { ++answered; });
    while (answered == 0)  // some are in the log by now, the others are on their way
        std::this_thread::yield();
    node_.close();
    EXPECT_EQ(answered, calls);
    EXPECT_EQ(why, "") << "it failed instead";
}

// A loss is notified at once, whatever other callbacks are running.
TEST_F(Closing, ALossIsToldWhileHandlersTakeTheirTime) {
    const auto hold = node_.acquire("x");
    std::promise<void> lost;
    const std::stop_callback on_lost{hold.lost(), [&] { lost.set_value(); }};
    std::promise<void> enough;
    const auto until_then = enough.get_future().share();
    for (int i = 0; i < 8; ++i)
        async_try_acquire(node_, "x", [=](std::error_code, const Hold&) { until_then.wait(); });
    std::thread closer{[&] { node_.close(); }};
    EXPECT_EQ(lost.get_future().wait_for(patience), std::future_status::ready);
    enough.set_value();
    closer.join();
}

// No thread waits for an answer that will not come: call_timeout is an hour here.
TEST(ClosingNode, AnswersWhoAsksMeanwhile) {
    for (int round = 0; round < 5; ++round) {
        auto config = Config::in_memory();
        config.timing.call_timeout = 1h;
        Node node{config};
        std::atomic<int> asking = 0;
        std::vector<std::future<void>> done;
        for (int i = 0; i < 3; ++i) {
            done.push_back(std::async(std::launch::async, [&] {
                ++asking;
                while (!node.status().stopped)
                    std::ignore = node.metrics();
            }));
        }
        while (asking != 3)
            std::this_thread::yield();
        node.close();
        for (auto& one : done)
            one.wait();
    }
}

TEST(ClosingNode, ADestructorDoesNotWaitForACallbackThatDoesNotEnd) {  // P10
    auto kept = std::make_shared<int>();
    const std::weak_ptr<int> runtime = kept;
    auto config = Config::in_memory();
    config.timing.close_timeout = 100ms;
    config.log.sink = [kept = std::move(kept)](LogLevel, std::string_view) {};
    auto node = std::make_unique<Node>(std::move(config));
    ASSERT_TRUE(node->wait_ready(std::chrono::steady_clock::now() + patience));
    std::promise<void> begun;
    std::promise<void> enough;
    async_acquire(*node, "x", [&](std::error_code, const Hold&) {
        begun.set_value();
        enough.get_future().wait();
    });
    begun.get_future().wait();
    auto gone = std::async(std::launch::async, [&] { node.reset(); });
    EXPECT_EQ(gone.wait_for(patience), std::future_status::ready);
    enough.set_value();
    while (!runtime.expired())  // what was left to end by itself has ended
        std::this_thread::yield();
}

}  // namespace
}  // namespace mortise
