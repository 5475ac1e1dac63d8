#include "tools/mortise/event_text.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "tools/mortise/json_form.hpp"

namespace mortise::cli {
namespace {

Event event_of(Event::Kind kind, std::string_view name) {
    Event event;
    event.kind = kind;
    event.name = name;
    event.position = Position::from_string("4711.2").value();
    event.holder.node = 2;
    event.holder.token = FencingToken::from_raw(17);
    event.holder.label = "nightly";
    return event;
}

TEST(EventText, HasColumns) {
    EXPECT_EQ(
        event_titles(false),
        "POSITION                EVENT           NAME                    NODE  TOKEN     MODE      "
        "FROM                    LABEL OR VALUE\n");
    auto event = event_of(Event::Kind::granted, "jobs/1");
    EXPECT_EQ(
        text_of(event),
        "4711.2                  granted         jobs/1                  2     17        exclusive "
        "-                       nightly\n");
    event.holder.origin = {"db3", "backup", 4711, "10.0.0.3:5120"};
    EXPECT_EQ(
        text_of(event),
        "4711.2                  granted         jobs/1                  2     17        exclusive "
        "backup@db3:4711         nightly\n");
}

TEST(EventText, SaysHowAHoldEnded) {
    auto event = event_of(Event::Kind::released, "jobs/1");
    event.how = Predecessor::expired;
    event.holder.node = 0;
    EXPECT_EQ(
        text_of(event),
        "4711.2                  released        jobs/1                  -     17        exclusive "
        "-                       expired, nightly\n");
}

TEST(EventText, ShowsTheValueOfALeader) {
    auto event = event_of(Event::Kind::value_set, "jobs/leader");
    event.value = LockValue{"17 10.0.0.3:80", 2, false};
    const auto* const leads = "the leader's value: \"10.0.0.3:80\", version 2\n";
    EXPECT_NE(text_of(event).find(leads), std::string::npos) << text_of(event);
    event.value->bytes = "16 10.0.0.3:80";
    EXPECT_NE(text_of(event).find(" value: \"16 10.0.0.3:80\", version 2\n"), std::string::npos);
    event.kind = Event::Kind::state;
    event.value->bytes = "17 10.0.0.3:80";
    event.holders = {std::exchange(event.holder, {})};
    EXPECT_NE(text_of(event).find(leads), std::string::npos) << text_of(event);
}

TEST(EventText, EscapesNamesAndLabels) {
    auto event = event_of(Event::Kind::granted, "a\nb");
    event.holder.label = "\x1b[2J";
    const auto text = text_of(event);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(EventText, ShowsAStateWithALineForEachPart) {
    Event state;
    state.kind = Event::Kind::state;
    state.name = "a";
    EXPECT_EQ(
        text_of(state),
        "-                       free            a                       -     -         -         "
        "-\n");
    state.holders.resize(2);
    state.holders[0].token = FencingToken::from_raw(3);
    state.holders[1].token = FencingToken::from_raw(4);
    state.value = LockValue{"xyz", 7, true};
    EXPECT_EQ(
        text_of(state),
        "-                       holds           a                       -     3         "
        "exclusive -\n"
        "-                       holds           a                       -     4         "
        "exclusive -\n"
        "-                       has             a                       -     -         -         "
        "-                       value: \"xyz\", version 7, dirty\n");
}

TEST(EventText, SaysThatThereIsAGap) {
    EXPECT_EQ(
        text_of(Event{}),
        "-                       gap                                                               "
        "                        what was shown before may be old; the present state follows\n");
}

TEST(EventJson, HasOnlyWhatItsKindHas) {
    EXPECT_EQ(json_of(Event{}).dump(), R"({"event":"gap"})");
    auto event = event_of(Event::Kind::released, "a");
    event.how = Predecessor::broken;
    const auto json = json_of(event);
    EXPECT_EQ(json.at("event"), "released");
    EXPECT_EQ(json.at("position"), "4711.2");
    EXPECT_EQ(json.at("holder").at("token"), "17");
    EXPECT_EQ(json.at("how"), "broken");
    EXPECT_FALSE(json.contains("value"));
    Event state;
    state.kind = Event::Kind::state;
    state.name = "a";
    EXPECT_EQ(json_of(state).dump(), R"({"event":"state","name":"a","holders":[]})");
}

TEST(SessionJson, HasNullForWhatIsNotKnown) {
    SessionInfo session;
    session.id = 7;
    session.lease_left = Duration::max();
    const auto json = json_of(session);
    EXPECT_EQ(json.at("session"), 7);
    EXPECT_EQ(json.at("node"), 0);  // a client, as everywhere
    EXPECT_TRUE(json.at("left_ms").is_null());
    EXPECT_EQ(json.at("age_ms"), 0);
}

}  // namespace
}  // namespace mortise::cli
