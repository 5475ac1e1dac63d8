#include "core/cache/lock_cache.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using namespace std::chrono_literals;
using enum LockMode;

constexpr OperationId one{SessionId{7}, Seq{1}};
constexpr OperationId two{SessionId{7}, Seq{2}};

class LockCacheTest : public testing::Test {
protected:
    ~LockCacheTest() override { cache_.check_invariants(); }

    void granted(OperationId grant, LockMode mode = exclusive, std::uint32_t tokens = 8,
                 const std::string& name = "a") {
        cache_.granted(grant, {name, mode}, FencingToken{10}, tokens, {{1, {}}, "first"});
    }
    // The token of the use; zero if there is none.
    std::uint64_t take(LockMode mode = exclusive, const std::string& name = "a") {
        const auto use = cache_.take(name, mode, {{2, {}}, "next"});
        return use ? use->token.raw() : 0;
    }
    // True if the grant stays here.
    bool release(OperationId grant = one) { return !cache_.released(grant, now_).back; }

    Instant now_{1'000'000'000};
    LockCache cache_;
};

TEST_F(LockCacheTest, AReleasedGrantIsTakenAgainWithTheNextToken) {  // S39
    granted(one);
    EXPECT_EQ(take(), 0U);  // it is in use
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 11U);
    EXPECT_EQ(take(), 0U);
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 12U);
}

TEST_F(LockCacheTest, ItIsOnlyForItsNameAndItsMode) {
    granted(one);
    EXPECT_TRUE(release());
    EXPECT_EQ(take(exclusive, "b"), 0U);
    EXPECT_EQ(take(shared), 0U);
}

TEST_F(LockCacheTest, TheNextUserSeesTheOneBefore) {  // S23
    granted(one);
    EXPECT_TRUE(release());
    EXPECT_EQ(cache_.take("a", exclusive, {{}, "next"}),
              (LockCache::Use{
                  one, FencingToken{11}, {Predecessor::clean, "first", FencingToken{10}}, 6}));
    EXPECT_TRUE(release());
    EXPECT_EQ(cache_.take("a", exclusive, {})->previous,
              (Previous{Predecessor::clean, "next", FencingToken{11}}));
}

TEST_F(LockCacheTest, ReadersKeepTheirToken) {  // S39
    granted(one, shared, 1);
    granted(two, shared, 1);
    EXPECT_TRUE(release(one));
    EXPECT_TRUE(release(two));
    EXPECT_EQ(take(shared), 10U);
    EXPECT_EQ(take(shared), 10U);
    EXPECT_EQ(take(shared), 0U);
    EXPECT_TRUE(release(one));
    EXPECT_EQ(take(shared), 10U);
}

TEST_F(LockCacheTest, ARecallIsForOneOfTheReadersGrants) {  // S40, S44
    granted(one, shared, 1);
    granted(two, shared, 1);
    EXPECT_TRUE(release(one));
    EXPECT_TRUE(release(two));
    const auto back = cache_.recalled(two, now_);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->grant, two);
    EXPECT_EQ(cache_.take("a", shared, {})->grant, one);
    EXPECT_FALSE(cache_.recalled(one, now_));
    EXPECT_FALSE(release(one));
    EXPECT_EQ(cache_.size(), 0U);
}

TEST_F(LockCacheTest, ItGoesBackWhenItsTokensAreUsedUp) {  // S39
    granted(one, exclusive, 3);
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 11U);
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 12U);
    const auto back = cache_.released(one, now_).back;
    ASSERT_TRUE(back);
    EXPECT_EQ(back->last->token, FencingToken{12});
    EXPECT_EQ(take(), 0U);
    EXPECT_GT(cache_.join("a", exclusive, {CallTag{1}}, now_).tokens, 4'096U);
}

TEST_F(LockCacheTest, AnUnusedGrantGoesBackAtOnceWhenItIsRecalled) {  // S40
    granted(one);
    EXPECT_TRUE(release());
    const auto back = cache_.recalled(one, now_);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->grant, one);
    EXPECT_FALSE(back->last);  // the cluster knows its first user
    EXPECT_EQ(take(), 0U);
    EXPECT_FALSE(cache_.recalled(one, now_));
}

