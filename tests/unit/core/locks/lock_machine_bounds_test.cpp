// What one session may make every replica keep (P11), by the machine and by its specification.
#include "tests/spec/lock_spec.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineBounds : public LockMachineTest {
protected:
    // Without the checks of put(), which look at everything.
    Outcomes apply(const std::vector<Command>& batch) {
        index_ = index_.next();
        Outcomes outcomes;
        machine_.apply(index_, batch, outcomes);
        return outcomes;
    }
    // Cancels of numbers that nobody used, `step` apart: a gap and its neighbour, or no gap.
    std::vector<Command> cancels(std::uint64_t first, std::size_t count, std::uint64_t step) const {
        std::vector<Command> batch;
        for (std::uint64_t seq = first; batch.size() < count; seq += step)
            batch.push_back(cancel(1, seq, seq + step / 2));
        return batch;
    }
    [[nodiscard]] const Session& session() const { return *machine_.sessions().find(SessionId{1}); }
    [[nodiscard]] std::size_t kept() const {
        return session().operations.size() + session().answers.size();
    }
};

TEST_F(LockMachineBounds, GapsInTheNumbersOfASessionAreBounded) {
    put(acquire(1, 1, exclusive));
    for (std::uint64_t round = 0; round < 75; ++round)
        apply(cancels(10 + round * 16'000, 4'000, 4));  // 300,000
    EXPECT_GE(session().seen.runs(), session_runs_max);
    EXPECT_LE(session().seen.runs(), session_runs_max + 1);
    EXPECT_LE(kept(), session_requests_max + 2);
    EXPECT_EQ(put(release(1, 2, 1)), "1.2 released");
}

TEST_F(LockMachineBounds, WhatASessionDoesNotAcknowledgeIsBounded) {
    put(acquire(1, 1, exclusive));
    for (std::uint64_t round = 0; round < 75; ++round)
        apply(cancels(2 + round * 8'000, 4'000, 2));
    EXPECT_EQ(session().seen.runs(), 1U);
    EXPECT_GE(kept(), session_requests_max);
    EXPECT_LE(kept(), session_requests_max + 2);
    const auto next = 2 + 2 * std::uint64_t{session_requests_max};
    EXPECT_EQ(put(release(1, next, 1)), "");
    apply({Acknowledge{SessionId{1}, index_}});
    EXPECT_EQ(put(release(1, next, 1)), "1." + std::to_string(next) + " released");
}

class BoundsOfTheSpecification : public LockMachineBounds {
protected:
    BoundsOfTheSpecification() {
        machine_ = {};
        index_ = {};
        both({opening(1)});
        both({acquire(1, 1, exclusive)});
    }
    void both(const std::vector<Command>& batch) {
        const auto outcomes = apply(batch);
        EXPECT_TRUE(spec::same(outcomes, spec_.apply(index_, batch)));
        passed_over_ += outcomes.empty() ? 1 : 0;
    }
    // One by one, over a bound that is near.
    void around(std::uint64_t seq) {
        for (std::uint64_t i = 0; i < 4; ++i, seq += 100) {
            both({cancel(1, seq, seq + 2)});
            both({cancel(1, seq + 1, 3)});
            both({acquire(1, seq + 10, shared)});
            both({release(1, seq + 20, seq + 10)});
        }
        both({release(1, 2, 1)});
        EXPECT_GT(passed_over_, 0U);
    }

    spec::LockSpec spec_;
    std::size_t passed_over_ = 0;
};

TEST_F(BoundsOfTheSpecification, AreTheSameForGaps) {
    both(cancels(10, session_runs_max / 2 - 2, 4));
    around(10'000'000);
}

TEST_F(BoundsOfTheSpecification, AreTheSameForWhatIsNotAcknowledged) {
    std::uint64_t seq = 10;
    for (const auto bound : {session_acquires_max, session_requests_max}) {
        std::vector<Command> releases;
        while (kept() + releases.size() + 3 < bound)
            releases.push_back(release(1, seq++, 5));
        both(releases);
        passed_over_ = 0;
        around(seq + 1'000);
        seq += 10'000;
    }
    both({Acknowledge{SessionId{1}, index_}});
    both({acquire(1, seq, shared)});
    EXPECT_LT(kept(), 10U);
}

}  // namespace
}  // namespace mortise::core
