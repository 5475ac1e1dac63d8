// Cached grants in the replicated state (S39, S40, S43, S45): tokens, tries, wait cycles, listings.
#include "core/locks/limits.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineCached : public LockMachineTest {
protected:
    static Request by(std::uint64_t locker, Request asked) {
        std::get<Acquire>(asked.body).locker.number = locker;
        return asked;
    }
    static Request on(const std::string& name, Request asked) {
        std::get<Acquire>(asked.body).names.front().name = name;
        return asked;
    }
    static Request publish(std::uint64_t session, std::uint64_t seq, std::uint64_t hold,
                           std::uint64_t token, std::uint64_t locker = 0) {
        return request(session, seq, Publish{Seq{hold}, FencingToken{token}, {locker, {}}, "user"});
    }
    static Request set(std::uint64_t session, std::uint64_t seq, std::uint64_t hold) {
        return request(session, seq, SetValue{Seq{hold}, "a", "one"});
    }
};

TEST_F(LockMachineCached, TheNextGrantHasATokenAboveAllThatWereReserved) {  // P1, S39
    EXPECT_EQ(put(cached(1, 1, 100)), "1.1 granted token=1 cached=100 previous=none/0/");
    put(request(2, 1, Acquire{{{"b", exclusive}}, true, {}, false, {}}));
    EXPECT_EQ(shown("b"), "2:X:101 |");
    put(release(1, 2, 1));
    EXPECT_EQ(put(acquire(2, 2, exclusive)), "2.2 granted token=102 previous=none/0/");
}

TEST_F(LockMachineCached, ReadersReserveNoTokens) {  // S39
    EXPECT_EQ(put(cached(1, 1, 100, shared)), "1.1 granted token=1 cached=1 previous=none/0/");
    EXPECT_EQ(put(cached(2, 1, 100, shared)), "2.1 granted token=1 cached=1 previous=none/0/");
    EXPECT_EQ(shown(), "1:S:1 2:S:1 |");
}

TEST_F(LockMachineCached, OnlyASimpleRequestIsCached) {  // S43
    auto asked = cached(1, 1, 2);
    std::get<Acquire>(asked.body).terms.min_hold_ms = 1;
    EXPECT_EQ(put(asked), "1.1 invalid_argument");
    EXPECT_EQ(put(cached(1, 2, 2, update)), "1.2 invalid_argument");
    EXPECT_EQ(put(cached(1, 3, cached_tokens_max + 1)), "1.3 invalid_argument");
    asked = cached(1, 4, 2);
    std::get<Acquire>(asked.body).names.push_back({"b", exclusive});
    EXPECT_EQ(put(asked), "1.4 invalid_argument");
    asked = cached(1, 5, 2);
    std::get<Acquire>(asked.body).which = Acquire::Which::all;
    EXPECT_EQ(put(asked), "1.5 invalid_argument");
}

TEST_F(LockMachineCached, ANameWithAValueIsNotCached) {  // S43
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1));
    put(release(1, 3, 1));
    EXPECT_EQ(put(cached(1, 4, 8)), "1.4 granted token=2 previous=clean/1/");
    EXPECT_FALSE(machine_.inspect("a").holders.front().is_cached());
}

TEST_F(LockMachineCached, IsListedAsCachedUntilItIsPublished) {  // S43, S45
    put(cached(1, 1, 8));
    EXPECT_EQ(machine_.inspect("a").holders.front().cached_tokens, 8U);
    EXPECT_EQ(put(publish(1, 2, 1, 5)), "1.2 stored");
    const auto holder = machine_.inspect("a").holders.front();
    EXPECT_FALSE(holder.is_cached());
    EXPECT_EQ(holder.token, FencingToken{5});
    EXPECT_EQ(holder.label, "user");
    put(release(1, 3, 1));
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 granted token=9 previous=none/0/");
}

TEST_F(LockMachineCached, TheNextHolderSeesWhoWasPublished) {  // S23
    put(cached(1, 1, 8));
    put(acquire(2, 1, exclusive));
    put(publish(1, 2, 1, 5));
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 released; 2.1 granted token=9 previous=clean/5/user");
}

