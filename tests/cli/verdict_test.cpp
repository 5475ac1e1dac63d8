// The verdict of the demonstration must detect a wrong log.
#include "tools/mortise/demo/verdict.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/mortise/json_form.hpp"
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LogRecord event(LogRecord::Kind kind, NodeId node) {
    LogRecord record;
    record.kind = kind;
    record.node = node;
    return record;
}

LogRecord write(int at, NodeId node, std::int64_t token, const std::string& lock = "orders/1") {
    LogRecord record;
    record.at = std::chrono::milliseconds{at};
    record.node = node;
    record.lock = lock;
    record.token = FencingToken::from_raw(token);
    record.accepted = true;
    return record;
}

LogRecord late(LogRecord record, bool accepted) {
    record.claims_valid = false;
    record.accepted = accepted;
    return record;
}

// A log with every required event and without violations; a test adds violations.
std::vector<LogRecord> good_log() {
    return {
        write(1, 1, 10),
        write(3, 1, 10),
        write(4, 2, 11, "orders/2"),
        event(LogRecord::Kind::kill, 1),
        event(LogRecord::Kind::restart, 1),
        write(5, 2, 12),
        write(6, 2, 12),
        event(LogRecord::Kind::partition, 2),
        event(LogRecord::Kind::lost, 2),
        write(8, 3, 14),
        late(write(9, 2, 12), false),
        event(LogRecord::Kind::heal, 2),
    };
}

Verdict verdict_with(std::vector<LogRecord> more) {
    auto log = good_log();
    log.insert(log.end(), more.begin(), more.end());
    return judge(log, Story::faults);
}

TEST(Verdict, AGoodLogHolds) {
    const auto verdict = judge(good_log(), Story::faults);
    EXPECT_THAT(verdict.violations, ElementsAre());
    EXPECT_TRUE(verdict.holds());
    EXPECT_EQ(verdict.grants, 4U);
    EXPECT_EQ(verdict.accepted, 6U);
    EXPECT_EQ(verdict.refused, 1U);
    EXPECT_EQ(verdict.losses, 1U);
    EXPECT_EQ(verdict.kills, 1U);
    EXPECT_EQ(verdict.partitions, 1U);
}

TEST(Verdict, TwoHoldersAtOnceAreAViolation) {
    const auto verdict = verdict_with({write(20, 1, 20), write(22, 2, 21), write(24, 1, 20)});
    EXPECT_THAT(verdict.violations, Contains(HasSubstr("had it at once")));
}

TEST(Verdict, TwoHoldersAtOnceAreAViolationEvenIfTheStoreRefusedOne) {
    auto refused = write(24, 1, 20);
    refused.accepted = false;
    const auto verdict = verdict_with({write(20, 1, 20), write(22, 2, 21), refused});
    EXPECT_THAT(verdict.violations,
                ElementsAre(AllOf(HasSubstr("node 1"), HasSubstr("node 2"), HasSubstr("at once"))));
}

TEST(Verdict, OneTenureInsideAnotherIsFoundBehindAThird) {
    const auto verdict =
        verdict_with({write(20, 1, 20), write(21, 2, 21), write(25, 3, 22), write(30, 1, 20)});
    // both overlap with the first; and the token decreased
    EXPECT_EQ(verdict.violations.size(), 3U);
}

TEST(Verdict, TheSameTokenTwiceIsAViolation) {
    const auto verdict = verdict_with({write(20, 1, 20), write(22, 3, 20)});
    EXPECT_THAT(verdict.violations,
                ElementsAre(HasSubstr("after node 1 worker 0 (token 20) came")));
}

TEST(Verdict, ATokenThatGoesBackIsAViolation) {
    auto second = write(22, 2, 19);
    second.accepted = false;
    const auto verdict = verdict_with({write(20, 1, 20), second});
    EXPECT_THAT(verdict.violations, ElementsAre(HasSubstr("came node 2 worker 0 (token 19)")));
}

TEST(Verdict, AStoreThatTakesAnOldTokenIsAViolation) {
    const auto verdict = verdict_with({late(write(20, 2, 12), true)});
    EXPECT_THAT(verdict.violations, ElementsAre(HasSubstr("the store took token 12 after 14")));
}

TEST(Verdict, AStoreThatRefusesANewTokenIsAViolation) {
    auto refused = write(20, 2, 30);
    refused.accepted = false;
    EXPECT_THAT(verdict_with({refused}).violations, ElementsAre(HasSubstr("refused token 30")));
}

TEST(Verdict, AWriteWithoutATokenIsAViolation) {
    EXPECT_THAT(verdict_with({write(20, 2, 0, "orders/9")}).violations,
                ElementsAre(HasSubstr("without a token")));
}

TEST(Verdict, LocksDoNotConcernEachOther) {
    EXPECT_TRUE(
        verdict_with({write(20, 1, 20), write(21, 2, 5, "orders/3"), write(22, 1, 20)}).holds());
}

