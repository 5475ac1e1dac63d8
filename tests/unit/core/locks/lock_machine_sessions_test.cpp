// Sessions (S1-S4, S10, S11), and the effect of their end on names.
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

using LockMachineSessions = LockMachineTest;

TEST_F(LockMachineSessions, ARepeatedOpeningOpensOnce) {  // S1, S17
    EXPECT_EQ(put(opening(4)), "opened 4 nonce=41");
    EXPECT_EQ(put(opening(4)), "opened 4 nonce=41");
    EXPECT_EQ(put(opening(5)), "opened 5 nonce=51");
    EXPECT_EQ(machine_.sessions().all().size(), 5U);
    EXPECT_EQ(machine_.sessions().find(SessionId{4})->renewed_at, LogIndex{4});
}

TEST_F(LockMachineSessions, AnIdIsNeverUsedAgain) {  // S1
    EXPECT_EQ(put(close(3)), "ended 3 closed");
    EXPECT_EQ(put(opening(3)), "opened 4 nonce=31");
    EXPECT_EQ(put(close(4)), "ended 4 closed");
    EXPECT_EQ(put(opening(3)), "opened 5 nonce=31");
}

TEST_F(LockMachineSessions, OnlyANewerRenewalCounts) {  // S2
    const auto renew = [&](std::uint64_t number) { return put(Renew{{{SessionId{1}, number}}}); };
    EXPECT_EQ(renew(0), "");  // the opening was renewal 0
    EXPECT_EQ(renew(3), "renewed 1#3");
    EXPECT_EQ(renew(3), "");
    EXPECT_EQ(renew(2), "");
    EXPECT_EQ(machine_.sessions().find(SessionId{1})->renewed_at, LogIndex{5});
    EXPECT_EQ(renew(4), "renewed 1#4");
    EXPECT_EQ(machine_.sessions().find(SessionId{1})->renewed_at, LogIndex{8});
}

TEST_F(LockMachineSessions, ARenewalOfAnEndedSessionIsLost) {  // S3
    put(close(2));
    EXPECT_EQ(put(Renew{{{SessionId{2}, 1}, {SessionId{1}, 1}, {SessionId{77}, 1}}}),
              "renewal lost 2; renewed 1#1; renewal lost 77");
}

TEST_F(LockMachineSessions, AnExpiryOfAnOlderRenewalIsVoid) {  // S4, B-R4
    const auto expiry_before = expiry(1);
    put(Renew{{{SessionId{1}, 1}}});
    EXPECT_EQ(put(expiry_before), "");
    EXPECT_EQ(put(expiry(1)), "ended 1 expired");
    EXPECT_EQ(put(Expire{SessionId{1}, LogIndex{5}}), "");
    EXPECT_EQ(put(Expire{SessionId{9}, LogIndex{5}}), "");
}

TEST_F(LockMachineSessions, ARenewalInTheSameEntryComesFirst) {  // S4
    EXPECT_EQ(put({Renew{{{SessionId{1}, 1}}}, expiry(1)}), "renewed 1#1");
}

TEST_F(LockMachineSessions, ARestartEndsItsFormerLifeAtOnce) {  // S10, P8
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    auto restart = opening(1, 2);
    restart.former_life_ended = true;
    EXPECT_EQ(put(restart), "ended 1 former_life; opened 4 nonce=12");
    EXPECT_EQ(put(Sweep{}), "2.1 granted token=2 previous=expired/1/");
    // A repeat of it does not end the new session.
    EXPECT_EQ(put(restart), "opened 4 nonce=12");
}

TEST_F(LockMachineSessions, AnotherIncarnationIsNotTheFormerLife) {  // S10
    auto restart = opening(1, 2);
    restart.generation.incarnation = Incarnation{999};
    restart.former_life_ended = true;
    EXPECT_EQ(put(restart), "opened 4 nonce=12");
}

TEST_F(LockMachineSessions, AnOlderEpochIsRefused) {  // S10
    put(opening(1, 5));
    EXPECT_EQ(put(opening(1, 4)), "open refused nonce=14");
    auto copied = opening(1, 5);
    copied.nonce = 777;
    copied.former_life_ended = true;
    EXPECT_EQ(put(copied), "open refused nonce=777");
    copied.former_life_ended = false;  // the same process, after its session expired
    EXPECT_EQ(put(copied), "opened 5 nonce=777");
    put(close(4));
    EXPECT_EQ(put(opening(1, 4)), "open refused nonce=14");
}

