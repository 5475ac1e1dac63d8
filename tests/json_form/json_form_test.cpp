// What the JSON of the console and the program looks like where it is not a plain field;
// tests/cli/listing_test.cpp and tests/console/api_test.cpp have more.
#include "embed/json_form/json_form.hpp"

#include <string>

#include <gtest/gtest.h>

#include "embed/json_form/written.hpp"

namespace mortise::json_form {
namespace {

using namespace std::string_literals;

TEST(JsonText, BytesThatAreNotTextAreHexadecimalAndShown) {
    EXPECT_EQ(json_text("tab\t\u00e4"), "tab\t\u00e4");
    EXPECT_EQ(json_text("\xff\0z"s).dump(), R"({"hex":"ff007a","shown":"\\xff\\x00z"})");
    for (const auto& bytes : {""s, "a"s, "\xff\0z"s, "\xed\xa0\x80"s})
        EXPECT_EQ(bytes_of(json_text(bytes)), bytes);
}

// Whatever the beginning of a character, the rest of it is checked as nlohmann does it.
TEST(JsonText, IsUtf8AsForNlohmann) {
    const auto is_text = [](const std::string& bytes) {
        try {
            return !Json(bytes).dump().empty();
        } catch (const Json::type_error&) {
            return false;
        }
    };
    const std::string edges = "\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0"s;
    for (int first = 0; first < 256; ++first) {
        for (const char second : edges) {
            const std::string two{static_cast<char>(first), second};
            for (const auto& end : {""s, "\x80"s, "z"s, "\x80\xbf"s, "\x80\x7f"s, "\x80\x80\x80"s})
                EXPECT_EQ(is_utf8(two + end), is_text(two + end)) << hex_of(two + end);
        }
        EXPECT_EQ(is_utf8(std::string(1, static_cast<char>(first))), first < 0x80);
    }
}

TEST(JsonText, WrittenTextIsReadAsItWas) {
    std::string every;
    for (char byte = 0; byte < 127; ++byte)
        every += byte;
    every += "\x7f\u00e4\U0001f512"s;
    EXPECT_EQ(Json::parse(Written{every}.text()), Json(every));
}

TEST(JsonText, WrittenListsAndObjectsMayBeEmpty) {
    auto list = Written::array();
    auto object = Written::object();
    EXPECT_EQ(list.text(), "[]");
    EXPECT_EQ(object.text(), "{}");
    list.push_back(-1);
    list.push_back(Written::object());
    object["a"] = nullptr;
    object["b"] = {{"c", true}, {"d", list}};
    EXPECT_EQ(object.text(), R"({"a":null,"b":{"c":true,"d":[-1,{}]}})");
}

TEST(JsonText, OtherJsonHasNoBytes) {
    for (const auto* const text :
         {"null", "1", "[]", "{}", R"({"hex":1})", R"({"hex":"f"})", R"({"hex":"FF"})"})
        EXPECT_EQ(bytes_of(Json::parse(text)), std::nullopt) << text;
}

TEST(JsonText, ATimeIsInMillisecondsRoundedUp) {
    EXPECT_EQ(json_ms(std::chrono::nanoseconds{1'000'001}), 2);
    EXPECT_EQ(json_ms(Duration{}), 0);
    EXPECT_EQ(json_ms(Duration::max()), nullptr);
    EXPECT_EQ(hexadecimal(0xab), "00000000000000ab");
}

TEST(JsonForm, AnOrdinaryLock) {
    LockInfo lock;
    lock.name = "orders/42";
    lock.holders.push_back({.node = 2, .session = 1027, .label = "checkout", .since = 5120});
    lock.holders[0].token = FencingToken::from_raw(17);
    lock.holders[0].lease_left = std::chrono::milliseconds{8'340};
    lock.waiters.push_back({.node = 3, .session = 1031, .mode = LockMode::shared, .since = 5133});
    lock.holders_total = lock.waiters_total = 1;
    EXPECT_EQ(
        json_of(lock).dump(),
        R"({"name":"orders/42","kind":"lock","policy":"phase_fair","holders":[{"node":2,)"
        R"("session":1027,"label":"checkout","mode":"exclusive","token":"17","since":5120,)"
        R"("cached":false,"lease_left_ms":8340}],"waiters":[{"node":3,"session":1031,"label":"",)"
        R"("mode":"shared","since":5133,"upgrades":false,"priority":0}],"holders_total":1,)"
        R"("waiters_total":1,"closures_total":0,"truncated":false,"closed":false,)"
        R"("closed_under":null,"closures":[]})");
}

TEST(JsonForm, SaysSinceWhenAndFromWhereAsFarAsThatIsKnown) {
    HolderInfo holder;
    EXPECT_FALSE(json_of(holder).contains("age_ms"));
    EXPECT_FALSE(json_of(holder).contains("origin"));
    holder.age = std::chrono::minutes{6};
    holder.origin = {"db3", "backup", 4711, "10.0.0.3:5120"};
    EXPECT_EQ(json_of(holder).at("age_ms"), 360'000);
    EXPECT_EQ(json_of(holder).at("origin").dump(),
              R"({"host":"db3","program":"backup","pid":4711,"address":"10.0.0.3:5120"})");
    WaiterInfo waiter;
    waiter.age = std::chrono::milliseconds{800};
    waiter.origin.host = "\xff";
    EXPECT_EQ(json_of(waiter).at("age_ms"), 800);
    EXPECT_EQ(json_of(waiter).at("origin").dump(), R"({"host":{"hex":"ff","shown":"\\xff"}})");
}

TEST(JsonForm, TheNodeOfAClientIsZeroEverywhere) {
    EXPECT_EQ(json_of(HolderInfo{}).at("node"), 0);
    EXPECT_EQ(json_of(WaiterInfo{}).at("node"), 0);
    EXPECT_EQ(json_of(BarrierMember{}).at("node"), 0);
    EXPECT_EQ(json_of(SessionInfo{}).at("node"), 0);
}

TEST(JsonForm, AnElectionHasTheValueOfItsLeader) {
    LockInfo lock;
    lock.holders.resize(1);
    lock.holders[0].token = FencingToken::from_raw(17);
    lock.value = LockValue{"17 10.0.0.3:80", 2, false};
    EXPECT_EQ(json_of(lock).at("election").dump(), R"({"value":"10.0.0.3:80"})");
    EXPECT_EQ(json_of(lock).at("kind"), "lock");
    for (const auto* const other : {"16 10.0.0.3:80", "17", ""}) {  // of a former leader; no value
        lock.value->bytes = other;
        EXPECT_FALSE(json_of(lock).contains("election")) << other;
    }
}

TEST(JsonForm, SaysWhatALockIsUsedAs) {
    LockInfo lock;
    EXPECT_EQ(json_of(lock).at("kind"), "lock");
    lock.barrier.emplace();
    EXPECT_EQ(json_of(lock).at("kind"), "barrier");
    lock.latch.emplace();
    EXPECT_EQ(json_of(lock).at("kind"), "latch");
    lock.limit.emplace();
    EXPECT_EQ(json_of(lock).at("kind"), "semaphore");
}

TEST(JsonForm, AValueIsToldOnlyIfThatIsAskedFor) {
    LockInfo lock;
    lock.value = LockValue{"secret", 7, true};
    EXPECT_EQ(json_of(lock).at("value").dump(), R"({"version":7,"dirty":true})");
    EXPECT_EQ(json_of(lock, {.value_bytes = true}).at("value").at("bytes"), "secret");
    Event event;
    event.value = lock.value;
    EXPECT_EQ(json_of(event).dump().find("secret"), std::string::npos);
    EXPECT_EQ(json_of(event, {.value_bytes = true}).at("value").at("bytes"), "secret");
}

TEST(JsonForm, LongListsCanBeCut) {
    LockInfo lock;
    lock.barrier.emplace();
    lock.members.resize(2);
    lock.holders.resize(1);
    lock.holders[0].slots = {3, 4, 5};
    auto json = json_of(lock);
    EXPECT_EQ(json.at("holders").at(0).at("slots").dump(), "[3,4,5]");
    EXPECT_EQ(json.at("barrier").at("members").size(), 2U);
    json = json_of(lock, {.barrier_members = false, .slots_max = 2});
    EXPECT_EQ(json.at("holders").at(0).at("slots").dump(), "[3,4]");
    EXPECT_EQ(json.at("holders").at(0).at("slots_total"), 3);
    EXPECT_FALSE(json.at("barrier").contains("members"));
}

TEST(JsonForm, AMemberThatLeavesStillHasItsRole) {
    MemberInfo member;
    member.id = 3;
    member.leaving = true;
    EXPECT_EQ(json_of(member).dump(),
              R"({"id":3,"role":"voter","address":"","connected":false,"leaving":true,)"
              R"("matching":null,"incarnation":"0000000000000000"})");
}

TEST(JsonForm, AReportHasTheTimesThatTheMemberTells) {
    MemberReport report;
    report.timing.heartbeat = std::chrono::milliseconds{50};
    report.voters = {1, 3};
    const auto json = json_of(report);
    EXPECT_EQ(json.at("timing").dump(),
              R"({"election_timeout_ms":null,"heartbeat_ms":50,"session_ttl_ms":null})");
    EXPECT_EQ(json.at("voters").dump(), "[1,3]");
}

TEST(JsonForm, AnEventHasOnlyWhatItsKindHas) {
    NodeEvent event;
    event.kind = NodeEvent::Kind::leader_changed;
    event.peer = 2;
    EXPECT_EQ(json_of(event).dump(), R"({"event":"leader_changed","peer":2})");
    EXPECT_EQ(json_of(Event{}).dump(), R"({"event":"gap"})");
}

}  // namespace
}  // namespace mortise::json_form
