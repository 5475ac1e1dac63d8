#include "tests/check/history_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/check/story.hpp"

namespace mortise::check::test {

namespace {

using testing::HasSubstr;

void expect_explained(const Story& story) {
    const auto verdict = check(story.calls);
    EXPECT_TRUE(verdict.explained) << verdict.why;
}

void expect_wrong(const Story& story, const std::string& why) {
    const auto verdict = check(story.calls);
    EXPECT_FALSE(verdict.explained);
    EXPECT_THAT(verdict.why, HasSubstr(why));
}

// --- exclusion

TEST(Exclusion, OneAfterTheOther) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.released("a", 20, 30, 1);
    story.granted("b", 5, 25, 2);
    expect_explained(story);
}

TEST(Exclusion, TwoHoldersOverlap) {  // P2
    Story story;
    story.granted("a", 0, 10, 1);
    story.granted("b", 5, 19, 2);
    story.released("a", 20, 30, 1);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Exclusion, AHolderThatNeverLetsGoKeepsIt) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.granted("b", 5, 1'000'000, 2);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Exclusion, ReadersShareAndWritersDoNot) {
    Story story;
    story.granted("a", 0, 10, 1, shared);
    story.granted("b", 11, 20, 1, shared);
    expect_explained(story);
    story.granted("c", 21, 30, 2);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Exclusion, NamesAreIndependent) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.granted("b", 11, 20, 1).name = "y";
    expect_explained(story);
}

// --- tokens

TEST(Tokens, MustRise) {  // P1
    Story story;
    story.granted("a", 0, 10, 5);
    story.released("a", 20, 30, 5);
    story.granted("b", 40, 50, 4);
    expect_wrong(story, "token 4 was granted after token 5");
}

TEST(Tokens, AreNotGivenTwice) {
    Story story;
    story.granted("a", 0, 10, 5);
    story.released("a", 20, 30, 5);
    story.granted("b", 40, 50, 5);
    expect_wrong(story, "token 5 was granted twice");
}

TEST(Tokens, OrderCallsThatOverlap) {
    Story story;
    story.granted("a", 0, 100, 2);
    story.granted("b", 0, 100, 1);
    story.released("b", 101, 102, 1);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
    story.calls.back().invoked = 100;
    story.calls.back().returned = 110;
    story.calls.front().returned = 105;
    expect_explained(story);
}

TEST(Tokens, AreSharedByReadersOnlyWhileOneHolds) {
    Story story;
    story.granted("a", 0, 10, 5, shared);
    story.released("a", 20, 30, 5);
    story.granted("b", 40, 50, 5, shared);
    expect_wrong(story, "token 5 was granted twice");
}

TEST(Tokens, MayBeSharedWithAFormerReaderOfTheSameProcess) {
    Story story;
    story.granted("a", 0, 10, 5, shared);
    story.released("a", 20, 30, 5);
    story.granted("a", 40, 50, 5, shared);
    expect_explained(story);
    story.released("a", 60, 70, 5);
    story.granted("b", 80, 90, 6);
    story.released("b", 100, 110, 6);
    story.granted("a", 120, 130, 5, shared);
    expect_wrong(story, "token 5 was granted after token 6");
}

TEST(Tokens, MayBeSharedWithAnUnseenReader) {
    Story story;
    story.granted("a", 0, 10, 5, shared);
    story.asked("c", 5, std::nullopt, Outcome::unknown, shared);
    story.released("a", 20, 30, 5);
    story.granted("b", 40, 50, 5, shared);
    expect_explained(story);
}

TEST(Tokens, AreNotSharedByAWriterAndAReader) {
    Story story;
    story.granted("a", 0, 10, 5);
    story.released("a", 20, 30, 5);
    story.granted("b", 25, 50, 5, shared);
    expect_wrong(story, "token 5 was granted twice");
}

// --- a process that shares one token twice

// One after the other: process a releases the token while b has it, shares it again, and learns
// late of that and of its loss; both are broken, and a writer is granted.
Story twice_in_a_row() {
    Story story;
    story.granted("a", 0, 10, 5, shared).valid_until = 1'000;
    story.granted("b", 11, 20, 5, shared).valid_until = 1'000;
    story.released("a", 21, 30, 5);
    story.granted("a", 31, 80, 5, shared);
    story.lost("a", 32, 81, 5);
    story.lost("b", 40, 50, 5);
    story.granted("w", 45, 60, 6);
    return story;
}

