#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tools/mortise/json_form.hpp"
#include "tools/mortise/lock_text.hpp"
#include "tools/mortise/short_time.hpp"
#include "tools/mortise/table.hpp"
#include <mortise/errc.hpp>

namespace mortise::cli {
namespace {

TEST(Table, AlignsItsColumns) {
    Table table{{"NAME", "NODE"}};
    table.add({"orders/42", "1"});
    table.add({"a", "23"});
    EXPECT_EQ(table.text(false),
              "NAME       NODE\n"
              "orders/42  1\n"
              "a          23\n");
}

TEST(Table, CountsLettersAndNotBytes) {
    Table table{{"N", "X"}};
    table.add({"\u00e4\u00f6", "1"});
    table.add({"abc", "2"});
    EXPECT_EQ(table.text(false), "N    X\n\u00e4\u00f6   1\nabc  2\n");
}

TEST(Table, MarksOnlyTheTitles) {
    Table table{{"N"}};
    table.add({"1"});
    EXPECT_EQ(table.text(true), "\x1b[1mN\x1b[0m\n1\n");
}

TEST(ShortTime, HasWhatAPersonWantsToKnow) {
    using namespace std::chrono_literals;
    const std::vector<std::pair<std::chrono::nanoseconds, const char*>> times{
        {-1s, "0.0 s"},     {0s, "0.0 s"},           {850ms, "0.8 s"},
        {9'999ms, "9.9 s"}, {10s, "10 s"},           {59'999ms, "59 s"},
        {60s, "1 min"},     {6min + 59s, "6 min"},   {59min + 59s, "59 min"},
        {60min, "1 h"},     {65min, "1 h 5 min"},    {23h + 59min, "23 h 59 min"},
        {24h, "1 d"},       {76h + 59min, "3 d 4 h"}};
    for (const auto& [time, shown] : times)
        EXPECT_EQ(short_time(time), shown);
}

TEST(ShortTime, WhatIsLeftIsAtMostWhatIsShown) {
    using namespace std::chrono_literals;
    const std::vector<std::pair<std::chrono::nanoseconds, const char*>> times{
        {1'401ms, "1.5 s"},   {9'901ms, "10 s"},      {59'001ms, "1 min"},
        {6min + 1s, "7 min"}, {59min + 1s, "1 h"},    {23h + 59min + 1s, "1 d"},
        {6min, "6 min"},      {76h + 1min, "3 d 5 h"}};
    for (const auto& [time, shown] : times)
        EXPECT_EQ(short_time(time, Rounded::up), shown);
}

LockInfo held_for_minutes() {
    LockInfo lock;
    lock.name = "nightly";
    lock.holders.resize(1);
    lock.holders[0].token = FencingToken::from_raw(17);
    lock.holders[0].age = std::chrono::seconds{365};
    lock.holders[0].origin = {"db3", "backup", 4711, "10.0.0.3:5120"};
    lock.waiters.resize(1);
    lock.waiters[0].age = std::chrono::milliseconds{850};
    return lock;
}

TEST(LockTable, SaysSinceWhenAndFromWhere) {
    const auto text = text_of(std::vector{held_for_minutes()}, false);
    EXPECT_EQ(
        text,
        "NAME     DOES   MODE       NODE    SESSION  TOKEN  FOR    FROM             KIND  LABEL\n"
        "nightly  holds  exclusive  client  0        17     6 min  backup@db3:4711  lock\n"
        "nightly  waits  exclusive  client  0        -      0.8 s  -                lock\n");
    // That of one name has the addresses too.
    EXPECT_NE(text_of(held_for_minutes(), false).find("backup@db3:4711 (10.0.0.3:5120)"),
              std::string::npos);
}

TEST(LockTable, AnOriginIsShownEscaped) {
    auto lock = held_for_minutes();
    lock.holders[0].origin = {"\x1b[2J", "\xff", 0, "\n"};
    const auto text = text_of(lock, false);
    EXPECT_NE(text.find(R"(\xff@\x1b[2J (\x0a))"), std::string::npos) << text;
}

TEST(LockTable, SaysWhatANameIs) {
    LockInfo lock;
    lock.name = "a";
    EXPECT_EQ(kind_of(lock), "lock");
    lock.value = LockValue{"17 10.0.0.3:80", 2, false};
    EXPECT_EQ(kind_of(lock), "value");
    lock.holders.resize(1);
    lock.holders[0].token = FencingToken::from_raw(16);
    EXPECT_EQ(kind_of(lock), "lock");
    lock.holders[0].token = FencingToken::from_raw(17);
    EXPECT_EQ(kind_of(lock), "election");
    lock.barrier.emplace();
    EXPECT_EQ(kind_of(lock), "barrier");
    lock.latch.emplace();
    EXPECT_EQ(kind_of(lock), "latch");
    lock.limit.emplace();
    EXPECT_EQ(kind_of(lock), "semaphore");
}

TEST(LockTable, ShowsTheValueOfALeaderAndShortValues) {
    auto lock = held_for_minutes();
    lock.value = LockValue{"17 10.0.0.3:80", 2, false};
    const auto* const leads = "the leader's value: \"10.0.0.3:80\", version 2\n";
    EXPECT_NE(text_of(lock, false).find(leads), std::string::npos) << text_of(lock, false);
    EXPECT_NE(text_of(std::vector{lock}, false).find(leads), std::string::npos);
    lock.value->bytes = "a\x1b";
    EXPECT_NE(text_of(lock, false).find(R"(value: "a\x1b", version 2)"), std::string::npos);
    lock.value->bytes = std::string(65, 'x');
    EXPECT_NE(text_of(lock, false).find("value: 65 bytes, version 2\n"), std::string::npos);
    lock.value->bytes.clear();  // a list does not have it
    EXPECT_NE(text_of(lock, false).find("value: version 2\n"), std::string::npos);
}

TEST(LockTable, ListsWhatNobodyHolds) {
    LockInfo value;
    value.name = "config";
    value.value = LockValue{"on", 3, false};
    LockInfo latch;
    latch.name = "ready";
    latch.latch = LatchCount{2};
    const auto text = text_of(std::vector{value, latch}, false);
    EXPECT_NE(text.find("config  has "), std::string::npos) << text;
    EXPECT_NE(text.find("value  value: \"on\", version 3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ready   is "), std::string::npos) << text;
    EXPECT_NE(text.find("2 remaining to be counted\n"), std::string::npos) << text;
}

TEST(LockTable, AClientIsNoNodeWithTheNumberZero) {
    LockInfo lock;
    lock.name = "orders/42";
    lock.holders.resize(1);
    lock.waiters.resize(1);
    lock.waiters.front().node = 3;
    const auto text = text_of(std::vector{lock}, false);
    EXPECT_NE(text.find("holds  exclusive  client  0"), std::string::npos) << text;
    EXPECT_NE(text.find("waits  exclusive  3       0"), std::string::npos) << text;
}

TEST(JsonForm, ATokenIsAString) {
    LockInfo lock;
    lock.name = "orders/42";
    HolderInfo holder;
    holder.node = 2;
    holder.token = FencingToken::from_raw(9'007'199'254'740'993);
    lock.holders.push_back(holder);
    const auto json = json_of(lock);
    EXPECT_EQ(json.at("name"), "orders/42");
    EXPECT_EQ(json.at("holders").at(0).at("token"), "9007199254740993");
    EXPECT_EQ(json.at("holders").at(0).at("mode"), "exclusive");
    EXPECT_TRUE(json.at("waiters").empty());
}

TEST(JsonForm, AnUpgradeIsTold) {
    LockInfo lock;
    lock.waiters.resize(2);
    lock.waiters[0].upgrades = true;
    lock.waiters[1].priority = 3;
    const auto waiters = json_of(lock).at("waiters");
    EXPECT_EQ(waiters.at(0).at("upgrades"), true);
    EXPECT_EQ(waiters.at(1).at("upgrades"), false);
    EXPECT_EQ(waiters.at(1).at("priority"), 3);
}

TEST(JsonForm, WhatIsLeftOutIsCounted) {
    LockInfo lock;
    lock.waiters.resize(2);
    lock.waiters_total = 5;
    lock.truncated = true;
    const auto json = json_of(lock);
    EXPECT_EQ(json.at("waiters").size(), 2U);
    EXPECT_EQ(json.at("waiters_total"), 5);
    EXPECT_EQ(json.at("holders_total"), 0);
    EXPECT_EQ(json.at("truncated"), true);
}

TEST(JsonForm, AClosedNameSaysWhyAndForHowLong) {
    LockInfo lock;
    lock.is_closed = true;
    lock.closures.push_back(
        {ClosedBy::lock_delay, FencingToken::from_raw(7), std::chrono::nanoseconds{1'000'001}});
    lock.closures.push_back({ClosedBy::broken, FencingToken::from_raw(6), Duration::max()});
    const auto json = json_of(lock);
    EXPECT_EQ(json.at("closed"), true);
    EXPECT_EQ(json.at("closures").dump(), R"([{"by":"lock_delay","token":"7","left_ms":2},)"
                                          R"({"by":"broken","token":"6","left_ms":null}])");
}

LockInfo semaphore() {
    LockInfo lock;
    lock.name = "pool";
    lock.limit = SemaphoreLimit{3, 2};
    return lock;
}

TEST(JsonForm, ASemaphoreHasALimitAndSlots) {
    auto lock = semaphore();
    EXPECT_EQ(json_of(lock).at("limit").dump(), R"({"permits":3,"version":2})");
    lock.holders.resize(1);
    lock.holders[0].slots = {0, 2};
    lock.waiters.resize(1);
    lock.waiters[0].permits = 2;
    EXPECT_EQ(json_of(lock).at("holders").at(0).at("slots").dump(), "[0,2]");
    EXPECT_EQ(json_of(lock).at("waiters").at(0).at("permits"), 2);
    EXPECT_FALSE(json_of(LockInfo{}).contains("limit"));
}

TEST(LockText, ASemaphoreShowsPermitsInPlaceOfModes) {
    auto lock = semaphore();
    lock.holders.resize(2);
    lock.holders[0].slots = {1};
    lock.holders[1].slots = {0, 2, 3, 4, 5, 6, 7, 8, 9};
    lock.waiters.resize(2);
    lock.waiters[0].permits = 1;
    lock.waiters[1].permits = 4;
    const auto text = text_of(lock, false);
    for (const auto* shown : {"slot 1 ", "slots 0,2,3,4,5,6,7,8,... ", "1 permit ", "4 permits ",
                              "semaphore: 3 permits, version 2 of the limit\n"})
        EXPECT_NE(text.find(shown), std::string::npos) << shown << "\n" << text;
    EXPECT_EQ(text.find("policy"), std::string::npos);
}

TEST(LockText, AResizedSemaphoreThatNobodyUsesIsNotFree) {
    EXPECT_EQ(text_of(semaphore(), false).find("is free"), std::string::npos);
}

TEST(LockText, ALatchShowsWhatRemains) {
    LockInfo lock;
    lock.name = "ready";
    lock.latch = LatchCount{2};
    EXPECT_NE(text_of(lock, false).find("latch: 2 remaining to be counted\n"), std::string::npos);
    EXPECT_EQ(text_of(lock, false).find("is free"), std::string::npos);
    EXPECT_EQ(text_of(lock, false).find("policy"), std::string::npos);
    EXPECT_EQ(json_of(lock).at("latch").dump(), R"({"remaining":2})");
}

TEST(LockText, ABarrierShowsItsPhase) {
    LockInfo lock;
    lock.name = "step";
    lock.barrier = BarrierPhase{3, 2, 7, false};
    EXPECT_NE(text_of(lock, false).find("barrier: 2 of 3 have arrived in phase 7\n"),
              std::string::npos);
    lock.barrier->is_broken = true;
    EXPECT_NE(text_of(lock, false).find(", broken\n"), std::string::npos);
    EXPECT_EQ(text_of(lock, false).find("is free"), std::string::npos);
    EXPECT_EQ(json_of(lock).at("barrier").dump(),
              R"({"parties":3,"arrived":2,"phase":7,"broken":true,"members":[]})");
}

TEST(LockText, ABarrierShowsWhoHasArrived) {
    LockInfo lock;
    lock.name = "step";
    lock.barrier = BarrierPhase{5, 2, 7, false};
    lock.members = {{1, 10, 2, 1}, {0, 20, 1, 1}};
    EXPECT_NE(text_of(lock, false)
                  .find("in phase 7\n"
                        "  node 1, session 10: 1 of 2 have arrived\n"
                        "  a client, or a process that has ended, session 20: "
                        "1 of 1 have arrived\n"),
              std::string::npos);
    EXPECT_EQ(json_of(lock).at("barrier").at("members").at(0).dump(),
              R"({"node":1,"session":10,"parties":2,"arrived":1})");
}

LockInfo closed_lock(ClosedBy by, Duration left) {
    LockInfo lock;
    lock.name = "a b";
    lock.is_closed = true;
    lock.closed_under = FencingToken::from_raw(7);
    lock.closures.push_back({by, lock.closed_under, left});
    lock.closures_total = 1;
    return lock;
}

TEST(LockText, AClosedNameIsARowAndSaysHowToOpenIt) {
    const auto of = [](ClosedBy by, Duration left) {
        return text_of(closed_lock(by, left), false);
    };
    using std::chrono::milliseconds;
    EXPECT_EQ(of(ClosedBy::min_hold, milliseconds{1'401}),
              "NAME  DOES    MODE  NODE  SESSION  TOKEN  FOR  FROM  KIND  LABEL\n"
              "a b   closed  -     -     -        7      -    -     lock  "
              "min_hold, for at most 1.5 s\n"
              "policy: phase_fair\n"
              "closed: the min_hold of its last holder runs, for at most 1.5 s; "
              "mortise break 'a b' --token 7 --reason REASON opens it\n");
    const auto delay = of(ClosedBy::lock_delay, std::chrono::seconds{90});
    EXPECT_NE(delay.find("lock_delay, for at most 2 min"), std::string::npos) << delay;
    const auto broken = of(ClosedBy::broken, Duration::max());
    EXPECT_NE(broken.find("may not know yet"), std::string::npos) << broken;
    EXPECT_NE(broken.find("--now opens it, and two programs may hold it"), std::string::npos);
}

TEST(LockText, TheCommandThatOpensANameCanBeTyped) {
    const auto command_for = [](const std::string& name) {
        auto lock = closed_lock(ClosedBy::min_hold, Duration::max());
        lock.name = name;
        const auto text = text_of(lock, false);
        const auto begin = text.find("mortise break ");
        return text.substr(begin, text.find(" --token") - begin);
    };
    EXPECT_EQ(command_for("orders/42"), "mortise break orders/42");
    EXPECT_EQ(command_for("it's"), R"(mortise break 'it'\''s')");
    EXPECT_EQ(command_for("a\x1b"), R"(mortise break --escaped 'a\x1b')");
    EXPECT_EQ(command_for(R"(a\x1b)"), R"(mortise break --escaped 'a\\x1b')");
}

TEST(LockText, WhatIsLeftOutIsCounted) {
    LockInfo lock;
    lock.name = "a";
    lock.waiters.resize(1);
    lock.waiters_total = 977;
    lock.truncated = true;
    const auto text = text_of(lock, false);
    EXPECT_NE(text.find("a     waits  -"), std::string::npos) << text;
    EXPECT_NE(text.find("... and 976 more\n"), std::string::npos) << text;
    EXPECT_NE(text.find("in all: 0 holders, 977 waiters\n"), std::string::npos) << text;
}

TEST(JsonForm, NothingThatIsNotTextBreaksIt) {
    MemberReport report;
    report.address = report.status.address = report.status.version = "\xff";
    report.status.why_not_ready = "\xc0\xaf";
    MemberInfo member;
    member.address = "\xed\xa0\x80";
    report.status.members.push_back(member);
    EXPECT_NO_THROW(static_cast<void>(json_of(report).dump()));
    report.error = Errc::no_quorum;
    report.problem = "\xff";
    EXPECT_NO_THROW(static_cast<void>(json_of(report).dump()));
}

TEST(JsonForm, ANameThatIsNotTextIsHexadecimal) {
    LockInfo lock;
    lock.name = std::string{"\xff\x00z", 3};
    EXPECT_EQ(json_of(lock).at("name").at("hex"), "ff007a");
    EXPECT_NO_THROW(static_cast<void>(json_of(lock).dump()));
    lock.name = "tab\there";
    EXPECT_EQ(json_of(lock).at("name"), "tab\there");
}

TEST(JsonForm, AMemberThatDidNotAnswerHasAProblemAndNoStatus) {
    MemberReport report;
    report.address = "127.0.0.1:1";
    report.error = Errc::no_quorum;
    report.problem = "refused";
    EXPECT_EQ(json_of(report).dump(), R"({"peer":"127.0.0.1:1","problem":"refused"})");
}

}  // namespace
}  // namespace mortise::cli
