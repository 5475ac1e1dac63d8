// Priorities, and the policies that prefer readers or writers (P9, S29, S31).
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachinePriorities : public LockMachineTest {
protected:
    static Request ask(std::uint64_t session, std::uint64_t seq, LockMode mode, Priority priority,
                       QueuePolicy policy = QueuePolicy::phase_fair) {
        return request(session, seq, Acquire{{{"a", mode}}, true, policy, false, {}, priority});
    }

    // `times` times session 1 acquires the name and releases it to session 3, each time past the
    // waiters below that priority. Returns how often that succeeded.
    int overtake(int times, LockMode mode, Priority priority, QueuePolicy policy) {
        for (int done = 0; done < times; ++done) {
            put(ask(3, next_of(3), mode, priority, policy));
            put(release(holder_, next_of(holder_), held_));
            const auto view = machine_.inspect("a");
            if (view.holders.front().operation.session != SessionId{3}) return done;
            holder_ = 3;
            held_ = view.holders.front().operation.seq.raw();
        }
        return times;
    }

    std::uint64_t holder_ = 1;
    std::uint64_t held_ = 1;
};

TEST_F(LockMachinePriorities, AHigherClassIsServedFirst) {  // S29
    put(ask(1, 1, exclusive, 0));
    put(ask(2, 1, exclusive, 0));
    put(ask(3, 1, exclusive, 2));
    put(ask(1, 2, exclusive, 2));
    put(release(1, 3, 1));
    EXPECT_EQ(shown(), "3:X:2 | 2:X 1:X");
    put(release(3, 2, 1));
    EXPECT_EQ(shown(), "1:X:3 | 2:X");
}

TEST_F(LockMachinePriorities, AfterEightOvertakingsAWaiterGoesBeforeTheNextClass) {  // P9, S29
    put(ask(1, 1, exclusive, 0));
    put(ask(2, 1, exclusive, 0));
    EXPECT_EQ(overtake(20, exclusive, 1, QueuePolicy::phase_fair), 8);
    EXPECT_EQ(shown(), "2:X:10 | 3:X");
}

TEST_F(LockMachinePriorities, TheHighestClassDoesNotOvertakeForEver) {  // P9, S29
    put(ask(1, 1, exclusive, 0));
    put(ask(2, 1, exclusive, 0));
    EXPECT_EQ(overtake(100, exclusive, priority_max, QueuePolicy::fifo), 8 * priority_max);
}

TEST_F(LockMachinePriorities, AReaderOfAHigherClassEntersPastAWaitingWriter) {  // S29, S31
    put(ask(1, 1, shared, 0));
    put(ask(2, 1, exclusive, 0));
    EXPECT_EQ(put(ask(3, 1, shared, 1)), "3.1 granted token=1 previous=none/0/");
    EXPECT_EQ(put(ask(3, 2, shared, 0)), "3.2 queued");
    EXPECT_TRUE(machine_.would_grant("a", shared, 1));
    EXPECT_FALSE(machine_.would_grant("a", shared, 0));
}

TEST_F(LockMachinePriorities, AReaderOfAHigherClassLeadsTheBatch) {  // S31
    put(ask(1, 1, exclusive, 0));
    put(ask(2, 1, intent_exclusive, 0));
    put(ask(3, 1, shared, 1));
    put(ask(2, 2, shared, 0));
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "3:S:2 2:S:2 | 2:IX");
}

TEST_F(LockMachinePriorities, ReadersMayBePreferred) {  // S31
    const auto policy = QueuePolicy::prefer_readers;
    put(ask(1, 1, shared, 0, policy));
    put(ask(2, 1, exclusive, 0));
    EXPECT_EQ(put(ask(3, 1, shared, 0)), "3.1 granted token=1 previous=none/0/");
    EXPECT_EQ(machine_.inspect("a").policy, policy);
    EXPECT_EQ(put(try_acquire(3, 2, shared)), "3.2 granted token=1 previous=none/0/");
}

TEST_F(LockMachinePriorities, PreferredReadersKeepAWriterOutEightTimes) {  // P9, S29, S31
    put(ask(1, 1, shared, 0, QueuePolicy::prefer_readers));
    put(ask(2, 1, exclusive, 0));
    for (std::uint64_t seq = 1; seq <= 8; ++seq)
        EXPECT_EQ(put(ask(3, seq, shared, 0)).find("queued"), std::string::npos) << seq;
    EXPECT_EQ(put(ask(3, 9, shared, 0)), "3.9 queued");
}

TEST_F(LockMachinePriorities, WritersMayBePreferred) {  // S31
    put(ask(1, 1, exclusive, 0, QueuePolicy::prefer_writers));
    put(ask(2, 1, shared, 0));
    put(ask(3, 1, exclusive, 0));
    put(release(1, 2, 1));
    EXPECT_EQ(shown(), "3:X:2 | 2:S");
}

TEST_F(LockMachinePriorities, PreferredWritersKeepAReaderOutEightTimes) {  // P9, S29, S31
    put(ask(1, 1, exclusive, 0, QueuePolicy::prefer_writers));
    put(ask(2, 1, shared, 0));
    EXPECT_EQ(overtake(20, exclusive, 0, QueuePolicy::prefer_writers), 8);
    EXPECT_EQ(shown(), "2:S:10 | 3:X");
}

TEST_F(LockMachinePriorities, ThePreferenceOfARecordIsFixed) {  // S31
    put(ask(1, 1, shared, 0, QueuePolicy::prefer_readers));
    auto other = ask(2, 1, shared, 0, QueuePolicy::prefer_writers);
    std::get<Acquire>(other.body).policy_given = true;
    EXPECT_EQ(put(other), "2.1 kind_mismatch");
}

}  // namespace
}  // namespace mortise::core
