#include <string>

#include <gtest/gtest.h>

#include "tools/mortise/json_form.hpp"
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
