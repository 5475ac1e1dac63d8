// Barriers (S35, S37). The name "a" is a barrier of two parties, if nothing else is said.
#include "core/locks/limits.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

class LockMachineBarriers : public LockMachineTest {
protected:
    static Request arrive(std::uint64_t session, std::uint64_t seq, std::uint32_t parties = 2) {
        return request(session, seq, Arrive{"a", parties});
    }
    static Request drop(std::uint64_t session, std::uint64_t seq, std::uint32_t parties = 2) {
        return request(session, seq, Arrive{"a", parties, true});
    }
    static Request quit(std::uint64_t session, std::uint64_t seq, std::uint64_t operation) {
        return request(session, seq, Quit{Seq{operation}, "a"});
    }
    static Request remove(std::uint64_t session, std::uint64_t seq) {
        return request(session, seq, Remove{"a"});
    }
    // "1/2 in 0": one of two parties has arrived in phase 0.
    [[nodiscard]] std::string state() const {
        const auto view = machine_.inspect("a");
        const auto* barrier = view.as<Barrier>();
        if (barrier == nullptr) return "none";
        if (barrier->is_broken) return "broken";
        return std::to_string(barrier->arrived) + "/" + std::to_string(barrier->parties) + " in " +
               std::to_string(barrier->phase);
    }
    // The machine is from now on the one that is loaded from its rows.
    void load_again() {
        MachineLoader loader;
        for (const auto& row : machine_.all_rows())
            ASSERT_TRUE(loader.add(row.key, *row.value)) << row.key;
        auto loaded = loader.finish(index_);
        ASSERT_TRUE(loaded.has_value());
        machine_ = std::move(*loaded);
    }
};

TEST_F(LockMachineBarriers, AllPassWhenTheLastArrives) {  // P2
    EXPECT_EQ(put(arrive(1, 1, 3)), "1.1 queued");
    EXPECT_EQ(put(arrive(2, 1, 3)), "2.1 queued");
    EXPECT_EQ(state(), "2/3 in 0");
    EXPECT_EQ(put(arrive(3, 1, 3)), "3.1 passed; 1.1 passed; 2.1 passed");
    EXPECT_EQ(state(), "0/3 in 1");
    EXPECT_EQ(put(arrive(2, 2, 3)), "2.2 queued");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 not_held") << "it holds nothing";
}

TEST_F(LockMachineBarriers, AViewShowsWhoHasArrived) {
    using Members = std::vector<Barrier::MemberView>;
    const auto members = [&](std::size_t max = SIZE_MAX) {
        return machine_.inspect("a", max).as<Barrier>()->members;
    };
    put(arrive(1, 1, 3));
    put(arrive(2, 1, 3));
    const auto node = [&](std::uint64_t session) {
        return machine_.sessions().find(SessionId{session})->opened.node;
    };
    EXPECT_EQ(members(), (Members{{SessionId{1}, node(1), 1, 1}, {SessionId{2}, node(2), 1, 1}}));
    put(arrive(1, 2, 3));
    EXPECT_EQ(members(), (Members{{SessionId{1}, node(1), 2, 0}, {SessionId{2}, node(2), 1, 0}}));
    EXPECT_EQ(members(1).size(), 1U);
}

TEST_F(LockMachineBarriers, ARepeatedArrivalCountsOnce) {  // S17
    put(arrive(1, 1));
    EXPECT_EQ(put(arrive(1, 1)), "1.1 queued");
    EXPECT_EQ(state(), "1/2 in 0");
    put(arrive(2, 1));
    EXPECT_EQ(put(arrive(1, 1)), "1.1 passed");
    EXPECT_EQ(state(), "0/2 in 1");
}

TEST_F(LockMachineBarriers, TheThreadsOfASessionAreParties) {
    put({arrive(1, 1, 3), arrive(1, 2, 3)});
    EXPECT_EQ(put(arrive(2, 1, 3)), "2.1 passed; 1.1 passed; 1.2 passed");
    put(arrive(2, 2));
    EXPECT_EQ(put(arrive(2, 3)), "2.3 invalid_argument") << "the third party is of session 1";
    EXPECT_EQ(put(arrive(3, 1)), "3.1 invalid_argument");
    EXPECT_EQ(state(), "1/3 in 1");
    EXPECT_EQ(put({arrive(1, 3), arrive(1, 4)}), "1.3 queued; 1.4 passed; 2.2 passed; 1.3 passed");
}

