// Holds that change their mode (S13, S19, S27, S28).
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineConversions : public LockMachineTest {
protected:
    static Request upgrade(std::uint64_t session, std::uint64_t seq, std::uint64_t hold) {
        return request(session, seq, Upgrade{Seq{hold}, true});
    }
    static Request try_upgrade(std::uint64_t session, std::uint64_t seq, std::uint64_t hold) {
        return request(session, seq, Upgrade{Seq{hold}, false});
    }
    static Request downgrade(std::uint64_t session, std::uint64_t seq, std::uint64_t hold,
                             LockMode mode) {
        return request(session, seq, Downgrade{Seq{hold}, mode});
    }
};

TEST_F(LockMachineConversions, ADowngradeKeepsItsTokenAndGrantsOthers) {  // S13, S27, P1
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, intent_exclusive));
    EXPECT_EQ(put(downgrade(1, 2, 1, shared)),
              "1.2 converted token=1; 2.1 granted token=2 previous=none/0/");
    EXPECT_EQ(shown(), "1:S:1 2:S:2 | 3:IX");
}

TEST_F(LockMachineConversions, ADowngradeToAModeThatConflictsWithNothingAdmittedIsLegal) {  // S27
    std::uint64_t seq = 0;
    for (const auto held : all_lock_modes) {
        for (const auto wanted : all_lock_modes) {
            const auto hold = ++seq;
            put(acquire(1, hold, held));
            const auto said = put(downgrade(1, ++seq, hold, wanted));
            bool stronger = false;
            for (const auto other : all_lock_modes)
                stronger = stronger || (compatible(held, other) && conflict(wanted, other));
            EXPECT_EQ(said.find("invalid_argument") != std::string::npos, stronger)
                << spec::words(held) << " to " << spec::words(wanted);
            put(release(1, ++seq, hold));
        }
    }
}

TEST_F(LockMachineConversions, AnUpgradeTakesANewToken) {  // S13, S27, P1
    put(acquire(1, 1, update));
    EXPECT_EQ(put(upgrade(1, 2, 1)), "1.2 converted token=2");
    EXPECT_EQ(shown(), "1:X:2 |");
    EXPECT_EQ(put(release(1, 3, 1)), "1.3 released");
    EXPECT_EQ(shown(), "|");
}

TEST_F(LockMachineConversions, AnUpgradeWaitsForReadersAndKeepsNewOnesOut) {  // S27, S28
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    EXPECT_EQ(put(upgrade(1, 2, 1)), "1.2 queued");
    EXPECT_EQ(put(try_acquire(3, 1, intent_shared)), "3.1 busy");
    EXPECT_EQ(put(acquire(3, 2, shared)), "3.2 queued");
    EXPECT_EQ(shown(), "1:U:1 2:S:2 | 1:X 3:S");
    EXPECT_FALSE(machine_.would_grant("a", intent_shared));
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released; 1.2 converted token=3");
    EXPECT_EQ(shown(), "1:X:3 | 3:S");
}

TEST_F(LockMachineConversions, AnUpgradeGoesBeforeOlderWaiters) {  // S28
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, exclusive));
    put(upgrade(1, 2, 1));
    put(release(2, 2, 1));
    EXPECT_EQ(shown(), "1:X:3 | 3:X");
    put(release(1, 3, 1));
    EXPECT_EQ(shown(), "3:X:4 |");
}

TEST_F(LockMachineConversions, ACancelledUpgradeKeepsTheOldModeAndGrantsOthers) {  // S28, S30
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(upgrade(1, 2, 1));
    put(acquire(3, 1, shared));
    EXPECT_EQ(put(cancel(1, 3, 2)),
              "1.2 cancelled; 1.3 cancelled; 3.1 granted token=2 previous=none/0/");
    EXPECT_EQ(shown(), "1:U:1 2:S:2 3:S:2 |");
    EXPECT_EQ(put(cancel(1, 4, 2)), "1.4 not_held");
}

TEST_F(LockMachineConversions, ACancelThatComesAfterTheUpgradeChangesNothing) {  // S18, S28
    put(acquire(1, 1, update));
    put(upgrade(1, 2, 1));
    EXPECT_EQ(put(cancel(1, 3, 2)), "1.3 not_held");
    EXPECT_EQ(shown(), "1:X:2 |");
}

TEST_F(LockMachineConversions, NoRequestNamesALaterHold) {  // S17, S19
    EXPECT_EQ(put(upgrade(1, 1, 3)), "1.1 not_held");
    EXPECT_EQ(put(downgrade(1, 2, 3, shared)), "1.2 not_held");
    put(acquire(1, 3, update));
    EXPECT_EQ(put(cancel(1, 4, 5)), "1.4 not_held");
    EXPECT_EQ(put(upgrade(1, 5, 3)), "1.5 converted token=2");
}

TEST_F(LockMachineConversions, ReleasingTheHoldEndsItsUpgrade) {  // S27
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(upgrade(1, 2, 1));
    put(acquire(3, 1, shared));
    EXPECT_EQ(put(release(1, 3, 1)),
              "1.3 released; 1.2 cancelled; 3.1 granted token=2 previous=clean/1/");
    EXPECT_EQ(shown(), "2:S:2 3:S:2 |");
}

