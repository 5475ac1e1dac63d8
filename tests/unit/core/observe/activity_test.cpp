// Who waits for what, and what happened lately, as a node applies it (docs/decisions/0082).
#include "core/observe/activity.hpp"

#include "tests/unit/core/observe/observing.hpp"

namespace mortise::core {
namespace {

using enum LockMode;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

Instant at(Nanoseconds time) {
    return Instant{} + time;
}

// --- when entries were applied ------------------------------------------------------------------

TEST(EntryTimes, AnEntryHasTheTimeOfItsStep) {
    EntryTimes times{LogIndex{4}, at(seconds{1})};
    times.applied(LogIndex{5}, at(seconds{2}));
    times.applied(LogIndex{6}, at(seconds{2}));
    times.applied(LogIndex{9}, at(seconds{3}));
    EXPECT_EQ(times.of(LogIndex{5}), at(seconds{2}));
    EXPECT_EQ(times.of(LogIndex{8}), at(seconds{2}));
    EXPECT_EQ(times.of(LogIndex{9}), at(seconds{3}));
    EXPECT_EQ(times.of(LogIndex{99}), at(seconds{3}));
}

TEST(EntryTimes, WhatAnEarlierRunAppliedIsAtLeastAsOldAsThisRun) {
    const EntryTimes times{LogIndex{4}, at(seconds{1})};
    EXPECT_EQ(times.of(LogIndex{1}), at(seconds{1}));
    EXPECT_FALSE(times.knows(LogIndex{4}));
    EXPECT_TRUE(times.knows(LogIndex{5}));
}

TEST(EntryTimes, MemoryIsBoundedAndAgesStayRight) {
    EntryTimes times{LogIndex{0}, at(seconds{0})};
    std::vector<Instant> exact{at(seconds{0})};
    std::size_t largest = 0;
    auto now = at(seconds{0});
    for (std::uint64_t index = 1; index <= 200'000; ++index) {
        // A pause of an hour among entries that come each 50 us.
        now = now + (index % 60'000 == 0 ? Nanoseconds{std::chrono::hours{1}} : microseconds{50});
        times.applied(LogIndex{index}, now);
        exact.push_back(now);
        largest = std::max(largest, times.size());
    }
    EXPECT_LE(largest, 4'096U);
    for (std::uint64_t index = 1; index <= 200'000; index += 7) {
        const auto age = now - exact[index];
        const auto said = now - times.of(LogIndex{index});
        EXPECT_GE(said, age);
        EXPECT_LE(said - age, age / 16 + microseconds{50}) << index;
    }
}

// --- contended names ----------------------------------------------------------------------------

std::string in_order(const ContendedNames& names, std::size_t max = 10) {
    std::string text;
    for (const auto& [name, waiting] : names.hottest(max))
        text += name + ":" + std::to_string(waiting.waiters) + " ";
    return text;
}

TEST(ContendedNames, TheHottestHaveTheMostWaiters) {
    ContendedNames names{1};
    names.set("a", 0, {1, LogIndex{7}});
    names.set("c", 0, {3, LogIndex{5}});
    names.set("b", 0, {3, LogIndex{9}});
    EXPECT_EQ(in_order(names), "b:3 c:3 a:1 ");
    names.set("a", 0, {4, LogIndex{7}});
    names.set("c", 0, {0, {}});
    EXPECT_EQ(in_order(names), "a:4 b:3 ");
    EXPECT_EQ(in_order(names, 1), "a:4 ");
    EXPECT_EQ(names.size(), 2U);
    EXPECT_EQ(names.waiters(), 7U);
}

TEST(ContendedNames, TheOldestRequestIsThatOfAllNames) {
    ContendedNames names{2};
    EXPECT_EQ(names.oldest(), std::nullopt);
    names.set("a", 0, {1, LogIndex{7}});
    names.set("b", 1, {2, LogIndex{5}});
    EXPECT_EQ(names.oldest(), LogIndex{5});
    EXPECT_EQ(names.oldest(0), LogIndex{7});
    EXPECT_EQ(names.waiters(1), 2U);
    names.set("b", 1, {1, LogIndex{8}});
    EXPECT_EQ(names.oldest(), LogIndex{7});
    names.set("a", 0, {0, {}});
    EXPECT_EQ(names.oldest(), LogIndex{8});
    EXPECT_EQ(names.oldest(0), std::nullopt);
}

TEST(NamePrefixes, ANameBelongsToTheLongestOne) {
    const NamePrefixes prefixes{{"jobs/", "orders/", "jobs/night/", "o"}};
    EXPECT_EQ(prefixes.group_of("jobs/1"), 0U);
    EXPECT_EQ(prefixes.group_of("jobs/night/1"), 2U);
    EXPECT_EQ(prefixes.group_of("jobs/nights"), 0U);
    EXPECT_EQ(prefixes.group_of("orders/1"), 1U);
    EXPECT_EQ(prefixes.group_of("orders"), 3U);
    EXPECT_EQ(prefixes.group_of("other"), 3U);
    EXPECT_EQ(prefixes.group_of("jobs"), 4U);
    EXPECT_EQ(prefixes.group_of("z"), 4U);
    EXPECT_EQ(NamePrefixes{{}}.group_of("a"), 0U);
}

// --- rates --------------------------------------------------------------------------------------

TEST(RecentRates, TimesAreOfBucketsThatAreHalfAsWideAsTheyAreLong) {
    TimeCounts counts;
    EXPECT_EQ(counts.quantile(0.5), Nanoseconds{0});
    for (int i = 0; i < 98; ++i)
        counts.add(Nanoseconds{0});
    counts.add(microseconds{100});
    counts.add(milliseconds{5});
    EXPECT_EQ(counts.quantile(0.5), Nanoseconds{0});
    EXPECT_EQ(counts.quantile(0.99), microseconds{128});
    EXPECT_EQ(counts.quantile(1), microseconds{6'144});
    counts.add(std::chrono::hours{24 * 365});
    EXPECT_GE(counts.quantile(1), std::chrono::hours{24 * 12});
}

TEST(RecentRates, EachTenSecondsHaveASlot) {
    RecentRates rates{at(seconds{5})};
    rates.advance(at(seconds{6}), 0);
    rates.granted(milliseconds{1});
    rates.wait(2);
    rates.advance(at(seconds{15}), 2);
    rates.released();
    rates.lost();
    const auto slots = rates.each(at(seconds{17}), 2);
    ASSERT_EQ(slots.size(), 2U);
    EXPECT_EQ(slots[0].length, seconds{10});
    EXPECT_EQ(slots[0].grants, 1U);
    EXPECT_EQ(slots[0].waiters_max, 2U);
    EXPECT_EQ(slots[1].length, seconds{2});
    EXPECT_EQ(slots[1].grants, 0U);
    EXPECT_EQ(slots[1].releases, 1U);
    EXPECT_EQ(slots[1].losses, 1U);
    EXPECT_EQ(slots[1].waiters_max, 2U) << "they still wait";
}

TEST(RecentRates, AQuarterOfAnHourIsKept) {
    RecentRates rates{at(seconds{0})};
    for (int second = 0; second < 2'000; ++second) {
        rates.advance(at(seconds{second}), 0);
        rates.granted();
    }
    const auto slots = rates.each(at(seconds{1'999}), 0);
    ASSERT_EQ(slots.size(), 90U);
    for (const auto& slot : slots)
        EXPECT_EQ(slot.grants, 10U);
    EXPECT_EQ(rates.together(at(seconds{1'999}), 0).grants, 900U);
    EXPECT_EQ(rates.together(at(seconds{1'999}), 0).length, seconds{899});
}

TEST(RecentRates, NothingIsLeftOfWhatIsTooOld) {
    RecentRates rates{at(seconds{0})};
    rates.granted(seconds{1});
    rates.advance(at(seconds{450}), 1);
    rates.granted(seconds{2});
    EXPECT_EQ(rates.together(at(seconds{899}), 1).grants, 2U);
    EXPECT_EQ(rates.together(at(seconds{900}), 1).grants, 1U) << "read alone";
    rates.advance(at(seconds{900}), 1);
    EXPECT_EQ(rates.together(at(seconds{900}), 1).grants, 1U);
    rates.advance(at(seconds{1'000'000}), 3);
    const auto all = rates.together(at(seconds{1'000'000}), 3);
    EXPECT_EQ(all.grants, 0U);
    EXPECT_EQ(all.wait.p99, Nanoseconds{0});
    EXPECT_EQ(all.waiters_max, 3U);
}

// --- all together -------------------------------------------------------------------------------

class ActivityTest : public ObservingTest {
protected:
    // The entry is applied so long after the begin of this run.
    void log_at(Nanoseconds time, const std::vector<Command>& batch) {
        put(batch);
        now_ = at(time);
        activity_.applied(index_, now_, machine_.name_changes(), machine_.changed_queues());
    }
    ContentionView contention() { return activity_.contention(now_); }
    ActivityView view() { return activity_.view(machine_.table(), now_); }

    Instant now_;
    Activity activity_{{"a", "b"}, machine_.table(), index_, now_};
};

TEST_F(ActivityTest, TheOldestWaitEndsWithItsGrant) {
    log_at(seconds{1}, {acquire(1, 1, exclusive)});
    EXPECT_EQ(contention().waiters, 0U);
    log_at(seconds{2}, {acquire(2, 1, exclusive)});
    log_at(seconds{4}, {acquire(3, 1, exclusive)});
    EXPECT_EQ(contention().waiters, 2U);
    EXPECT_EQ(contention().contended, 1U);
    EXPECT_EQ(contention().oldest_wait, seconds{2});
    log_at(seconds{5}, {release(1, 2, 1)});
    EXPECT_EQ(contention().waiters, 1U);
    EXPECT_EQ(contention().oldest_wait, seconds{1}) << "of session 3";
    log_at(seconds{6}, {release(2, 2, 1)});
    EXPECT_EQ(contention().waiters, 0U);
    EXPECT_EQ(contention().contended, 0U);
    EXPECT_EQ(contention().oldest_wait, seconds{0});
}

TEST_F(ActivityTest, ACancelledRequestWaitsNoLonger) {
    log_at(seconds{1}, {acquire(1, 1, exclusive), acquire(2, 1, exclusive)});
    EXPECT_EQ(contention().waiters, 1U);
    log_at(seconds{2}, {cancel(2, 2, 1)});
    EXPECT_EQ(contention().waiters, 0U);
}

TEST_F(ActivityTest, ARequestOfAnEndedSessionWaitsUntilItIsSwept) {
    log_at(seconds{1}, {acquire(1, 1, exclusive), acquire(2, 1, exclusive)});
    log_at(seconds{2}, {expiry(2)});
    log_at(seconds{3}, {Sweep{}});
    EXPECT_EQ(contention().waiters, 0U);
}

TEST_F(ActivityTest, AnUpgradeWaits) {
    log_at(seconds{1}, {acquire(1, 1, update), acquire(2, 1, shared)});
    log_at(seconds{2}, {request(1, 2, Upgrade{Seq{1}, true})});
    now_ = at(seconds{5});
    EXPECT_EQ(contention().waiters, 1U);
    EXPECT_EQ(contention().oldest_wait, seconds{3});
    log_at(seconds{6}, {release(2, 2, 1)});
    EXPECT_EQ(contention().waiters, 0U);
}

TEST_F(ActivityTest, EachPrefixIsCounted) {
    log_at(seconds{1}, {acquire(1, 1, exclusive, "a1"), acquire(1, 2, exclusive, "b1"),
                        acquire(1, 3, exclusive, "c1"), acquire(2, 1, exclusive, "b1")});
    log_at(seconds{2}, {release(1, 4, 1)});
    const auto prefixes = contention().prefixes;
    ASSERT_EQ(prefixes.size(), 3U);
    EXPECT_EQ(prefixes[0], (PrefixView{"a", 0, 0, 0, 1, {}}));
    EXPECT_EQ(prefixes[1], (PrefixView{"b", 1, 1, 1, 1, seconds{1}}));
    EXPECT_EQ(prefixes[2], (PrefixView{"", 1, 0, 0, 1, {}}));
}

TEST_F(ActivityTest, TimesAreThoseOfTheEntries) {
    log_at(seconds{1}, {acquire(1, 1, exclusive)});
    log_at(seconds{2}, {acquire(2, 1, exclusive)});
    log_at(seconds{5}, {release(1, 2, 1)});
    const auto recent = view().recent;
    EXPECT_EQ(recent.grants, 2U);
    EXPECT_EQ(recent.releases, 1U);
    EXPECT_EQ(recent.wait.median, seconds{0}) << "one of two was granted at once";
    EXPECT_GE(recent.wait.p99, seconds{3});
    EXPECT_LE(recent.wait.p99, seconds{5});
    EXPECT_GE(recent.hold.median, seconds{4});
    EXPECT_LE(recent.hold.median, seconds{6});
}

TEST_F(ActivityTest, AHoldThatEndsWithItsSessionIsLost) {
    log_at(seconds{1}, {acquire(1, 1, exclusive)});
    log_at(seconds{2}, {expiry(1), Sweep{}});
    EXPECT_EQ(view().recent.losses, 1U);
    EXPECT_EQ(view().recent.releases, 0U);
}

TEST_F(ActivityTest, AfterARestartAWaitIsALowerBound) {
    log_at(seconds{1}, {acquire(1, 1, exclusive), acquire(2, 1, exclusive)});
    Activity later{{"a"}, machine_.table(), index_, at(seconds{100})};
    now_ = at(seconds{103});
    EXPECT_EQ(later.contention(now_).oldest_wait, seconds{3});
    EXPECT_EQ(later.contention(now_).prefixes.front().holders, 1U);
    EXPECT_EQ(later.view(machine_.table(), now_).hottest.front(),
              (HotName{"a", RecordKind::lock, 1, 1, seconds{3}}));
    put(release(1, 2, 1));
    later.applied(index_, now_, machine_.name_changes(), machine_.changed_queues());
    const auto seen = later.view(machine_.table(), now_);
    EXPECT_EQ(seen.recent.grants, 1U);
    EXPECT_EQ(seen.recent.hold.p99, seconds{0}) << "it is not known how long it was held";
    EXPECT_EQ(seen.contention.waiters, 0U);
}

TEST_F(ActivityTest, TheRatesSurviveAStateOfAnotherMember) {
    log_at(seconds{1}, {acquire(1, 1, exclusive), acquire(2, 1, exclusive)});
    const LockMachine other;
    activity_.restart(other.table(), LogIndex{50}, at(seconds{2}));
    now_ = at(seconds{2});
    EXPECT_EQ(contention().waiters, 0U);
    EXPECT_EQ(contention().prefixes.front().holders, 0U);
    EXPECT_EQ(activity_.view(other.table(), now_).recent.grants, 1U);
}

TEST_F(ActivityTest, OnlyTheHottestAreTold) {
    std::vector<Command> all;
    for (std::uint64_t i = 1; i <= 12; ++i) {
        all.emplace_back(acquire(1, i, exclusive, "n" + std::to_string(i)));
        all.emplace_back(acquire(2, i, exclusive, "n" + std::to_string(i)));
    }
    all.emplace_back(acquire(3, 1, exclusive, "n7"));
    log_at(seconds{1}, all);
    const auto hottest = view().hottest;
    ASSERT_EQ(hottest.size(), hottest_max);
    EXPECT_EQ(hottest.front().name, "n7");
    EXPECT_EQ(hottest.front().waiters, 2U);
    EXPECT_EQ(contention().contended, 12U);
}

}  // namespace
}  // namespace mortise::core
