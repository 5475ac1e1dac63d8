// Several names in one request (S11, S17, S32).
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineSeveralNames : public LockMachineTest {
protected:
    using Which = Acquire::Which;
    using Names = ShortList<NamedMode>;

    static Request all_of(std::uint64_t session, std::uint64_t seq, Names names, bool wait = true) {
        return request(session, seq,
                       Acquire{std::move(names), wait, {}, false, {}, 0, {}, {}, Which::all});
    }
    static Request any_of(std::uint64_t session, std::uint64_t seq, Names names, bool wait = true) {
        return request(session, seq,
                       Acquire{std::move(names), wait, {}, false, {}, 0, {}, {}, Which::any});
    }
};

TEST_F(LockMachineSeveralNames, AllAreGrantedTogetherWithATokenEach) {  // S32
    EXPECT_EQ(put(all_of(1, 1, {{"a", exclusive}, {"b", shared}})),
              "1.1 granted a token=1 previous=none/0/ b token=2 previous=none/0/");
    EXPECT_EQ(shown("a") + shown("b"), "1:X:1 |1:S:2 |");
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
    EXPECT_TRUE(machine_.table().records().empty());
}

TEST_F(LockMachineSeveralNames, ARequestThatWaitsForAllHoldsNothing) {  // S32
    put(acquire(1, 1, exclusive, "b"));
    EXPECT_EQ(put(all_of(2, 1, {{"a", exclusive}, {"b", exclusive}})), "2.1 queued");
    EXPECT_EQ(shown("a") + shown("b"), "| 2:X1:X:1 | 2:X");
    EXPECT_EQ(put(release(1, 2, 1)),
              "1.2 released; 2.1 granted a token=2 previous=none/0/ b token=3 previous=clean/1/");
}

TEST_F(LockMachineSeveralNames, NoLaterRequestOvertakesIt) {  // S32, P9
    put(acquire(1, 1, shared, "b"));
    put(all_of(2, 1, {{"a", shared}, {"b", exclusive}}));
    EXPECT_EQ(put(acquire(3, 1, intent_shared, "a")), "3.1 queued");  // compatible, and free
    EXPECT_FALSE(machine_.would_grant("a", intent_shared, priority_max));
    put(cancel(2, 2, 1));
    EXPECT_EQ(shown("a"), "3:IS:2 |");
}

TEST_F(LockMachineSeveralNames, ItOvertakesNothing) {  // S32
    put(acquire(1, 1, shared));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(all_of(3, 1, {{"a", intent_shared}, {"b", shared}})), "3.1 queued");
    EXPECT_EQ(put(all_of(3, 2, {{"a", intent_shared}, {"b", shared}}, false)), "3.2 busy");
    EXPECT_EQ(shown("b"), "| 3:S");
}

TEST_F(LockMachineSeveralNames, AnUpgradeGoesBeforeIt) {  // S28, S32
    put(acquire(1, 1, update, "a"));
    put(acquire(2, 1, shared, "a"));
    put(acquire(1, 2, exclusive, "b"));
    put(all_of(3, 1, {{"a", intent_shared}, {"b", exclusive}}));  // kept out by b alone
    EXPECT_EQ(put(request(1, 3, Upgrade{Seq{1}})), "1.3 queued");
    EXPECT_EQ(put(release(1, 4, 2)), "1.4 released");
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released; 1.3 converted token=4");
    EXPECT_EQ(put(release(1, 5, 1)),
              "1.5 released; 3.1 granted a token=5 previous=clean/4/ b token=6 previous=clean/3/");
}

TEST_F(LockMachineSeveralNames, TwoThatWantTheSameNamesDoNotWaitForEachOther) {  // S32
    put(acquire(1, 1, exclusive, "a"));
    put(acquire(1, 2, exclusive, "b"));
    put(all_of(2, 1, {{"a", exclusive}, {"b", exclusive}}));
    put(all_of(3, 1, {{"a", exclusive}, {"b", exclusive}}));
    put(release(1, 3, 2));
    EXPECT_EQ(shown("b"), "| 2:X 3:X");
    put(release(1, 4, 1));
    EXPECT_EQ(shown("a") + shown("b"), "2:X:3 | 3:X2:X:4 | 3:X");
    put(release(2, 2, 1));
    EXPECT_EQ(shown("a") + shown("b"), "3:X:5 |3:X:6 |");
}