TEST_F(LockMachineSessions, AFullTableRefusesUnlessARestartMakesRoom) {  // P11, S10
    std::vector<Command> batch;
    for (std::uint64_t i = 4; i <= sessions_max; ++i)
        batch.emplace_back(opening(i));
    apply(batch);
    ASSERT_EQ(machine_.sessions().all().size(), sessions_max);
    EXPECT_EQ(put(opening(sessions_max + 1)), "open refused nonce=1000011 table_full");
    auto restart = opening(2, 2);
    restart.former_life_ended = true;
    EXPECT_EQ(put(restart), "ended 2 former_life; opened 100001 nonce=22");
    EXPECT_EQ(put(opening(2, 1)), "open refused nonce=21");
    EXPECT_EQ(put(close(1)), "ended 1 closed");
    EXPECT_EQ(put(opening(sessions_max + 1)), "opened 100002 nonce=1000011");
}

TEST_F(LockMachineSessions, ClientsLeaveRoomForMembers) {  // P11
    const auto client = [](std::uint64_t number) {
        OpenSession open;
        open.nonce = 10'000'000 + number;
        open.ttl_ms = 10'000;
        open.rho_ppm = 10'000;
        return open;
    };
    std::vector<Command> batch;
    for (std::uint64_t i = 1; i <= client_sessions_max; ++i)
        batch.emplace_back(client(i));
    apply(batch);
    ASSERT_EQ(machine_.sessions().clients(), client_sessions_max);
    EXPECT_EQ(put(client(client_sessions_max + 1)), "open refused nonce=10095905 table_full");
    EXPECT_EQ(put(opening(9)), "opened 95908 nonce=91");
    EXPECT_EQ(put(close(4)), "ended 4 closed");
    EXPECT_EQ(put(client(client_sessions_max + 1)), "opened 95909 nonce=10095905");
}

TEST_F(LockMachineSessions, AnEndIsReportedOnceAndEndsEverythingAtOnce) {  // S11
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    put(acquire(1, 2, shared));
    EXPECT_EQ(put(close(1)), "ended 1 closed");
    EXPECT_EQ(put(close(1)), "");
    EXPECT_EQ(shown(), "| 2:X");
    EXPECT_TRUE(machine_.needs_sweep());
    EXPECT_FALSE(machine_.views().node_of(SessionId{1}).is_set());
    EXPECT_EQ(machine_.views().node_of(SessionId{2}), NodeId{2});
}

TEST_F(LockMachineSessions, ARequestForANameSweepsItFirst) {  // S11
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, shared));
    put(expiry(1));
    EXPECT_EQ(put(acquire(3, 1, exclusive)), "3.1 queued; 2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineSessions, AnAcquireOfADeadHoldersNameIsGrantedAtOnce) {  // S11
    put(acquire(1, 1, exclusive));
    put(expiry(1));
    EXPECT_EQ(put(try_acquire(2, 1, exclusive)), "2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(shown(), "2:X:2 |");
}

TEST_F(LockMachineSessions, HowTheLastHoldEndedIsReportedWhileTheNameExists) {  // S23, S37
    const auto labelled = [](std::uint64_t session, std::uint64_t seq) {
        return request(session, seq,
                       Acquire{{{"a", shared}}, true, {}, false, "of " + std::to_string(session)});
    };
    put(labelled(1, 1));
    put(labelled(2, 1));
    put(expiry(1));
    EXPECT_EQ(put(labelled(3, 1)), "3.1 granted token=1 previous=expired/1/of 1");
    put(release(3, 2, 1));
    put(close(2));  // nothing but a dead one is left
    EXPECT_EQ(put(labelled(3, 3)), "3.3 granted token=2 previous=clean/1/of 2");
    put(expiry(3));
    put(Sweep{});  // after that the name is forgotten
    put(opening(4));
    EXPECT_EQ(put(labelled(4, 1)), "4.1 granted token=3 previous=none/0/");
}

TEST_F(LockMachineSessions, ASweepKeepsLiveSessions) {
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    put(expiry(1));
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(shown(), "2:S:1 | 3:X");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineSessions, NothingIsGrantedToAnEndedSession) {  // S11, B-R6
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, exclusive));
    put(expiry(2));
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released; 3.1 granted token=2 previous=clean/1/");
    EXPECT_EQ(put(release(2, 2, 1)), "");  // S21: touches nobody
    EXPECT_EQ(put(acquire(2, 3, exclusive)), "");
}

TEST_F(LockMachineSessions, ACloseIsACleanReleaseAnExpiryIsNot) {  // S10, S23
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    put(close(1));
    EXPECT_EQ(put(Sweep{}), "2.1 granted token=2 previous=clean/1/");
}