TEST(Again, OneAfterTheOtherTheSecondLearntOfLate) {
    expect_explained(twice_in_a_row());
}

TEST(Again, AfterEverybodyLetGo) {
    auto story = twice_in_a_row();
    story.calls[5] = story.calls[2];
    story.calls[5].process = "b";
    expect_explained(story);  // the grant of process a stayed with its node (S39)
    story.calls[3].process = "c";
    story.calls[4].process = "c";
    expect_wrong(story, "token 5 was granted twice");
}

// So the writer was granted first, and then the token could not be shared.
TEST(Again, TheSecondIsInTheWayOfAWriter) {
    auto seen = twice_in_a_row();
    seen.valid("a", 70, 70, 5);
    expect_wrong(seen, "token 6 was granted while token 5 was valid");
    auto trusted = twice_in_a_row();
    trusted.calls[3].valid_until = 1'000;
    expect_wrong(trusted, "token 6 was granted while token 5 was valid");
}

TEST(Again, TheFirstMayHaveBeenGivenBackAndTheSecondIsNot) {
    Story story;
    story.granted("a", 0, 10, 5, shared);
    story.released("a", 20, 30, 5, Outcome::unknown);
    story.granted("a", 31, 40, 5, shared);
    story.granted("w", 45, 60, 6);
    expect_wrong(story, "token 6 was granted while token 5 was valid");
}

TEST(Again, TheSecondIsNotValidAfterItsLoss) {
    auto story = twice_in_a_row();
    story.valid("a", 90, 90, 5);
    expect_wrong(story, "saw a hold valid that it had lost");
}

// A release in progress may refer to either hold.
TEST(Again, BeforeTheFirstIsGivenBackForCertain) {
    Story story;
    story.granted("a", 0, 10, 5, shared);
    story.released("a", 20, 35, 5, Outcome::unknown);
    story.granted("a", 31, 40, 5, shared);
    story.released("a", 41, 42, 5);
    story.granted("w", 45, 60, 6);
    expect_explained(story);
}

// --- and at once

TEST(Twice, OneIsLostAndItsReleaseRefusedTheOtherIsValid) {
    Story story;
    story.granted("a", 0, 10, 5, shared);
    story.granted("a", 1, 11, 5, shared);
    story.lost("a", 12, 15, 5);
    story.released("a", 20, 22, 5, Outcome::not_held);
    story.valid("a", 30, 30, 5);
    story.released("a", 40, 50, 5);
    story.granted("w", 41, 60, 6);
    expect_explained(story);
}

TEST(Twice, OneIsTrustedForLongerThanTheOther) {
    Story story;
    story.granted("a", 0, 10, 5, shared).valid_until = 20;
    story.granted("a", 1, 11, 5, shared).valid_until = 100;
    story.lost("a", 10, 50, 5);
    story.released("a", 25, 28, 5);
    story.granted("w", 26, 30, 6);
    expect_explained(story);
    story.calls.back().returned = 24;
    story.calls.back().invoked = 12;
    story.valid("a", 25, 25, 5);
    expect_wrong(story, "token 6 was granted while token 5 was valid");
}

TEST(Twice, WhichIsLostIsSaid) {
    Story story;
    story.granted("a", 0, 10, 5, shared).hold = 1;
    story.granted("a", 1, 11, 5, shared).hold = 2;
    story.lost("a", 12, 15, 5).hold = 1;
    story.granted("w", 13, 60, 6);
    expect_wrong(story, "token 6 was granted while token 5 was valid");
    story.lost("a", 30, 40, 5).hold = 2;
    expect_explained(story);
}

TEST(Twice, AReleaseFreesTheOneItNames) {
    Story story;
    story.granted("a", 0, 10, 5, shared).hold = 1;
    story.granted("a", 1, 11, 5, shared).hold = 2;
    story.released("a", 20, 30, 5).hold = 1;
    expect_explained(story);
    story.released("a", 31, 40, 5).hold = 1;
    expect_wrong(story, "released by somebody who did not hold it");
    story.calls.back().hold = 2;
    expect_explained(story);
}

// --- release

TEST(Release, ByAStranger) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.released("b", 20, 30, 1);
    expect_wrong(story, "released by somebody who did not hold it");
}