TEST_F(LockMachineSeveralNames, AnyGetsTheFirstFreeNameInTheOrderGiven) {  // S32
    put(acquire(1, 1, exclusive, "b"));
    EXPECT_EQ(put(any_of(2, 1, {{"b", exclusive}, {"c", exclusive}, {"a", exclusive}}, false)),
              "2.1 granted c token=2 previous=none/0/");
    EXPECT_EQ(put(any_of(3, 1, {{"c", exclusive}, {"b", exclusive}}, false)), "3.1 busy");
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released");
}

TEST_F(LockMachineSeveralNames, AnyLeavesTheOtherQueuesWhenItGotOne) {  // S30, S32
    put(acquire(1, 1, shared, "a"));
    put(acquire(1, 2, exclusive, "b"));
    put(any_of(2, 1, {{"a", exclusive}, {"b", exclusive}}));
    put(acquire(3, 1, shared, "a"));  // behind it
    EXPECT_EQ(put(release(1, 3, 2)),
              "1.3 released; 2.1 granted b token=3 previous=clean/2/; 3.1 granted token=1 "
              "previous=none/0/");
    EXPECT_EQ(put(release(2, 2, 1)), "2.2 released");
}

TEST_F(LockMachineSeveralNames, ACancelLeavesEveryQueue) {  // S18, S32
    put({acquire(1, 1, exclusive, "a"), acquire(1, 2, exclusive, "b")});
    put(any_of(2, 1, {{"b", exclusive}, {"a", exclusive}}));
    EXPECT_EQ(put(cancel(2, 2, 1)), "2.1 cancelled; 2.2 cancelled");
    EXPECT_EQ(shown("a") + shown("b"), "1:X:1 |1:X:2 |");
}

TEST_F(LockMachineSeveralNames, ARepeatGetsTheSameAnswer) {  // S17
    const auto asked = all_of(1, 1, {{"a", exclusive}, {"b", exclusive}});
    const auto said = put(asked);
    put(release(1, 2, 1));
    EXPECT_EQ(put(asked), said);
    EXPECT_EQ(shown("a"), "|");
}

TEST_F(LockMachineSeveralNames, NamesOutOfOrderOrTwiceAreRefused) {  // S32
    EXPECT_EQ(put(all_of(1, 1, {{"b", shared}, {"a", shared}})), "1.1 invalid_argument");
    EXPECT_EQ(put(all_of(1, 2, {{"a", shared}, {"a", exclusive}})), "1.2 invalid_argument");
    EXPECT_EQ(put(any_of(1, 3, {{"a", shared}, {"a", exclusive}})), "1.3 invalid_argument");
    EXPECT_EQ(put(all_of(1, 4, {})), "1.4 invalid_argument");
}

TEST_F(LockMachineSeveralNames, AreLimitedInNumber) {  // S32
    Names names;
    for (std::size_t i = 0; i <= names_at_once_max; ++i)
        names.push_back({"n" + std::to_string(100 + i), shared});
    EXPECT_EQ(put(all_of(1, 1, names)), "1.1 invalid_argument");
    EXPECT_EQ(put(any_of(1, 2, names)), "1.2 invalid_argument");
    EXPECT_TRUE(machine_.table().records().empty());
    names.pop_back();
    put(all_of(1, 3, names));
    EXPECT_EQ(machine_.table().records().size(), names_at_once_max);
    EXPECT_TRUE(put(any_of(1, 4, names)).starts_with("1.4 granted n100 "));
}

TEST_F(LockMachineSeveralNames, HoldsOfAllAreNotConverted) {  // S27, S32
    put(all_of(1, 1, {{"a", update}, {"b", exclusive}}));
    EXPECT_EQ(put(request(1, 2, Upgrade{Seq{1}, true})), "1.2 invalid_argument");
    EXPECT_EQ(put(request(1, 3, Downgrade{Seq{1}, shared})), "1.3 invalid_argument");
    put(any_of(2, 1, {{"c", update}, {"d", update}}));
    EXPECT_EQ(put(request(2, 2, Upgrade{Seq{1}, true})), "2.2 converted token=4");
}