TEST_F(LockMachineCached, OnlyACachedGrantIsPublishedWithOneOfItsTokens) {  // S45
    put(cached(1, 1, 8));
    put(request(1, 2, Acquire{{{"b", exclusive}}, true, {}, false, {}}));
    EXPECT_EQ(put(publish(1, 3, 1, 9)), "1.3 invalid_argument");
    EXPECT_EQ(put(publish(1, 4, 2, 9)), "1.4 invalid_argument");
    EXPECT_EQ(put(publish(2, 1, 1, 1)), "2.1 not_held");
    EXPECT_EQ(put(publish(1, 5, 1, 8)), "1.5 stored");
    EXPECT_EQ(put(publish(1, 6, 1, 8)), "1.6 invalid_argument");
}

TEST_F(LockMachineCached, AConversionMakesItAnOrdinaryHold) {
    put(cached(1, 1, 8, shared));
    put(request(1, 2, Upgrade{Seq{1}}));
    EXPECT_FALSE(machine_.inspect("a").holders.front().is_cached());
    put(release(1, 3, 1));
    put(cached(1, 4, 8));
    put(request(1, 5, Downgrade{Seq{4}, shared}));
    EXPECT_FALSE(machine_.inspect("a").holders.front().is_cached());
    EXPECT_EQ(shown(), "1:S:3 |");
}

TEST_F(LockMachineCached, ATryWaitsForACachedGrant) {  // S43
    put(cached(1, 1, 8));
    EXPECT_TRUE(machine_.views().would_recall("a", exclusive));
    EXPECT_EQ(put(try_acquire(2, 1, exclusive)), "2.1 queued");
    // Behind others it does not.
    EXPECT_FALSE(machine_.views().would_recall("a", exclusive));
    EXPECT_EQ(put(try_acquire(3, 1, exclusive)), "3.1 busy");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.1 granted token=9 previous=clean/1/");
    EXPECT_FALSE(machine_.views().would_recall("a", exclusive));
    EXPECT_EQ(put(try_acquire(3, 2, exclusive)), "3.2 busy");
}

// The node gives the grant back, and tells who had it last.
TEST_F(LockMachineCached, ATryGetsWhatWasUsedAndIsUsedNoMore) {  // S43
    put(cached(1, 1, 100));
    EXPECT_EQ(put(try_acquire(2, 1, exclusive)), "2.1 queued");
    auto last = publish(1, 2, 1, 7);
    std::get<Publish>(last.body).ended = true;
    EXPECT_EQ(put(last), "1.2 stored");
    const auto given = put(release(1, 3, 1));
    EXPECT_NE(given.find("2.1 granted token=101 previous=clean/7/user"), std::string::npos)
        << given;
}

TEST_F(LockMachineCached, ATryDoesNotWaitForAnOrdinaryHoldBesideIt) {  // S20, S43
    put(cached(1, 1, 8, shared));
    put(acquire(2, 1, shared));
    EXPECT_FALSE(machine_.views().would_recall("a", exclusive));
    EXPECT_EQ(put(try_acquire(3, 1, exclusive)), "3.1 busy");
}

TEST_F(LockMachineCached, AReaderUpgradesWhenCachedReadersAreGone) {  // S27, S43
    put(cached(1, 1, 8, shared));
    put(acquire(2, 1, shared));
    EXPECT_EQ(put(request(2, 2, Upgrade{Seq{1}})), "2.2 queued");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.2 converted token=2");
}

TEST_F(LockMachineCached, AReaderThatUpgradesIsRefusedWhenAnotherIsPublished) {  // S27, S45
    put(cached(1, 1, 8, shared));
    put(acquire(2, 1, shared));
    put(request(2, 2, Upgrade{Seq{1}}));
    EXPECT_EQ(put(publish(1, 2, 1, 1)), "1.2 stored; 2.2 deadlock");
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 released");
    EXPECT_EQ(shown(), "2:S:1 |");
}

