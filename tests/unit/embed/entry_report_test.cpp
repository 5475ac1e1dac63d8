// What a member counts and reports of the entries that it applies.
#include "embed/runtime/entry_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

core::Applied entry_at(std::uint64_t index, core::Outcomes outcomes = {}) {
    core::Applied applied;
    applied.entry.id = {core::Term{1}, core::LogIndex{index}};
    applied.outcomes = std::move(outcomes);
    return applied;
}

core::LockBroken break_of(std::string name) {
    core::LockBroken broken;
    broken.name = std::move(name);
    broken.token = core::FencingToken{7};
    broken.reason = "it hangs";
    return broken;
}

class EntryReportTest : public ::testing::Test {
protected:
    EntryReportTest() {
        subscription_ = events_.subscribe(
            [this](const NodeEvent& event) { told_.push_back(event.name + " " + event.text); });
        report_.begin_after({core::Term{1}, core::LogIndex{5}});
    }

    [[nodiscard]] LogConfig into_lines() {
        LogConfig config;
        config.record_sink = [this](const LogRecord& record) { lines_.emplace_back(record.text); };
        return config;
    }

    std::vector<std::string> lines_;
    std::vector<std::string> told_;
    Notifier notifier_{"test"};
    EventHub events_{notifier_};
    Subscription subscription_;
    NodeLog log_{into_lines(), 1};
    Metrics counters_;
    core::Access access_ = core::Access::all();
    EntryReport report_{
        {log_, events_, counters_, access_, [](core::SessionId) { return core::NodeId{2}; }}};
};

TEST_F(EntryReportTest, TellsABreakOnce) {            // S24
    report_.applied(entry_at(5, {break_of("old")}));  // an earlier run has told it
    report_.applied(entry_at(6, {break_of("new")}));
    notifier_.stop();
    EXPECT_THAT(lines_, ElementsAre("node 2 broke \"new\", token 7: it hangs"));
    EXPECT_THAT(told_, ElementsAre("new it hangs"));
    EXPECT_EQ(counters_.locks_broken, 1U);
    EXPECT_EQ(counters_.entries_applied, 2U);
    EXPECT_EQ(counters_.commands_applied, 2U);
}

TEST_F(EntryReportTest, SaysWhoAskedForABreakAndHow) {
    auto broken = break_of("x");
    broken.asked_by = "user bob";
    broken.immediate = true;
    report_.applied(entry_at(6, {broken}));
    EXPECT_THAT(lines_, ElementsAre("node 2, asked by user bob, broke \"x\", token 7, at once: it "
                                    "hangs"));
}

TEST_F(EntryReportTest, TellsTheProgramOnlyWhatItMayObserve) {
    access_ = {};
    report_.applied(entry_at(6, {break_of("x")}));
    notifier_.stop();
    EXPECT_EQ(lines_.size(), 1U);
    EXPECT_THAT(told_, ElementsAre());
}

TEST_F(EntryReportTest, MeasuresWhatThisLeaderAppended) {
    const core::Instant start{1'000'000'000};
    report_.step_begins(start);
    report_.appended(core::LogIndex{6}, true);
    report_.step_begins(start + 2ms);
    report_.applied(entry_at(6));
    EXPECT_EQ(counters_.commit_time.total(), 1U);
    report_.appended(core::LogIndex{7}, true);
    report_.appended(core::LogIndex{7}, false);  // another one leads, and decides
    report_.applied(entry_at(7));
    EXPECT_EQ(counters_.commit_time.total(), 1U);
}

}  // namespace
}  // namespace mortise::detail