TEST(Release, Twice) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.released("a", 20, 30, 1);
    story.released("a", 40, 50, 1);
    expect_wrong(story, "released by somebody who did not hold it");
}

TEST(Release, RefusedOfAHoldThatIsValid) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.valid("a", 29, 29, 1);
    story.released("a", 20, 28, 1, Outcome::not_held);
    expect_wrong(story, "its release was refused");
}

TEST(Release, WithAnUnknownOutcomeMayTakeEffectLateOrNever) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.released("a", 20, std::nullopt, 1, Outcome::unknown);
    story.busy("b", 1'000, 1'010);
    expect_explained(story);
    story.granted("b", 2'000, 2'010, 2);
    expect_explained(story);
}

TEST(Release, WithAnUnknownOutcomeTakesNoEffectBeforeItsCall) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 100;
    story.granted("b", 11, 19, 2);
    story.released("a", 20, std::nullopt, 1, Outcome::unknown);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

// --- leases

TEST(Lease, EndsByItselfFromWhenItCouldLapse) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.lost("a", 90, 110, 1);
    story.granted("b", 50, 95, 2);
    expect_explained(story);
}

TEST(Lease, DoesNotEndBefore) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.lost("a", 90, 110, 1);
    story.granted("b", 50, 89, 2);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Lease, IsTrustedAsLongAsWasToldWhateverIsLookedAt) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 80;
    story.lost("a", 20, 110, 1);
    story.granted("b", 30, 85, 2);
    expect_explained(story);
    story.calls.back().returned = 75;
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Lease, IsTrustedNoLongerThanItsLossIsKnown) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 80;
    story.lost("a", 20, 40, 1);
    story.granted("b", 30, 45, 2);
    expect_explained(story);
    story.calls.back().returned = 35;
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

// A process that ends its holds itself says until when they were valid.
TEST(Lease, EndsEarlierWhenItsHolderSaysSo) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 80;
    story.lost("a", 20, 40, 1).valid_until = 20;
    story.granted("b", 21, 35, 2);
    expect_explained(story);
}

// It has not received the loss when it resumes.
TEST(Lease, IsNotTrustedByWhoSleptAndAsksForItsRelease) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 100;
    story.granted("b", 150, 160, 2);
    story.released("a", 300, 301, 1, Outcome::lost);
    expect_explained(story);
    story.calls[1].invoked = 50;
    story.calls[1].returned = 60;
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

// It was suspended in the call, and got a grant whose lease had ended by then.
TEST(Lease, IsNotTrustedByWhoSleptUntilItWasOver) {
    Story story;
    story.granted("a", 0, 290, 1);
    story.granted("b", 150, 160, 2);
    story.released("a", 300, 301, 1, Outcome::lost);
    expect_explained(story);
    story.calls.front().valid_until = 400;
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Lease, ThatLapsedNeedNotHaveEnded) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.lost("a", 90, 110, 1);
    story.busy("b", 1'000, 1'010);
    story.released("a", 2'000, 2'010, 1);
    expect_explained(story);
}

TEST(Lease, ThatADeadProcessTrustedRunsToItsEnd) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 80;
    story.died("a", 20);
    story.granted("b", 30, 85, 2);
    expect_explained(story);
    story.calls.back().returned = 75;
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Lease, SeenValidCountsAsTrust) {
    Story story;
    story.granted("a", 0, 10, 1).valid_until = 40;
    story.valid("a", 35, 35, 1).valid_until = 80;
    story.died("a", 38);
    story.granted("b", 41, 75, 2);
    expect_wrong(story, "token 2 was granted while token 1 was valid");
}

TEST(Lease, IsNotValidAfterItWasLost) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.lost("a", 40, 50, 1);
    story.valid("a", 60, 60, 1);
    expect_wrong(story, "saw a hold valid that it had lost");
}

// A process that knows that its lease is over need not be the first to know.
TEST(Lease, KnownToBeLostMayStillBeInTheWay) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.lost("a", 90, 110, 1);
    story.released("a", 120, 130, 1, Outcome::lost);
    story.busy("b", 140, 150);
    expect_explained(story);
    story.calls[2].outcome = Outcome::not_held;
    expect_wrong(story, "nobody was in the way");
}