TEST_F(LockMachineCached, OfTwoReadersOneUpgradesAtATime) {  // S27
    put(cached(1, 1, 8, shared));
    put(cached(2, 1, 8, shared));
    EXPECT_EQ(put(request(1, 2, Upgrade{Seq{1}})), "1.2 queued");
    EXPECT_EQ(put(request(2, 2, Upgrade{Seq{1}})), "2.2 deadlock");
}

TEST_F(LockMachineCached, IsBrokenUnderAnyOfItsTokens) {  // S24
    put(cached(1, 1, 8));
    EXPECT_EQ(put(request(2, 1, BreakLock{"a", FencingToken{9}, {}})), "2.1 not_held");
    put(request(2, 2, BreakLock{"a", FencingToken{8}, {}, true}));
    EXPECT_EQ(shown(), "|");
}

// Locker 1 had the name first. Now somebody else of that program may use it, so nobody waits for
// locker 1.
TEST_F(LockMachineCached, IsNotPartOfAWaitCycleUntilItIsPublished) {  // S33, S45
    put(by(1, cached(1, 1, 8)));
    put(by(1, on("c", acquire(1, 2, exclusive))));  // a locker without holds is in no cycle anyway
    put(by(2, on("b", acquire(2, 1, exclusive))));
    put(by(1, on("b", acquire(1, 3, exclusive))));
    EXPECT_EQ(put(by(2, acquire(2, 2, exclusive))), "2.2 queued");
    EXPECT_EQ(put(publish(1, 4, 1, 2, 3)), "1.4 stored");
    EXPECT_EQ(put(release(1, 5, 1)), "1.5 released; 2.2 granted token=11 previous=clean/2/user");
}

TEST_F(LockMachineCached, APublishMayCompleteAWaitCycle) {  // S33, S45
    put(by(1, cached(1, 1, 8)));
    put(by(2, on("b", acquire(2, 1, exclusive))));
    put(by(1, on("b", acquire(1, 2, exclusive))));
    put(by(2, acquire(2, 2, exclusive)));
    const auto said = put(publish(1, 3, 1, 2, 1));
    EXPECT_NE(said.find("2.2 deadlock"), std::string::npos) << said;
    EXPECT_NE(said.find("1.3 stored"), std::string::npos) << said;
}

// A try is given up by its node, so it completes no cycle, and a publication answers it (S20, S43).
TEST_F(LockMachineCached, ATryIsNoPartOfAWaitCycle) {
    put(by(1, on("b", acquire(1, 1, exclusive))));
    put(by(2, cached(2, 1, 8)));
    EXPECT_EQ(put(by(1, try_acquire(1, 2, exclusive))), "1.2 queued");
    EXPECT_EQ(put(by(2, on("b", acquire(2, 2, exclusive)))), "2.2 queued");
    EXPECT_EQ(put(publish(2, 3, 1, 2, 2)), "2.3 stored; 1.2 busy");
    EXPECT_EQ(shown("b"), "1:X:1 | 2:X");
}

// The reader of its own locker was granted before it: it is the readers' turn.
TEST_F(LockMachineCached, ATryBehindItsOwnLockerIsNoWaitCycle) {
    put(by(1, cached(1, 1, 2)));
    EXPECT_EQ(put(by(1, try_acquire(2, 1, exclusive))), "2.1 queued");
    EXPECT_EQ(put(by(1, acquire(2, 2, intent_exclusive))), "2.2 queued");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 2.2 granted token=3 previous=clean/1/");
}

TEST_F(LockMachineCached, ATryOfAllRecallsAsWell) {  // S32, S43
    put(cached(1, 1, 8));
    Acquire all{{{"a", exclusive}, {"b", shared}}, false, {}, false, {}};
    all.which = Acquire::Which::all;
    EXPECT_EQ(put(request(2, 1, all)), "2.1 queued");
    put(release(1, 2, 1));
    EXPECT_EQ(shown("b"), "2:S:10 |");
    EXPECT_EQ(put(request(3, 1, all)), "3.1 busy");
}

