// The threads that serve a node: an exception that escapes ends the node, and never the host (P5).
#include "embed/threads/thread_start.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

TEST(RunOrFail, SaysNothingOfABodyThatEnds) {
    bool ran = false;
    std::vector<std::string> told;
    run_or_fail([&] { ran = true; }, [&](std::string why) { told.push_back(std::move(why)); });
    EXPECT_TRUE(ran);
    EXPECT_TRUE(told.empty());
}

TEST(RunOrFail, TellsOnceWhatEscapes) {  // B-A10
    std::vector<std::string> told;
    const auto tell = [&](std::string why) { told.push_back(std::move(why)); };
    run_or_fail([] { throw std::runtime_error{"no disk"}; }, tell);
    run_or_fail([] { throw 1; }, tell);
    EXPECT_EQ(told, (std::vector<std::string>{"no disk", "an unknown exception"}));
}

TEST(RunOrFail, TellsItWhenThereIsMemoryAgain) {  // P10
    int tries = 0;
    std::string told;
    const auto tell = [&](std::string why) {
        if (++tries < 3) throw std::bad_alloc{};
        told = std::move(why);
    };
    run_or_fail([] { throw std::runtime_error{"no disk"}; }, tell);
    EXPECT_EQ(told, "no disk");
    EXPECT_EQ(tries, 3);
}

TEST(RunOrFail, SurvivesThatNobodyCanBeTold) {
    run_or_fail([] { throw std::bad_alloc{}; }, [](std::string) { throw std::bad_alloc{}; });
}

TEST(StartThread, TakesNoSignals) {
    sigset_t blocked;
    sigemptyset(&blocked);
    start_thread_named("mortise-test", [&] {
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    }).join();
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    sigset_t ours;
    pthread_sigmask(SIG_SETMASK, nullptr, &ours);
    EXPECT_EQ(sigismember(&ours, SIGTERM), 0);
}

}  // namespace
}  // namespace mortise::detail