// What comes after the end of a lease in the order comes after it in time.
TEST(Lease, ThatEndedOrdersWhatComesAfterIt) {
    Story story;
    story.granted("a", 0, 10, 1, core::LockMode::intent_exclusive);
    story.lost("a", 90, 110, 1);
    story.granted("b", 20, 100, 2, core::LockMode::update);
    story.granted("c", 20, 90, 3, core::LockMode::intent_shared);
    expect_explained(story);
    story.calls.back().returned = 80;
    expect_wrong(story, "token 2 was granted after token 3");
}

// --- refusals, and unknown outcomes

TEST(Busy, WhileSomebodyHolds) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.busy("b", 11, 12);
    story.released("a", 20, 30, 1);
    expect_explained(story);
}

TEST(Busy, AlthoughNobodyWasInTheWay) {  // P2
    Story story;
    story.granted("a", 0, 10, 1);
    story.released("a", 20, 30, 1);
    story.busy("b", 31, 40);
    expect_wrong(story, "nobody was in the way");
}

TEST(Busy, ForAReaderAmongReaders) {
    Story story;
    story.granted("a", 0, 10, 1, shared);
    story.busy("b", 11, 12, shared);
    expect_wrong(story, "nobody was in the way");
}

TEST(Busy, ForAReaderBehindAWriterThatWaits) {
    Story story;
    story.granted("a", 0, 10, 1, shared);
    story.busy("b", 11, 12, shared);
    story.granted("c", 5, 40, 2);
    story.released("a", 20, 30, 1);
    expect_explained(story);
}

TEST(Unknown, MayHaveHadTheNameForAWhile) {
    for (const auto outcome : {Outcome::unknown, Outcome::timed_out, Outcome::cancelled}) {
        Story story;
        story.asked("a", 0, 10, outcome);
        story.busy("b", 50, 60);
        story.granted("c", 55, 70, 3);
        expect_explained(story);
    }
}

TEST(Unknown, DoesNotExcuseWhatCameBeforeIt) {
    Story story;
    story.busy("b", 50, 60);
    story.asked("a", 61, std::nullopt, Outcome::unknown);
    expect_wrong(story, "nobody was in the way");
}

TEST(Unknown, ARefusalIsWithoutEffect) {
    Story story;
    story.asked("a", 0, 10, Outcome::refused);
    story.busy("b", 50, 60);
    expect_wrong(story, "nobody was in the way");
}

// --- the window

TEST(Bound, EndsTheSearchWithoutAVerdict) {
    Story story;
    story.granted("a", 0, 10, 1);
    story.granted("b", 5, 19, 2);
    story.released("a", 20, 30, 1);
    const auto cut = check(story.calls, 1);
    EXPECT_TRUE(cut.explained);
    EXPECT_EQ(cut.given_up, 1U);
    const auto whole = check(story.calls);
    EXPECT_FALSE(whole.explained);
    EXPECT_EQ(whole.given_up, 0U);
}

TEST(Window, IsTheTwoCallsThatCannotBothBe) {
    Story story;
    Time time = 0;
    for (std::uint64_t token = 1; token <= 50; ++token, time += 100) {
        story.granted("p" + std::to_string(token % 5), time, time + 10, token);
        story.released("p" + std::to_string(token % 5), time + 20, time + 30, token);
    }
    story.granted("a", time, time + 10, 51);
    story.granted("b", time, time + 12, 52);
    story.released("a", time + 50, time + 60, 51);
    const auto verdict = check(story.calls);
    ASSERT_FALSE(verdict.explained);
    ASSERT_EQ(verdict.window.size(), 2U);
    EXPECT_EQ(verdict.window[0].token, 51U);
    EXPECT_EQ(verdict.window[1].token, 52U);
}

TEST(Window, HasTheTokenThatGoesBack) {
    Story story;
    for (std::uint64_t token = 1; token <= 20; ++token) {
        const auto time = static_cast<Time>(token) * 100;
        story.granted("a", time, time + 10, token);
        story.released("a", time + 20, time + 30, token);
    }
    story.granted("b", 5'000, 5'010, 7);
    const auto verdict = check(story.calls);
    ASSERT_FALSE(verdict.explained);
    EXPECT_LE(verdict.window.size(), 3U);
}

}  // namespace

}  // namespace mortise::check::test