TEST_F(LockMachineBarriers, WhoDropsHasArrivedAndIsMissedNoMore) {
    EXPECT_EQ(put(drop(1, 1, 3)), "1.1 stored");
    EXPECT_EQ(put(arrive(2, 1, 3)), "2.1 queued");
    EXPECT_EQ(put(close(1)), "ended 1 closed") << "it has done its part";
    EXPECT_EQ(put(arrive(3, 1, 3)), "3.1 passed; 2.1 passed");
    EXPECT_EQ(state(), "0/2 in 1");
    put(arrive(2, 2));
    EXPECT_EQ(put(drop(3, 2)), "3.2 stored; 2.2 passed");
    EXPECT_EQ(state(), "0/1 in 2");
    EXPECT_EQ(put(arrive(2, 3)), "2.3 passed");
    EXPECT_EQ(put(drop(2, 4)), "2.4 stored");
    EXPECT_EQ(state(), "0/0 in 4");
    EXPECT_EQ(put(arrive(2, 5)), "2.5 invalid_argument");
}

TEST_F(LockMachineBarriers, BreaksWhenAPartyEndsWhileItWaits) {
    put({arrive(1, 1, 3), arrive(2, 1, 3)});
    EXPECT_EQ(put(expiry(1)), "1.1 barrier_broken; 2.1 barrier_broken; ended 1 expired");
    EXPECT_EQ(state(), "broken");
    EXPECT_EQ(put(arrive(3, 1, 3)), "3.1 barrier_broken");
    EXPECT_EQ(put(drop(3, 2, 3)), "3.2 barrier_broken");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineBarriers, BreaksWhenAPartyEndsBetweenItsArrivals) {  // P2
    put({arrive(1, 1), arrive(2, 1), arrive(2, 2)});
    EXPECT_EQ(put(expiry(1)), "2.2 barrier_broken; ended 1 expired");
    EXPECT_EQ(state(), "broken");
}

TEST_F(LockMachineBarriers, BreaksWhenOneOfSeveralPartiesOfASessionIsLeft) {
    put({arrive(1, 1, 3), drop(1, 2, 3)});
    EXPECT_EQ(put(close(1)), "1.1 barrier_broken; ended 1 closed");
    EXPECT_EQ(state(), "broken");
}

TEST_F(LockMachineBarriers, ASessionThatNeverArrivedBreaksNothing) {
    put(arrive(1, 1));
    put(expiry(2));
    EXPECT_EQ(put(arrive(3, 1)), "3.1 passed; 1.1 passed");
}

TEST_F(LockMachineBarriers, BreaksWhenAnArrivalIsGivenUp) {
    put({arrive(1, 1, 3), arrive(2, 1, 3)});
    EXPECT_EQ(put(quit(1, 2, 1)), "1.2 cancelled; 1.1 barrier_broken; 2.1 barrier_broken");
    EXPECT_EQ(put(quit(2, 2, 1)), "2.2 not_held") << "it is broken already";
    put(remove(3, 1));
    put({arrive(1, 3), arrive(2, 3, 3)});
    EXPECT_EQ(state(), "0/2 in 1");
}

// Its next arrival would count for another phase than its program believes.
TEST_F(LockMachineBarriers, BreaksWhenAnArrivalIsGivenUpTooLate) {
    put({arrive(1, 1), arrive(2, 1), arrive(2, 2)});
    EXPECT_EQ(put(quit(1, 2, 1)), "1.2 cancelled; 2.2 barrier_broken");
    EXPECT_EQ(state(), "broken");
}

TEST_F(LockMachineBarriers, AnArrivalThatWasNeverTakenBreaksNothing) {
    put(arrive(1, 1));
    EXPECT_EQ(put(quit(2, 1, 1)), "2.1 not_held");
    EXPECT_EQ(put(arrive(3, 1)), "3.1 passed; 1.1 passed");
}

TEST_F(LockMachineBarriers, ACancelOfAnArrivalIsTheSame) {
    put({arrive(1, 1, 3), arrive(2, 1, 3)});
    EXPECT_EQ(put(cancel(1, 2, 1)), "1.2 cancelled; 1.1 barrier_broken; 2.1 barrier_broken");
}