TEST_F(LockMachineSessions, ASweepVisitsWaitedForNamesFirst) {  // S11
    Request held[] = {acquire(1, 1, exclusive, "a"), acquire(1, 2, exclusive, "b"),
                      acquire(1, 3, exclusive, "c")};
    for (const auto& one : held)
        put(one);
    put(acquire(2, 1, exclusive, "c"));
    put(acquire(2, 2, exclusive, "b"));
    put(expiry(1));
    EXPECT_EQ(put(Sweep{}),
              "2.2 granted token=4 previous=expired/2/; 2.1 granted token=5 previous=expired/3/");
    EXPECT_EQ(machine_.table().records().size(), 2U);
}

TEST_F(LockMachineSessions, ASweepVisitsABoundedNumberOfNames) {  // S11, P10
    std::vector<Command> batch;
    const auto name = [](std::size_t i) { return "n" + std::to_string(10'000 + i); };
    constexpr std::size_t names = 2 * sweep_names_max + 10;
    for (std::size_t i = 1; i <= names; ++i)
        batch.emplace_back(acquire(1, i, exclusive, name(i)));
    put(batch);
    put(acquire(2, 1, exclusive, name(names)));
    put(expiry(1));

    const auto left = [&] { return machine_.table().records().size(); };
    EXPECT_NE(put(Sweep{}), "");  // the one that is waited for
    EXPECT_EQ(left(), names - sweep_names_max + 1);
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_TRUE(machine_.needs_sweep());
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_FALSE(machine_.needs_sweep());
    EXPECT_EQ(left(), 1U);
}

TEST_F(LockMachineSessions, ASweepRemovesABoundedNumberOfHoldersAndWaiters) {  // P10, S11
    std::vector<Command> batch;
    constexpr std::size_t many = sweep_traces_max + 10;
    for (std::size_t i = 1; i <= many; ++i)
        batch.emplace_back(acquire(1, i, shared));
    batch.emplace_back(acquire(2, 1, exclusive));
    for (std::size_t i = 1; i <= many; ++i)
        batch.emplace_back(acquire(1, many + i, shared));
    batch.emplace_back(acquire(3, 1, shared));
    put(batch);
    put(expiry(1));
    EXPECT_FALSE(machine_.would_grant("a", shared));
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(shown(), "| 2:X 3:S");
    EXPECT_EQ(put(Sweep{}), "2.1 granted token=2 previous=expired/1/");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineSessions, ARequestForAHalfSweptNameClearsTheRest) {  // S11
    std::vector<Command> batch;
    for (std::size_t i = 1; i <= sweep_traces_max + 10; ++i)
        batch.emplace_back(acquire(1, i, shared));
    batch.emplace_back(acquire(2, 1, exclusive));
    put(batch);
    put(expiry(1));
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(put(acquire(3, 1, shared)), "3.1 queued; 2.1 granted token=2 previous=expired/1/");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineSessions, ASessionThatEndsDuringASweepIsSweptToo) {  // S11
    std::vector<Command> batch;
    const auto name = [](std::size_t i) { return "n" + std::to_string(10'000 + i); };
    constexpr std::size_t names = sweep_names_max + 10;
    for (std::size_t i = 1; i <= names; ++i) {
        batch.emplace_back(i == 1 ? acquire(2, 1, exclusive, name(i))
                                  : acquire(1, i - 1, exclusive, name(i)));
        batch.emplace_back(acquire(3, i, exclusive, name(i)));
    }
    put(batch);
    put(expiry(1));
    put(Sweep{});
    put(expiry(2));  // of a name that the sweep has passed
    put(Sweep{});
    EXPECT_EQ(shown(name(1)).substr(0, 4), "3:X:");
    put(Sweep{});
    put(Sweep{});
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineSessions, EqualEntriesMakeEqualMachines) {  // P2, B-A6
    LockMachine other;
    for (std::uint64_t i = 1; i <= 3; ++i) {
        Outcomes ignored;
        other.apply(LogIndex{i}, {opening(i)}, ignored);
    }
    const std::vector<Command> batch{acquire(1, 1, exclusive), acquire(2, 1, shared), expiry(1),
                                     Sweep{}};
    Outcomes outcomes;
    other.apply(index_.next(), batch, outcomes);
    put(batch);
    EXPECT_EQ(machine_.list("", "", 10), other.list("", "", 10));
    EXPECT_EQ(machine_.table().newest_token(), other.table().newest_token());
}

}  // namespace
}  // namespace mortise::core