TEST_F(LockCacheTest, AUsedGrantGoesBackWithItsUserWhenItIsRecalled) {  // S40, P3
    granted(one);
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 11U);
    EXPECT_FALSE(cache_.recalled(one, now_));
    const auto back = cache_.released(one, now_).back;
    ASSERT_TRUE(back);
    EXPECT_EQ(back->last->token, FencingToken{11});  // S23
    EXPECT_TRUE(back->last->ended);
    EXPECT_EQ(back->last->user.label, "next");
    EXPECT_FALSE(back->last->user.locker.is_set());
    EXPECT_EQ(take(), 0U);
}

TEST_F(LockCacheTest, AUserThatStaysIsPublished) {  // S45
    granted(one);
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 11U);
    EXPECT_EQ(cache_.deadline(), Instant::never());
    EXPECT_FALSE(cache_.recalled(one, now_));
    EXPECT_EQ(cache_.deadline(), now_ + 5ms);
    now_ = now_ + 5ms - 1ns;
    EXPECT_TRUE(cache_.take_due(now_).publish.empty());
    now_ = now_ + 1ns;
    const auto due = cache_.take_due(now_);
    ASSERT_EQ(due.publish.size(), 1U);
    EXPECT_EQ(due.publish.front().token, FencingToken{11});
    EXPECT_EQ(due.publish.front().user.locker.number, 2U);
    EXPECT_TRUE(cache_.take_due(now_ + 1s).publish.empty());
    // The publication may still be on its way on another thread.
    const auto back = cache_.released(one, now_).back;
    ASSERT_TRUE(back);
    EXPECT_EQ(back->last->token, FencingToken{11});
}

TEST_F(LockCacheTest, AConvertedHoldIsAnOrdinaryOne) {
    granted(one);
    const auto publication = cache_.make_ordinary(one, FencingToken{10}, now_).user;
    ASSERT_TRUE(publication);
    EXPECT_EQ(publication->token, FencingToken{10});
    EXPECT_FALSE(cache_.make_ordinary(one, FencingToken{10}, now_).user);
    EXPECT_FALSE(release());
}

// Another thread may release the hold at the same time.
TEST_F(LockCacheTest, OnlyThePresentUserMakesItAnOrdinaryGrant) {  // P3
    granted(one);
    EXPECT_TRUE(release());
    EXPECT_FALSE(cache_.make_ordinary(one, FencingToken{10}, now_).user);  // nobody uses it
    EXPECT_EQ(take(), 11U);
    EXPECT_FALSE(cache_.make_ordinary(one, FencingToken{10}, now_).user);  // another one does
    EXPECT_TRUE(release());
}

// The publication may still be on its way on another thread.
TEST_F(LockCacheTest, APublishedUserIsPublishedAgainBeforeAConversion) {
    granted(one);
    EXPECT_FALSE(cache_.recalled(one, now_));
    EXPECT_EQ(cache_.take_due(now_ + 5ms).publish.size(), 1U);
    EXPECT_TRUE(cache_.make_ordinary(one, FencingToken{10}, now_).user);
}

TEST_F(LockCacheTest, AnUnusedGrantGoesBackAfterAWhile) {  // S43
    granted(one);
    granted(two, exclusive, 8, "b");
    EXPECT_TRUE(release(two));
    now_ = now_ + 500ms;
    EXPECT_TRUE(release(one));
    EXPECT_EQ(cache_.deadline(), now_ + 500ms);
    EXPECT_TRUE(cache_.take_due(now_ + 500ms - 1ns).give_back.empty());
    const auto first = cache_.take_due(now_ + 500ms).give_back;
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first.front().grant, two);
    EXPECT_EQ(cache_.take_due(now_ + 1s).give_back.size(), 1U);
    EXPECT_EQ(cache_.size(), 0U);
}