TEST_F(LockMachineBarriers, StaysUntilItIsRemoved) {  // S37
    put(drop(1, 1, 1));
    EXPECT_EQ(state(), "0/0 in 1");
    EXPECT_EQ(put(remove(1, 2)), "1.2 stored");
    EXPECT_EQ(state(), "none");
    put(arrive(1, 3));
    EXPECT_EQ(put(remove(2, 1)), "2.1 busy");
    put(arrive(2, 2));
    EXPECT_EQ(put(remove(2, 3)), "2.3 stored") << "nobody waits";
    EXPECT_EQ(put(expiry(1)), "ended 1 expired");
    EXPECT_EQ(put(arrive(2, 4)), "2.4 queued") << "of another barrier";
    EXPECT_EQ(state(), "1/2 in 0");
}

TEST_F(LockMachineBarriers, IsNothingElse) {
    put(arrive(1, 1));
    EXPECT_EQ(put(acquire(1, 2, LockMode::exclusive)), "1.2 kind_mismatch");
    EXPECT_EQ(put(permits(1, 3, 1)), "1.3 kind_mismatch");
    EXPECT_EQ(put(request(1, 4, CountDown{"a", 1, 1})), "1.4 kind_mismatch");
    put(request(1, 5, CountDown{"b", 1, 1}));
    EXPECT_EQ(put(request(1, 6, Arrive{"b", 1})), "1.6 kind_mismatch");
}

TEST_F(LockMachineBarriers, HasAtMostSoManyParties) {
    EXPECT_EQ(put(arrive(1, 1, 0)), "1.1 invalid_argument");
    EXPECT_EQ(put(arrive(1, 2, barrier_parties_max + 1)), "1.2 invalid_argument");
    EXPECT_EQ(put(arrive(1, 3, 1)), "1.3 passed");
    EXPECT_EQ(put(arrive(2, 1, 5)), "2.1 invalid_argument") << "it has one party";
}

// P11: the end of the session answers all who wait there, in one command.
TEST_F(LockMachineBarriers, ASessionTakesPartInAtMostSoMany) {
    std::uint64_t seq = 0;
    const auto arrive_next = [&] {
        ++seq;
        return put(arrive(1, seq));
    };
    while (seq < session_barriers_max) {
        const auto name = "b" + std::to_string(seq);
        ++seq;
        put(request(1, seq, Arrive{name, 2}));
    }
    EXPECT_EQ(arrive_next(), "1.65 resource_exhausted");
    put(request(2, 1, Arrive{"b0", 2}));
    ++seq;
    put(request(1, seq, Arrive{"b0", 2, true}));
    EXPECT_EQ(arrive_next(), "1.67 queued");
}

TEST_F(LockMachineBarriers, IsLoadedAsItWas) {
    put({arrive(1, 1, 4), drop(1, 2, 4), arrive(2, 1, 4)});
    const auto before = machine_.inspect("a");
    load_again();
    EXPECT_EQ(machine_.inspect("a"), before);
    EXPECT_EQ(put(arrive(3, 1)), "3.1 passed; 1.1 passed; 2.1 passed");
    load_again();
    EXPECT_EQ(state(), "0/3 in 1");
    EXPECT_EQ(put(close(3)), "ended 3 closed");
    load_again();
    EXPECT_EQ(state(), "broken");
    EXPECT_EQ(put(arrive(1, 3)), "1.3 barrier_broken");
}

TEST(Barrier, KnowsWhichNumbersAreSound) {
    const SessionId one{1};
    EXPECT_TRUE((Barrier{2, 5, false, {{one, {2, 1, 1}}}}.is_sound()));
    EXPECT_FALSE((Barrier{2, 5, false, {{one, {2, 2, 1}}}}.is_sound())) << "the phase has ended";
    EXPECT_FALSE((Barrier{2, 5, false, {{one, {3, 1, 1}}}}.is_sound()));
    EXPECT_FALSE((Barrier{2, 5, false, {{one, {0, 0, 0}}}}.is_sound()));
    EXPECT_FALSE((Barrier{3, 5, false, {{one, {1, 2, 0}}}}.is_sound()));
    EXPECT_FALSE((Barrier{3, 5, false, {{one, {2, 1, 2}}}}.is_sound()));
    EXPECT_FALSE((Barrier{2, 5, true, {{one, {1, 0, 0}}}}.is_sound()));
    EXPECT_TRUE((Barrier{0, 5, false, {}}.is_sound()));
}

}  // namespace
}  // namespace mortise::core
