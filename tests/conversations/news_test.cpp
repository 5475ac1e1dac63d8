// What is left out of a conversation, and what is not.
#include "tests/conversations/news.hpp"

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::conversations {
namespace {

using core::test::log_id;
using core::test::n1;
using core::test::n2;
using core::test::n3;

core::Entry entry_of(std::uint64_t index, const core::Command& command) {
    core::BatchBuilder batch;
    batch.add(command);
    return core::make_entry(log_id(2, index), core::EntryKind::commands, batch.take());
}
core::Entry renewal(std::uint64_t index) {
    return entry_of(index, core::Renew{{{core::SessionId{1}, index}}});
}
core::Entry sweep(std::uint64_t index) {
    return entry_of(index, core::Sweep{});
}

core::AppendRequest append(std::uint64_t previous, std::uint64_t commit,
                           std::vector<core::Entry> entries = {}) {
    core::AppendRequest request;
    request.term = core::Term{2};
    request.previous = log_id(2, previous);
    request.commit = core::LogIndex{commit};
    request.entries = std::move(entries);
    return request;
}
core::AppendReply reply(std::uint64_t match) {
    core::AppendReply reply;
    reply.term = core::Term{2};
    reply.match = core::LogIndex{match};
    return reply;
}

struct FromTo {
    News news;
    bool leader_says(const core::AppendRequest& request, core::NodeId to = n2) {
        return news.is_news(n1, to, core::RaftMessage{request});
    }
    bool follower_says(const core::AppendReply& reply) {
        return news.is_news(n2, n1, core::RaftMessage{reply});
    }
};

TEST(News, AHeartbeatIsLeftOutUnlessItCommitsSomething) {
    FromTo it;
    EXPECT_TRUE(it.leader_says(append(3, 3)));
    EXPECT_FALSE(it.leader_says(append(3, 3)));
    EXPECT_TRUE(it.leader_says(append(4, 4)));
    EXPECT_FALSE(it.leader_says(append(4, 4)));
}

TEST(News, EveryFollowerIsToldByItself) {
    FromTo it;
    EXPECT_TRUE(it.leader_says(append(3, 3), n2));
    EXPECT_TRUE(it.leader_says(append(3, 3), n3));
    EXPECT_FALSE(it.leader_says(append(3, 3), n2));
}

TEST(News, AHeartbeatOfANewTermIsNews) {
    FromTo it;
    it.leader_says(append(3, 3));
    auto next = append(3, 3);
    next.term = core::Term{3};
    EXPECT_TRUE(it.leader_says(next));
}

TEST(News, AHeartbeatThatConfirmsAReadIsNews) {
    FromTo it;
    it.leader_says(append(3, 3));
    auto asks = append(3, 3);
    asks.read_round = 1;
    EXPECT_TRUE(it.leader_says(asks));
    EXPECT_FALSE(it.leader_says(asks));
}

TEST(News, AStepBackInTheLogIsNews) {
    FromTo it;
    it.leader_says(append(5, 3));
    EXPECT_TRUE(it.leader_says(append(4, 3)));
}

TEST(News, AnAcknowledgementCountsOnce) {
    FromTo it;
    EXPECT_TRUE(it.follower_says(reply(3)));
    EXPECT_FALSE(it.follower_says(reply(3)));
    EXPECT_TRUE(it.follower_says(reply(4)));
}

TEST(News, ARejectionOfTheSameIsLeftOut) {
    FromTo it;
    it.follower_says(reply(3));
    auto no = reply(0);
    no.rejected = true;
    no.previous = core::LogIndex{5};
    EXPECT_TRUE(it.follower_says(no));
    EXPECT_FALSE(it.follower_says(no));
    no.previous = core::LogIndex{4};
    EXPECT_TRUE(it.follower_says(no));
    EXPECT_TRUE(it.follower_says(reply(3)));  // it fits now
}

core::Forward forwarded_renewal() {
    core::Forward forward;
    forward.renewal = core::Renewal{core::SessionId{1}, 2};
    return forward;
}

TEST(News, AnElapsedCountdownIsNewsOnce) {
    FromTo it;
    it.follower_says(reply(3));
    auto elapsed = reply(3);
    elapsed.run_out.push_back({core::SessionId{1}, core::LogIndex{2}});
    EXPECT_TRUE(it.follower_says(elapsed));
    EXPECT_FALSE(it.follower_says(elapsed));
}

TEST(News, RenewalsAreLeftOutWithAllThatTheyCauseWhereTheyAreRoutine) {
    FromTo it;
    it.news.renewals_are_routine(true);
    it.leader_says(append(3, 3));
    it.follower_says(reply(3));
    auto forward = forwarded_renewal();
    EXPECT_FALSE(it.news.is_news(n2, n1, forward));
    core::Write write;
    write.append.push_back(renewal(4));
    EXPECT_FALSE(it.news.is_news(write));
    EXPECT_FALSE(it.leader_says(append(3, 3, {renewal(4)})));
    EXPECT_FALSE(it.follower_says(reply(4)));
    EXPECT_FALSE(it.leader_says(append(4, 4)));
    EXPECT_FALSE(it.news.is_news(renewal(4)));
}

TEST(News, RenewalsAreNewsWhereTheyAreNotRoutine) {
    FromTo it;
    auto forward = forwarded_renewal();
    EXPECT_TRUE(it.news.is_news(n2, n1, forward));
    EXPECT_TRUE(it.leader_says(append(3, 3, {renewal(4)})));
    EXPECT_TRUE(it.follower_says(reply(4)));
}

TEST(News, WhatComesWithARenewalIsNotLeftOut) {
    FromTo it;
    it.news.renewals_are_routine(true);
    it.leader_says(append(3, 3));
    it.follower_says(reply(3));
    auto forward = forwarded_renewal();
    core::BatchBuilder batch;
    batch.add(core::Sweep{});
    forward.batch = batch.take();
    EXPECT_TRUE(it.news.is_news(n2, n1, forward));
    EXPECT_TRUE(it.leader_says(append(3, 3, {renewal(4), sweep(5)})));
    EXPECT_TRUE(it.follower_says(reply(5)));
    EXPECT_TRUE(it.leader_says(append(5, 5)));
    core::BatchBuilder both;
    both.add(core::Renew{{{core::SessionId{1}, 3}}});
    both.add(core::Sweep{});
    EXPECT_TRUE(
        it.news.is_news(core::make_entry(log_id(2, 6), core::EntryKind::commands, both.take())));
}

TEST(News, AWriteWithATermIsNewsWhateverElseIsInIt) {
    FromTo it;
    it.news.renewals_are_routine(true);
    core::Write write;
    write.append.push_back(renewal(4));
    write.hard_state = core::HardState{core::Term{3}, n2};
    EXPECT_TRUE(it.news.is_news(write));
}

TEST(News, AnotherEntryInThePlaceOfARenewalIsNews) {
    FromTo it;
    it.news.renewals_are_routine(true);
    EXPECT_FALSE(it.news.is_news(renewal(4)));
    EXPECT_TRUE(it.news.is_news(sweep(4)));
    EXPECT_TRUE(it.follower_says(reply(4)));
}

TEST(News, ARenewalThatWasDescribedStaysNews) {
    FromTo it;
    EXPECT_TRUE(it.news.is_first_word_about(renewal(4).id));
    it.news.renewals_are_routine(true);
    EXPECT_TRUE(it.news.is_news(renewal(4)));
    EXPECT_TRUE(it.follower_says(reply(4)));
}

TEST(News, AQuestionThatIsAskedAgainIsLeftOut) {
    News news;
    core::PreVoteRequest asks{core::Term{2}, 1, log_id(2, 5)};
    EXPECT_TRUE(news.is_news(n1, n2, core::RaftMessage{asks}));
    asks.round = 2;
    EXPECT_FALSE(news.is_news(n1, n2, core::RaftMessage{asks}));
    EXPECT_TRUE(news.is_news(n1, n3, core::RaftMessage{asks}));
    asks.last = log_id(2, 6);
    EXPECT_TRUE(news.is_news(n1, n2, core::RaftMessage{asks}));
}

TEST(News, APreCandidateThatAsksAgainIsLeftOut) {
    News news;
    const core::Note asks{core::Note::Kind::became_pre_candidate, core::Term{2}, {}};
    EXPECT_EQ(news.news_of(n1, {asks}).size(), 1U);
    EXPECT_TRUE(news.news_of(n1, {asks}).empty());
    EXPECT_EQ(news.news_of(n2, {asks}).size(), 1U);
    const core::Note next{core::Note::Kind::became_pre_candidate, core::Term{3}, {}};
    EXPECT_EQ(news.news_of(n1, {next}).size(), 1U);
}

TEST(News, AFollowerOfNobodyThatFollowsSomebodyAtOnceIsNotedOnce) {
    News news;
    const core::Note nobody{core::Note::Kind::became_follower, core::Term{2}, {}};
    const core::Note somebody{core::Note::Kind::became_follower, core::Term{2}, n2};
    const auto both = news.news_of(n1, {nobody, somebody});
    ASSERT_EQ(both.size(), 1U);
    EXPECT_EQ(both.front().peer, n2);
    EXPECT_EQ(news.news_of(n1, {nobody}).size(), 1U);
    const core::Note lost{core::Note::Kind::lost_quorum, core::Term{2}, {}};
    EXPECT_EQ(news.news_of(n1, {lost, nobody}).size(), 2U);
}

TEST(News, AnOfferOfTheFirstEntryIsNewsOnceForEach) {
    News news;
    EXPECT_TRUE(news.is_news(n1, n2, core::FormationOffer{}));
    EXPECT_FALSE(news.is_news(n1, n2, core::FormationOffer{}));
    EXPECT_TRUE(news.is_news(n1, n3, core::FormationOffer{}));
}

TEST(News, ConnectionsAreNewsWhenTheyAreToOthersThanBefore) {
    News news;
    EXPECT_TRUE(news.is_news(n1, core::test::members({1, 2, 3})));
    EXPECT_FALSE(news.is_news(n1, core::test::members({2, 3})));
    EXPECT_TRUE(news.is_news(n1, core::test::members({1, 2, 3, 4})));
}

TEST(News, AnEntryIsDescribedOnce) {
    News news;
    EXPECT_TRUE(news.is_first_word_about(log_id(2, 4)));
    EXPECT_FALSE(news.is_first_word_about(log_id(2, 4)));
    EXPECT_TRUE(news.is_first_word_about(log_id(3, 4)));
    EXPECT_TRUE(news.is_first_outcome_of(log_id(2, 4)));
    EXPECT_FALSE(news.is_first_outcome_of(log_id(2, 4)));
}

}  // namespace
}  // namespace mortise::conversations