TEST_F(LockCacheTest, TheNumberOfUnusedGrantsIsBounded) {  // S43
    CacheOptions options;
    options.idle_grants_max = 1;
    LockCache small{options};
    for (const auto grant : {one, two}) {
        small.granted(grant, {"a", shared}, FencingToken{1}, 1, {});
        EXPECT_FALSE(small.released(grant, now_).back);
    }
    EXPECT_LE(small.deadline(), now_);
    const auto due = small.take_due(now_);
    ASSERT_EQ(due.give_back.size(), 1U);
    EXPECT_EQ(due.give_back.front().grant, one);
}

TEST_F(LockCacheTest, ALostGrantIsNotTaken) {  // S42
    granted(one);
    EXPECT_TRUE(release());
    EXPECT_TRUE(cache_.lost(one, now_).was_unused);
    EXPECT_EQ(take(), 0U);
    granted(two);
    const auto lost = cache_.lost(two, now_);
    EXPECT_FALSE(lost.was_unused);  // its user has to be told
    EXPECT_EQ(lost.token, FencingToken{10});
    EXPECT_FALSE(release(two));
}

// --- loans

class FakeLoan final : public LockCache::Loan {
public:
    // Taken so many times since.
    void take(std::uint64_t times, bool in_use = false) {
        state_ = {FencingToken{state_.token.raw() + times}, in_use};
    }
    [[nodiscard]] bool has_ended() const { return has_ended_; }
    [[nodiscard]] State state() const noexcept override { return state_; }
    State end() noexcept override {
        has_ended_ = true;
        return state_;
    }

private:
    State state_{FencingToken{10}, false};
    bool has_ended_ = false;
};

class LockCacheLoans : public LockCacheTest {
protected:
    LockCacheLoans() {
        granted(one);
        EXPECT_TRUE(release());
        EXPECT_TRUE(cache_.lend(one, loan_));
    }

    FakeLoan loan_;
};

TEST_F(LockCacheLoans, TheNextTokenIsBehindThoseOfTheLoan) {  // P1, S39
    loan_.take(3);
    EXPECT_EQ(cache_.taken_again(), 3U);
    EXPECT_FALSE(loan_.has_ended());
    EXPECT_EQ(take(), 14U);
    EXPECT_TRUE(loan_.has_ended());
    EXPECT_EQ(cache_.taken_again(), 3U);
}

TEST_F(LockCacheLoans, NobodyTakesWhatIsInUse) {  // P2
    loan_.take(1, true);
    EXPECT_TRUE(cache_.is_in_use(one));
    EXPECT_EQ(take(), 0U);
    EXPECT_TRUE(loan_.has_ended());
    EXPECT_TRUE(release());
    EXPECT_EQ(take(), 12U);
}

TEST_F(LockCacheLoans, ACallerWaitsForItsUser) {  // S41
    loan_.take(1, true);
    EXPECT_TRUE(cache_.join("a", exclusive, {CallTag{1}}, now_).waits);
    const auto next = cache_.released(one, now_).next;
    ASSERT_TRUE(next);
    EXPECT_EQ(next->use.token, FencingToken{12});
}

TEST_F(LockCacheLoans, ARecallEndsTheLoan) {  // S40
    loan_.take(2);
    const auto back = cache_.recalled(one, now_);
    EXPECT_TRUE(loan_.has_ended());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->last->token, FencingToken{12});  // S23
}

TEST_F(LockCacheLoans, ARecallWaitsForTheUserOfTheLoan) {  // S40
    loan_.take(2, true);
    EXPECT_FALSE(cache_.recalled(one, now_));
    EXPECT_TRUE(loan_.has_ended());
    const auto back = cache_.released(one, now_).back;
    ASSERT_TRUE(back);
    EXPECT_EQ(back->last->token, FencingToken{12});
}

// Its release meets the recall: the owner did not know yet that the loan has ended.
TEST_F(LockCacheLoans, AReleaseEndsTheLoan) {
    loan_.take(1, true);
    EXPECT_TRUE(release());
    EXPECT_TRUE(loan_.has_ended());
    EXPECT_EQ(take(), 12U);
}

