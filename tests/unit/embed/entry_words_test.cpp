#include "embed/offline/entry_words.hpp"

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/codec/state_sum_codec.hpp"

namespace mortise::detail {
namespace {

using core::Seq;
using core::SessionId;

std::string request(core::RequestBody body) {
    return words_of(core::Request{SessionId{5}, Seq{7}, std::move(body)});
}

TEST(EntryWords, SessionsAreNamedByTheirNumbers) {
    core::OpenSession open;
    open.node = core::NodeId{2};
    open.generation.incarnation = core::Incarnation{0xab};
    open.generation.boot_epoch = core::BootEpoch{3};
    open.ttl_ms = 10'000;
    EXPECT_EQ(
        words_of(open),
        "open a session for node 2, incarnation 00000000000000ab, boot epoch 3, ttl 10000 ms");
    open.former_life_ended = true;
    EXPECT_TRUE(words_of(open).ends_with("; the former process has ended"));
    open.origin = {"db3", "backup", 4'711, "10.0.0.7"};
    EXPECT_TRUE(words_of(open).ends_with("; from backup@db3:4711 at 10.0.0.7"));
    EXPECT_EQ(words_of(core::Clock{5'000}), "it is 5000 ms since 1970");
    EXPECT_EQ(words_of(core::RaiseCeiling{core::FencingToken{7}}),
              "raise the ceiling of tokens to 7");
    EXPECT_EQ(words_of(core::Renew{{{SessionId{5}, 9}, {SessionId{6}, 1}}}),
              "renew session 5 (renewal 9) session 6 (renewal 1)");
    EXPECT_EQ(words_of(core::Expire{SessionId{5}, core::LogIndex{8}}),
              "expire session 5, last renewed at index 8");
    EXPECT_EQ(words_of(core::Acknowledge{SessionId{5}, core::LogIndex{8}}),
              "session 5 has received the answers up to index 8");
    EXPECT_EQ(words_of(core::Sweep{}), "remove what ended sessions left behind");
    EXPECT_EQ(words_of(core::EndClosure{core::ClosureId{4}}), "end quorum timer 4");
}

TEST(EntryWords, AnAcquireTellsWhatItAsksFor) {
    core::Acquire acquire;
    acquire.names.push_back({"orders/42"});
    EXPECT_EQ(request(acquire), "session 5, request 7: acquire \"orders/42\" exclusive, waits");
    acquire.names.front().mode = core::LockMode::shared;
    acquire.wait = false;
    acquire.policy_given = true;
    acquire.policy = core::QueuePolicy::fifo;
    acquire.label = "me";
    acquire.priority = 3;
    acquire.locker = {8, "thread"};
    acquire.terms = {1, 2, 3};
    EXPECT_EQ(
        request(acquire),
        "session 5, request 7: acquire \"orders/42\" shared, does not wait, fifo, priority 3, "
        "label \"me\", locker 8, max_hold 1 ms, min_hold 2 ms, lock_delay 3 ms");
    core::Acquire several;
    several.which = core::Acquire::Which::all;
    several.names = {{"a", core::LockMode::exclusive}, {"b", core::LockMode::shared}};
    EXPECT_EQ(request(several),
              "session 5, request 7: acquire all of \"a\" exclusive \"b\" shared, waits");
    several.which = core::Acquire::Which::any;
    EXPECT_NE(request(several).find("acquire any of"), std::string::npos);
}

TEST(EntryWords, OtherRequestsNameTheOneThatTheyAreAbout) {
    EXPECT_EQ(request(core::Release{Seq{4}}), "session 5, request 7: release request 4");
    EXPECT_TRUE(request(core::Release{Seq{4}, true}).ends_with("4, which was lost there"));
    EXPECT_TRUE(request(core::Cancel{Seq{4}}).ends_with("cancel request 4"));
    EXPECT_TRUE(request(core::Downgrade{Seq{4}}).ends_with("downgrade request 4 to shared"));
    EXPECT_TRUE(request(core::Upgrade{Seq{4}}).ends_with("upgrade request 4, waits"));
    EXPECT_TRUE(request(core::SetValue{Seq{4}, "x", "abc"})
                    .ends_with("set the value of \"x\": 3 bytes, under request 4"));
    EXPECT_TRUE(request(core::MarkConsistent{Seq{4}, "x"})
                    .ends_with("declare the value consistent of \"x\" under request 4"));
    core::BreakLock breaks{"x", core::FencingToken{6}, "stuck"};
    EXPECT_TRUE(request(breaks).ends_with("break \"x\" held under token 6, reason \"stuck\""));
    breaks.immediate = true;
    breaks.asked_by = "user alice";
    EXPECT_TRUE(request(breaks).ends_with(
        "held under token 6, at once, reason \"stuck\", asked by user alice"));
    EXPECT_TRUE(request(core::AskRelease{"x", "please"})
                    .ends_with("ask for the release of \"x\", reason \"please\""));
}

TEST(EntryWords, SemaphoresHaveWordsOfTheirOwn) {
    core::Acquire permits;
    permits.names.push_back({"pool"});
    permits.permits = 2;
    permits.limit = 3;
    EXPECT_TRUE(request(permits).ends_with("\"pool\" exclusive, waits, 2 permits of 3 at first"));
    EXPECT_TRUE(request(core::Resize{"pool", 4, 0}).ends_with("resize \"pool\" to 4 permits"));
    EXPECT_TRUE(
        request(core::Resize{"pool", 4, 2}).ends_with("to 4 permits, if its limit has version 2"));
    EXPECT_TRUE(request(core::Remove{"pool"}).ends_with("remove \"pool\""));
}

TEST(EntryWords, LatchesAndBarriersHaveWordsOfTheirOwn) {
    EXPECT_TRUE(request(core::CountDown{"ready", 3, 2})
                    .ends_with("count the latch \"ready\" down by 2, of 3 at first"));
    EXPECT_TRUE(request(core::AwaitLatch{"ready", 3, "who"})
                    .ends_with("wait for the latch \"ready\", of 3 at first, label \"who\""));
    EXPECT_TRUE(request(core::Arrive{"step", 2})
                    .ends_with("arrive at the barrier \"step\", of 2 parties at first"));
    EXPECT_TRUE(
        request(core::Arrive{"step", 2, true}).ends_with("of 2 parties at first, and drop"));
    EXPECT_TRUE(request(core::Quit{core::Seq{6}, "step"})
                    .ends_with("give up the arrival of request 6 at the barrier \"step\""));
}

TEST(EntryWords, SomeRequestsAreOfTheSessionAsSuch) {
    EXPECT_EQ(request(core::CloseSession{}), "session 5, request 7: close the session");
    EXPECT_EQ(request(core::Declined{}),
              "session 5, request 7: declined: the leader had no capacity");
}

TEST(EntryWords, WhatATerminalCouldTakeForACommandIsEscaped) {
    core::Acquire acquire;
    acquire.names.push_back({"\x1b[2J"});
    EXPECT_EQ(request(acquire).find('\x1b'), std::string::npos);
}

TEST(EntryWords, EachKindOfEntryHasItsWords) {
    const core::LogId id{core::Term{1}, core::LogIndex{2}};
    const auto words = [&](core::EntryKind kind, core::Bytes payload) {
        return words_of(core::make_entry(id, kind, std::move(payload)));
    };
    core::BatchBuilder batch;
    batch.add(core::Sweep{});
    batch.add(core::Request{SessionId{1}, Seq{2}, core::CloseSession{}});
    EXPECT_EQ(words(core::EntryKind::commands, batch.take()),
              (std::vector<std::string>{"remove what ended sessions left behind",
                                        "session 1, request 2: close the session"}));
    core::Configuration configuration;
    configuration.cluster = {1, 2};
    configuration.voters = {{core::NodeId{1}, core::Incarnation{3}, "127.0.0.1:1"}};
    configuration.learners = {{core::NodeId{4}, core::Incarnation{5}, "127.0.0.1:4"}};
    EXPECT_EQ(words(core::EntryKind::configuration, core::encode_configuration(configuration)),
              std::vector<std::string>{
                  "cluster 00000000000000010000000000000002, voter 1 at 127.0.0.1:1 (incarnation "
                  "0000000000000003), learner 4 at 127.0.0.1:4 (incarnation 0000000000000005)"});
    EXPECT_EQ(
        words(core::EntryKind::state_sum, core::encode_state_sum({core::LogIndex{9}, 0xff})),
        std::vector<std::string>{"the state after index 9 has the checksum 00000000000000ff"});
    EXPECT_EQ(words(core::EntryKind::noop, {}), std::vector<std::string>{"a leader's first entry"});
    EXPECT_EQ(word_of(core::EntryKind::commands), "commands");
}

TEST(EntryWords, WhatCannotBeReadIsSaidToBeThat) {
    const core::LogId id{core::Term{1}, core::LogIndex{2}};
    for (const auto kind :
         {core::EntryKind::commands, core::EntryKind::configuration, core::EntryKind::state_sum}) {
        const auto words = words_of(core::make_entry(id, kind, core::Bytes{std::string{"\x7f?"}}));
        ASSERT_EQ(words.size(), 1U);
        EXPECT_NE(words.front().find("this version reads"), std::string::npos);
    }
}

}  // namespace
}  // namespace mortise::detail