// --- several nodes, each with a shared grant (S44)

TEST_F(LockMachineCached, NodesHaveASharedGrantEach) {  // S44
    put(cached(1, 1, 8, shared));
    put(cached(2, 1, 8, shared));
    EXPECT_EQ(put(cached(3, 1, 8, shared)), "3.1 granted token=1 cached=1 previous=none/0/");
    put(release(1, 2, 1));
    const auto holders = machine_.inspect("a").holders;
    ASSERT_EQ(holders.size(), 2U);
    for (const auto& holder : holders) {
        EXPECT_TRUE(holder.is_cached());
        EXPECT_EQ(holder.token, FencingToken{1});
    }
}

TEST_F(LockMachineCached, AWriterWaitsForTheGrantOfEachNode) {  // P1, P2, S44
    put(cached(1, 1, 8, shared));
    put(cached(1, 2, 8, shared));
    put(cached(2, 1, 8, shared));
    EXPECT_EQ(put(cached(3, 1, 8)), "3.1 queued");
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 released");
    EXPECT_EQ(put(cached(1, 4, 8, shared)), "1.4 queued");  // not beside the other readers
    EXPECT_EQ(put(release(1, 5, 2)), "1.5 released");
    EXPECT_EQ(put(release(2, 2, 1)),
              "2.2 released; 3.1 granted token=2 cached=8 previous=clean/1/");
    EXPECT_EQ(put(release(3, 2, 1)),
              "3.2 released; 1.4 granted token=10 cached=1 previous=clean/2/");
}

TEST_F(LockMachineCached, ATryRecallsTheGrantsOfAllNodes) {  // S43, S44
    put(cached(1, 1, 8, shared));
    put(cached(2, 1, 8, shared));
    EXPECT_EQ(put(try_acquire(3, 1, exclusive)), "3.1 queued");
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 3.1 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineCached, OneNodeIsPublishedAndTheOtherStaysCached) {  // S44, S45
    put(cached(1, 1, 8, shared));
    put(cached(2, 1, 8, shared));
    EXPECT_EQ(put(try_acquire(3, 1, exclusive)), "3.1 queued");
    EXPECT_EQ(put(publish(1, 2, 1, 1)), "1.2 stored; 3.1 busy");
    const auto holders = machine_.inspect("a").holders;
    ASSERT_EQ(holders.size(), 2U);
    for (const auto& holder : holders)
        EXPECT_EQ(holder.is_cached(), holder.operation.session == SessionId{2});
}

TEST_F(LockMachineCached, TheEndOfOneNodeLeavesTheGrantOfTheOther) {  // S11, S44, P2
    put(cached(1, 1, 8, shared));
    put(cached(2, 1, 8, shared));
    put(acquire(3, 1, exclusive));
    EXPECT_EQ(put(expiry(1)).find("3.1 granted"), std::string::npos);
    EXPECT_EQ(machine_.inspect("a").holders.back().operation.session, SessionId{2});
    const auto given = put(release(2, 2, 1));
    EXPECT_NE(given.find("3.1 granted token=2"), std::string::npos) << given;
}

TEST_F(LockMachineCached, ComesBackFromItsRows) {
    put(by(1, cached(1, 1, 8)));
    put(cached(2, 1, 8, shared));  // waits
    std::map<std::string, std::string> rows;
    for (const auto& row : machine_.take_changed_rows())
        rows[row.key] = *row.value;
    MachineLoader loader;
    for (const auto& [key, value] : rows)
        ASSERT_TRUE(loader.add(key, value));
    auto loaded = loader.finish(index_);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->inspect("a"), machine_.inspect("a"));
    machine_ = std::move(*loaded);
    EXPECT_EQ(put(cached(1, 1, 8)), "1.1 granted token=1 cached=8 previous=none/0/");  // S17
    EXPECT_EQ(put(release(1, 2, 1)),
              "1.2 released; 2.1 granted token=9 cached=1 previous=clean/1/");
}

}  // namespace
}  // namespace mortise::core
