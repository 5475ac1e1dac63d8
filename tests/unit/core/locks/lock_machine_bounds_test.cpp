// What one session may make every replica keep (P11), by the machine and by its specification.
#include <algorithm>

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

// Nobody's any more, and in the way all the same: no session is charged for them.
TEST_F(LockMachineBounds, WhatStaysOfReadersThatLeftIsBounded) {  // S8
    const auto read = [](std::uint64_t seq, HoldTerms terms) {
        return request(1, seq, Acquire{"a", shared, true, {}, false, {}, 0, {}, terms});
    };
    const HoldTerms closed{0, 3'600'000, 0};
    std::uint64_t seq = 0;
    for (std::size_t i = 0; i < left_max; ++i) {
        apply({read(++seq, closed)});
        apply({release(1, seq + 1, seq)});
        ++seq;
        apply({Acknowledge{SessionId{1}, index_}});
    }
    EXPECT_EQ(machine_.table().find("a")->holders().size(), left_max);
    EXPECT_TRUE(put(read(++seq, closed)).ends_with("resource_exhausted"));
    const auto both = [&](std::uint64_t number, HoldTerms terms) {
        AcquireSeveral several;
        several.names = {{"a", shared}, {"b", shared}};
        several.terms = terms;
        return request(1, number, several);
    };
    EXPECT_TRUE(put(both(++seq, closed)).ends_with("resource_exhausted"));
    EXPECT_TRUE(put(read(++seq, {})).find("granted") != std::string::npos);
    EXPECT_TRUE(put(both(++seq, {})).find("granted") != std::string::npos);
    // The end of one makes room.
    apply({EndClosure{machine_.table().extras_of("a")->closures.front().id}});
    EXPECT_TRUE(put(read(++seq, closed)).find("granted") != std::string::npos);
}

// Looking at all of them for each of them would take minutes (P10).
TEST_F(LockMachineBounds, ACrowdOfReadersIsBrokenAndGoesInNoTime) {  // S8, S24
    constexpr std::uint64_t readers = 10'000;
    std::vector<Command> asked;
    std::vector<Command> confirmed;
    for (std::uint64_t seq = 1; seq <= readers; ++seq) {
        const HoldTerms terms{0, 3'600'000, 0};
        asked.push_back(request(1, seq, Acquire{"a", shared, true, {}, false, {}, 0, {}, terms}));
        confirmed.push_back(release(1, readers + seq, seq));
    }
    apply(asked);
    const auto count = [](const Outcomes& outcomes, const auto& is_it) {
        return static_cast<std::uint64_t>(std::ranges::count_if(outcomes, is_it));
    };
    const auto broken = apply({request(3, 1, BreakLock{"a", FencingToken{1}, "stuck", false})});
    EXPECT_EQ(
        count(broken, [](const Outcome& one) { return std::holds_alternative<ClosureEnded>(one); }),
        readers);
    EXPECT_EQ(
        count(broken, [](const Outcome& one) { return std::holds_alternative<ClosureBegun>(one); }),
        readers);
    apply(confirmed);
    EXPECT_TRUE(machine_.table().records().empty());
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