TEST_F(LockMachineSeveralNames, DeadSessionsBlockItOnNoneOfItsNames) {  // S11, S32
    put({acquire(1, 1, exclusive, "a"), acquire(2, 1, exclusive, "b")});
    put(all_of(3, 1, {{"a", exclusive}, {"b", exclusive}}));
    put(expiry(2));
    EXPECT_EQ(put(release(1, 2, 1)),
              "1.2 released; 3.1 granted a token=3 previous=clean/1/ b token=4 "
              "previous=expired/2/");
}

// Any request for one of its names clears the others, even a try that is not granted itself.
TEST_F(LockMachineSeveralNames, ATryIsNotBusyBecauseOfDeadSessionsElsewhere) {  // S20, S32
    put(acquire(1, 1, exclusive, "a"));
    put(acquire(1, 2, exclusive, "b"));
    put(acquire(3, 1, intent_shared, "a"));
    EXPECT_EQ(put(any_of(2, 1, {{"a", exclusive}, {"b", exclusive}})), "2.1 queued");
    put(expiry(1));
    EXPECT_TRUE(machine_.would_grant("a", shared, 0));
    put(acquire(3, 2, shared, "a"));
    EXPECT_EQ(shown("a") + shown("b"), "3:IS:3 3:S:5 |2:X:4 |");
}

TEST_F(LockMachineSeveralNames, ATryGrantsThoseThatDeadSessionsDelayed) {  // S11, S32
    const auto dead_in_the_way = [&](std::uint64_t dead, std::uint64_t seq) {
        put(acquire(dead, 1, exclusive, "b"));
        put(all_of(4, seq, {{"a", shared}, {"b", exclusive}}));
        put(expiry(dead));
    };
    put({opening(4), opening(5)});
    dead_in_the_way(1, 1);
    EXPECT_EQ(put(try_acquire(5, 1, exclusive)),
              "5.1 busy; 4.1 granted a token=2 previous=none/0/ b token=3 previous=expired/1/");
    put(release(4, 2, 1));
    dead_in_the_way(2, 3);
    EXPECT_EQ(put(all_of(5, 2, {{"a", exclusive}, {"c", exclusive}}, false)),
              "5.2 busy; 4.3 granted a token=5 previous=none/0/ b token=6 previous=expired/4/");
    put(release(4, 4, 3));
    dead_in_the_way(3, 5);
    EXPECT_EQ(put(any_of(5, 3, {{"a", exclusive}, {"b", exclusive}}, false)),
              "5.3 busy; 4.5 granted a token=8 previous=none/0/ b token=9 previous=expired/7/");
}

TEST_F(LockMachineSeveralNames, AnyIsTriedBehindThoseThatDeadSessionsDelayed) {  // S11, S32
    put(acquire(1, 1, exclusive, "b"));
    put(all_of(2, 1, {{"a", shared}, {"b", exclusive}}));
    put(expiry(1));
    EXPECT_EQ(put(any_of(3, 1, {{"a", shared}, {"c", shared}})),
              "2.1 granted a token=2 previous=none/0/ b token=3 previous=expired/1/; "
              "3.1 granted a token=2 previous=none/0/");
}

TEST_F(LockMachineSeveralNames, ADeadSessionLeavesEveryQueue) {  // S11, S32
    put({acquire(1, 1, exclusive, "a"), acquire(1, 2, exclusive, "b")});
    put(all_of(2, 1, {{"a", exclusive}, {"b", exclusive}}));
    put(any_of(3, 1, {{"a", exclusive}, {"b", exclusive}}));
    put(expiry(2));
    EXPECT_EQ(put(release(1, 3, 2)), "1.3 released; 3.1 granted b token=3 previous=clean/2/");
    while (machine_.needs_sweep())
        put(Sweep{});
    EXPECT_EQ(shown("a") + shown("b"), "1:X:1 |3:X:3 |");
}

}  // namespace
}  // namespace mortise::core
