#include "embed/threads/questions.hpp"

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(Questions, AreAnsweredByWhoeverIsWoken) {
    std::promise<void> woken;
    Questions questions{[&] { woken.set_value(); }};
    auto answer =
        std::async(std::launch::async, [&] { return questions.ask([] { return 7; }, 1h); });
    woken.get_future().wait();
    questions.answer_all();
    EXPECT_EQ(answer.get(), 7);
}

TEST(Questions, GetNoAnswerInTime) {  // P6
    Questions questions{[] {}};
    EXPECT_EQ(questions.ask([] { return 7; }, 1ns), std::nullopt);
    questions.answer_all();  // late, and without effect
}

// A thread that asks a node which closes must not wait for an answer that will not come.
TEST(Questions, AreSentAwayAtTheEnd) {
    std::promise<void> woken;
    Questions questions{[&] { woken.set_value(); }};
    auto answer =
        std::async(std::launch::async, [&] { return questions.ask([] { return 7; }, 1h); });
    woken.get_future().wait();
    questions.close();
    EXPECT_EQ(answer.get(), std::nullopt);
    EXPECT_EQ(questions.ask([] { return 7; }, 1h), std::nullopt);
    questions.answer_all();
}

}  // namespace
}  // namespace mortise::detail