TEST_F(LockCacheLoans, AUserOfTheLoanIsConverted) {
    loan_.take(1, true);
    const auto user = cache_.make_ordinary(one, FencingToken{11}, now_).user;
    ASSERT_TRUE(user);
    EXPECT_EQ(user->token, FencingToken{11});
    EXPECT_TRUE(loan_.has_ended());
}

TEST_F(LockCacheLoans, ALossConcernsTheUserOfTheLoan) {
    loan_.take(1, true);
    const auto lost = cache_.lost(one, now_);
    EXPECT_FALSE(lost.was_unused);
    EXPECT_EQ(lost.token, FencingToken{11});
    EXPECT_TRUE(loan_.has_ended());
}

TEST_F(LockCacheLoans, WhatWasTakenSinceTheLastLookStays) {  // S43
    loan_.take(1);
    EXPECT_EQ(cache_.deadline(), now_ + 250ms);
    now_ = cache_.deadline();
    EXPECT_TRUE(cache_.take_due(now_).give_back.empty());
    EXPECT_TRUE(loan_.has_ended());
    EXPECT_EQ(cache_.deadline(), now_ + 1s);
    EXPECT_EQ(cache_.take_due(now_ + 1s).give_back.size(), 1U);
}

TEST_F(LockCacheLoans, WhatIsInUseAtALookStays) {  // S43
    loan_.take(1, true);
    EXPECT_TRUE(cache_.take_due(now_ + 250ms).give_back.empty());
    EXPECT_EQ(cache_.deadline(), Instant::never());
    EXPECT_TRUE(release());
}

TEST_F(LockCacheLoans, AnUntouchedOneGoesBackAfterAWhile) {  // S43
    EXPECT_TRUE(cache_.take_due(now_ + 250ms).give_back.empty());
    EXPECT_TRUE(loan_.has_ended());
    EXPECT_EQ(cache_.deadline(), now_ + 1s);
    EXPECT_EQ(cache_.take_due(now_ + 1s).give_back.size(), 1U);
}

TEST_F(LockCacheTest, TheNumberOfUnusedGrantsCountsThoseThatAreLent) {  // S43
    CacheOptions options;
    options.idle_grants_max = 1;
    LockCache small{options};
    FakeLoan loans[2];
    for (const auto grant : {one, two}) {
        small.granted(grant, {"a", exclusive}, FencingToken{10}, 8, {});
        EXPECT_FALSE(small.released(grant, now_).back);
        EXPECT_TRUE(small.lend(grant, loans[grant == two ? 1 : 0]));
        small.check_invariants();
    }
    EXPECT_LE(small.deadline(), now_);
    const auto due = small.take_due(now_);
    ASSERT_EQ(due.give_back.size(), 1U);
    EXPECT_EQ(due.give_back.front().grant, one);
    EXPECT_TRUE(loans[0].has_ended());
    small.check_invariants();
}

TEST_F(LockCacheLoans, ManyUsesInALoanAreWorthACachedGrant) {  // S41
    loan_.take(5);
    EXPECT_TRUE(cache_.recalled(one, now_));
    cache_.released_ordinary("a", now_);
    EXPECT_NE(cache_.join("a", exclusive, {CallTag{1}}, now_).tokens, 0U);
}

TEST_F(LockCacheTest, AReadersGrantIsNotLent) {  // S44
    granted(one, shared, 1);
    EXPECT_TRUE(release());
    FakeLoan loan;
    EXPECT_FALSE(cache_.lend(one, loan));
    EXPECT_FALSE(cache_.lend(two, loan));
}

TEST_F(LockCacheTest, WhatWasNeverCachedGoesBack) {
    EXPECT_FALSE(release(one));
    EXPECT_FALSE(cache_.recalled(one, now_));
    EXPECT_FALSE(cache_.lost(one, now_).was_unused);
}

}  // namespace
}  // namespace mortise::core
