#include "tests/check/history_file.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/check/made_history.hpp"

namespace mortise::check {

namespace {

Calls read(const std::string& text) {
    std::istringstream in{text};
    return read_history(in);
}

std::string complaint_about(const std::string& text) {
    try {
        (void)read(text);
    } catch (const BadHistory& bad) {
        return bad.what();
    }
    return {};
}

TEST(HistoryFile, ReadsWhatItWrote) {
    auto calls = made_history({.seed = 3, .names = 3});
    calls.front().hold = 7;
    std::string text;
    for (const auto& call : calls)
        text += to_line(call) + "\n";
    EXPECT_EQ(read(text), calls);
}

TEST(HistoryFile, WhatIsLeftOutIsUnknown) {
    const auto calls = read(R"({"process":"a","operation":"acquire","name":"x","invoke":5})");
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].outcome, Outcome::unknown);
    EXPECT_EQ(calls[0].mode, core::LockMode::exclusive);
    EXPECT_FALSE(calls[0].returned.has_value());
}

TEST(HistoryFile, SaysWhichLineIsWrong) {
    using testing::HasSubstr;
    EXPECT_THAT(complaint_about("\n\nnonsense"), HasSubstr("line 3"));
    const std::string head = R"({"process":"a","name":"x","invoke":5,"return":9,)";
    EXPECT_THAT(complaint_about(head + R"("operation":"grab"})"), HasSubstr("no such word: grab"));
    EXPECT_THAT(complaint_about(head + R"("operation":"acquire","outcome":"granted"})"),
                HasSubstr("without a token"));
    EXPECT_THAT(complaint_about(head + R"("operation":"release","token":"-1"})"),
                HasSubstr("no token"));
    EXPECT_THAT(complaint_about(R"({"process":"a","operation":"acquire","name":"x","invoke":5,)"
                                R"("return":4})"),
                HasSubstr("returns before it began"));
    EXPECT_THAT(complaint_about(R"({"process":"a","operation":"try","invoke":5})"),
                HasSubstr("without a name"));
}

}  // namespace

}  // namespace mortise::check