TEST_F(LockMachineConversions, ASharedHoldIsUpgradedOnlyWithoutOtherHolders) {  // S27
    put(acquire(1, 1, shared));
    put(acquire(2, 1, shared));
    EXPECT_EQ(put(try_upgrade(1, 2, 1)), "1.2 busy");
    EXPECT_EQ(put(upgrade(1, 3, 1)), "1.3 deadlock");
    EXPECT_EQ(put(upgrade(2, 2, 1)), "2.2 deadlock");
    put(release(2, 3, 1));
    put(acquire(3, 1, exclusive));
    EXPECT_EQ(put(upgrade(1, 4, 1)), "1.4 converted token=2");  // before who waits
    EXPECT_EQ(shown(), "1:X:2 | 3:X");
}

TEST_F(LockMachineConversions, ATryLeavesNothingBehind) {  // S20, S27
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    EXPECT_EQ(put(try_upgrade(1, 2, 1)), "1.2 busy");
    EXPECT_EQ(shown(), "1:U:1 2:S:2 |");
    EXPECT_EQ(put(acquire(3, 1, shared)), "3.1 granted token=2 previous=none/0/");
}

TEST_F(LockMachineConversions, AnIllegalConversionIsRefused) {  // S27
    put({acquire(1, 1, exclusive), acquire(1, 2, intent_exclusive, "b")});
    EXPECT_EQ(put(upgrade(1, 3, 1)), "1.3 invalid_argument");
    EXPECT_EQ(put(upgrade(1, 4, 2)), "1.4 invalid_argument");
    EXPECT_EQ(put(upgrade(1, 5, 99)), "1.5 not_held");
    EXPECT_EQ(put(upgrade(2, 1, 1)), "2.1 not_held");  // another session's
    EXPECT_EQ(put(downgrade(2, 2, 1, shared)), "2.2 not_held");
    put(acquire(2, 3, exclusive));
    EXPECT_EQ(put(upgrade(2, 4, 3)), "2.4 not_held");  // it waits
}

TEST_F(LockMachineConversions, WhileAnUpgradeWaitsItsHoldIsNotConverted) {  // S27
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(upgrade(1, 2, 1));
    EXPECT_EQ(put(upgrade(1, 3, 1)), "1.3 invalid_argument");
    EXPECT_EQ(put(downgrade(1, 4, 1, shared)), "1.4 invalid_argument");
    EXPECT_EQ(put(downgrade(2, 2, 1, intent_shared)), "2.2 converted token=2");  // another's
    EXPECT_EQ(shown(), "1:U:1 2:IS:2 | 1:X");
}

TEST_F(LockMachineConversions, ARepeatGetsTheSameAnswer) {  // S17
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    const auto asked = upgrade(1, 2, 1);
    EXPECT_EQ(put(asked), "1.2 queued");
    EXPECT_EQ(put(asked), "1.2 queued");
    put(release(2, 2, 1));
    EXPECT_EQ(put(asked), "1.2 converted token=3");
    const auto lower = downgrade(1, 3, 1, shared);
    EXPECT_EQ(put(lower), "1.3 converted token=3");
    put(acquire(2, 3, shared));
    EXPECT_EQ(put(lower), "1.3 converted token=3");
    EXPECT_EQ(put(asked), "1.2 converted token=3");  // an answer, no second upgrade
    EXPECT_EQ(shown(), "1:S:3 2:S:4 |");
}

TEST_F(LockMachineConversions, DeadReadersDelayNoUpgrade) {  // S11
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(acquire(3, 1, shared));
    put(upgrade(1, 2, 1));
    put(expiry(2));
    put(expiry(3));
    EXPECT_EQ(put(Sweep{}), "1.2 converted token=3");
    EXPECT_EQ(put(downgrade(1, 3, 1, update)), "1.3 converted token=3");
}

TEST_F(LockMachineConversions, ADeadUpgradeEndsWithItsHold) {  // S11
    put(acquire(1, 1, update));
    put(acquire(2, 1, shared));
    put(upgrade(1, 2, 1));
    put(acquire(3, 1, shared));
    put(expiry(1));
    EXPECT_EQ(shown(), "2:S:2 | 3:S");
    EXPECT_EQ(put(Sweep{}), "3.1 granted token=2 previous=expired/1/");
    EXPECT_FALSE(machine_.needs_sweep());
}

TEST_F(LockMachineConversions, ReadersThatUpgradeDoNotChangeTheTurn) {  // P9, S31
    put(acquire(1, 1, shared));
    put(upgrade(1, 2, 1));
    put(acquire(2, 1, exclusive));
    put(acquire(3, 1, shared));
    put(downgrade(1, 3, 1, shared));
    EXPECT_EQ(shown(), "1:S:2 | 2:X 3:S");
    put(release(1, 4, 1));
    EXPECT_EQ(shown(), "2:X:3 | 3:S");
}

}  // namespace
}  // namespace mortise::core