TEST(Verdict, ALateWriterClaimsNothing) {
    EXPECT_TRUE(
        verdict_with({write(20, 1, 20), late(write(21, 2, 12), false), write(22, 1, 20)}).holds());
}

TEST(Verdict, AnEmptyLogProvesNothing) {
    const auto verdict = judge({}, Story::faults);
    EXPECT_FALSE(verdict.holds());
    EXPECT_EQ(verdict.violations.size(), 5U);
}

class EachThingThatMustHappen : public ::testing::TestWithParam<LogRecord::Kind> {};

TEST_P(EachThingThatMustHappen, IsAViolationWhenItDidNot) {
    auto log = good_log();
    std::erase_if(log, [](const LogRecord& record) { return record.kind == GetParam(); });
    const auto verdict = judge(log, Story::faults);
    EXPECT_THAT(verdict.violations, Contains(HasSubstr("nothing shown")));
}

INSTANTIATE_TEST_SUITE_P(Verdict, EachThingThatMustHappen,
                         ::testing::Values(LogRecord::Kind::write, LogRecord::Kind::lost,
                                           LogRecord::Kind::kill, LogRecord::Kind::partition));

// --- the loss of power of all

std::vector<LogRecord> log_of_a_power_cut() {
    auto cut = event(LogRecord::Kind::power_cut, 1);
    cut.at = std::chrono::milliseconds{5};
    return {write(1, 1, 10), cut, event(LogRecord::Kind::restart, 1),
            event(LogRecord::Kind::era, 0), write(9, 2, 30)};
}

TEST(VerdictOfAPowerCut, AGoodLogHolds) {
    const auto verdict = judge(log_of_a_power_cut(), Story::power_cut);
    EXPECT_THAT(verdict.violations, ElementsAre());
    EXPECT_EQ(verdict.power_cuts, 1U);
    EXPECT_EQ(verdict.eras, 1U);
    EXPECT_EQ(verdict.grants, 2U);
    EXPECT_EQ(verdict.grants_after, 1U);
}

TEST(VerdictOfAPowerCut, ATokenFromBeforeIsAViolation) {
    auto log = log_of_a_power_cut();
    log.push_back(write(11, 3, 10));
    const auto verdict = judge(log, Story::power_cut);
    EXPECT_THAT(verdict.violations, Contains(HasSubstr("after node 2 worker 0 (token 30) came")));
}

TEST(VerdictOfAPowerCut, AHoldThatOutlivesItIsAViolation) {
    auto log = log_of_a_power_cut();
    log.push_back(write(10, 1, 10));
    const auto verdict = judge(log, Story::power_cut);
    EXPECT_THAT(verdict.violations, Contains(HasSubstr("had it at once")));
}

class EachThingOfAPowerCut : public ::testing::TestWithParam<LogRecord::Kind> {};

TEST_P(EachThingOfAPowerCut, IsAViolationWhenItDidNotHappen) {
    auto log = log_of_a_power_cut();
    std::erase_if(log, [](const LogRecord& record) { return record.kind == GetParam(); });
    EXPECT_THAT(judge(log, Story::power_cut).violations, Contains(HasSubstr("nothing shown")));
}

INSTANTIATE_TEST_SUITE_P(Verdict, EachThingOfAPowerCut,
                         ::testing::Values(LogRecord::Kind::write, LogRecord::Kind::power_cut,
                                           LogRecord::Kind::era));

TEST(VerdictOfAPowerCut, WithoutAGrantAfterItProvesNothing) {
    auto log = log_of_a_power_cut();
    log.pop_back();
    EXPECT_THAT(judge(log, Story::power_cut).violations,
                ElementsAre(HasSubstr("no grant after the power cut")));
}

TEST(FencedLog, RefusesOlderTokensAndWritesEveryAttemptDown) {
    const testkit::TempDirectory directory{"fenced-log-test"};
    const auto file = directory.path() / "log";
    {
        FencedLog log{file};
        EXPECT_TRUE(log.add(write(1, 1, 5)));
        EXPECT_TRUE(log.add(write(2, 1, 5)));
        EXPECT_TRUE(log.add(write(3, 2, 7)));
        EXPECT_FALSE(log.add(write(4, 1, 5)));
        EXPECT_TRUE(log.add(write(5, 1, 5, "orders/2")));
        EXPECT_FALSE(log.add(write(6, 1, 0, "orders/3")));
        EXPECT_EQ(log.records().size(), 6U);
        EXPECT_FALSE(log.records()[3].accepted);
    }
    std::ifstream lines{file};
    std::vector<bool> accepted;
    for (std::string line; std::getline(lines, line);)
        accepted.push_back(Json::parse(line).at("accepted"));
    EXPECT_THAT(accepted, ElementsAre(true, true, true, false, true, false));
}

}  // namespace
}  // namespace mortise::cli
