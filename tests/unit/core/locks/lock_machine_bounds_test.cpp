// How much one session may make every replica keep (P11), for the machine and its specification.
#include <algorithm>

#include "tests/spec/lock_spec.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineBounds : public LockMachineTest {
protected:
    // Releases of holds that do not exist: each is answered, and has no effect.
    std::vector<Command> releases(std::uint64_t first, std::size_t count) const {
        std::vector<Command> batch;
        for (std::uint64_t seq = first; batch.size() < count; ++seq)
            batch.push_back(release(1, seq, seq));
        return batch;
    }
    void apply_releases_until(std::size_t answers) {
        while (kept() < answers)
            apply(releases(next_of(1), std::min<std::size_t>(4'000, answers - kept())));
    }
    // 36 KiB of answers for each.
    static Acquire long_names(LockMode mode) {
        Acquire several;
        several.which = Acquire::Which::all;
        several.wait = true;
        for (std::size_t i = 0; i < names_at_once_max; ++i)
            several.names.push_back({std::to_string(100 + i) + std::string(500, 'x'), mode});
        return several;
    }
    [[nodiscard]] const Session& session() const { return *machine_.sessions().find(SessionId{1}); }
    [[nodiscard]] std::size_t kept() const { return session().answers.size(); }
};

// The acquires are refused with an answer, so that the releases behind them proceed.
TEST_F(LockMachineBounds, AnAcquireOfASessionThatAcknowledgesNothingIsRefused) {  // P11, S21
    put(acquire(1, 1, exclusive));
    apply_releases_until(session_acquires_max - 1);
    EXPECT_EQ(put(acquire(1, next_of(1), exclusive, "b")).find("resource_exhausted"),
              std::string::npos);
    ASSERT_EQ(kept(), session_acquires_max);
    EXPECT_TRUE(put(acquire(1, next_of(1), exclusive, "c")).ends_with(" resource_exhausted"));
    Acquire several;
    several.which = Acquire::Which::all;
    several.names = {{"d", exclusive}};
    EXPECT_TRUE(put(request(1, next_of(1), several)).ends_with(" resource_exhausted"));
    EXPECT_EQ(machine_.table().find("c"), nullptr);
    EXPECT_TRUE(put(release(1, next_of(1), 1)).ends_with(" released"));
    apply({Acknowledge{SessionId{1}, index_}});
    EXPECT_NE(put(acquire(1, next_of(1), exclusive, "c")).find("granted"), std::string::npos);
}

// From a limit on nothing of its stream is applied until it acknowledges.
TEST_F(LockMachineBounds, UnacknowledgedAnswersAreBounded) {  // P11
    put(acquire(1, 1, exclusive));
    apply_releases_until(session_requests_max);
    const auto next = next_of(1);
    EXPECT_EQ(put(release(1, next, 1)), "");
    EXPECT_EQ(put(request(1, next, CloseSession{})), "");
    EXPECT_EQ(next_of(1), next);
    EXPECT_EQ(kept(), session_requests_max);
    EXPECT_EQ(put(release(1, next - 1, next - 1)), "1." + std::to_string(next - 1) + " not_held");
    apply({Acknowledge{SessionId{1}, index_}});
    EXPECT_EQ(put(release(1, next, 1)), "1." + std::to_string(next) + " released");
}

// Few answers, with many long names.
TEST_F(LockMachineBounds, TheBytesOfUnacknowledgedAnswersAreBounded) {  // P11, S21
    while (session().answers.bytes() < session_acquires_bytes_max) {
        const auto seq = next_of(1);
        apply({request(1, seq, long_names(exclusive)), release(1, seq + 1, seq)});
    }
    EXPECT_LT(kept(), 1'000U);
    EXPECT_TRUE(put(acquire(1, next_of(1), exclusive)).ends_with(" resource_exhausted"));
    EXPECT_TRUE(put(release(1, next_of(1), 1)).ends_with(" not_held"));
    apply({Acknowledge{SessionId{1}, index_}});
    EXPECT_EQ(session().answers.bytes(), 0U);
    EXPECT_NE(put(acquire(1, next_of(1), exclusive)).find("granted"), std::string::npos);
}

// Former holds that still block the name are charged to no session.
TEST_F(LockMachineBounds, FormerReadersOfANameAreBounded) {  // S8
    const auto read = [](std::uint64_t seq, HoldTerms terms) {
        return request(1, seq, Acquire{{{"a", shared}}, true, {}, false, {}, 0, {}, terms});
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
        Acquire several;
        several.which = Acquire::Which::all;
        several.names = {{"a", shared}, {"b", shared}};
        several.terms = terms;
        return request(1, number, several);
    };
    EXPECT_TRUE(put(both(++seq, closed)).ends_with("resource_exhausted"));
    EXPECT_TRUE(put(read(++seq, {})).find("granted") != std::string::npos);
    EXPECT_TRUE(put(both(++seq, {})).find("granted") != std::string::npos);
    // The end of one makes capacity.
    apply({EndClosure{machine_.table().closures().of("a").front().id}});
    EXPECT_TRUE(put(read(++seq, closed)).find("granted") != std::string::npos);
}

// Examining all of them for each of them would take minutes (P10).
TEST_F(LockMachineBounds, BreakingManyReadersTakesLittleTime) {  // S8, S24
    constexpr std::uint64_t readers = 10'000;
    std::vector<Command> asked;
    std::vector<Command> confirmed;
    for (std::uint64_t seq = 1; seq <= readers; ++seq) {
        const HoldTerms terms{0, 3'600'000, 0};
        asked.push_back(
            request(1, seq, Acquire{{{"a", shared}}, true, {}, false, {}, 0, {}, terms}));
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

class LockMachineBoundsOfTheSpecification : public LockMachineBounds {
protected:
    LockMachineBoundsOfTheSpecification() {
        machine_ = {};
        index_ = {};
        both({opening(1)});
        both({acquire(1, 1, exclusive)});
    }
    void both(const std::vector<Command>& batch) {
        const auto outcomes = apply(batch);
        EXPECT_TRUE(spec::same(outcomes, spec_.apply(index_, batch)));
        nothing_said_ += outcomes.empty() ? 1 : 0;
    }
    // One request at a time, across a limit that is near.
    void around() {
        for (int i = 0; i < 3; ++i) {
            both({cancel(1, next_of(1), next_of(1) - 1)});
            both({cancel(1, next_of(1), 3)});
            both({acquire(1, next_of(1), shared)});
            both({release(1, next_of(1), next_of(1) - 1)});
            both({request(1, next_of(1), Declined{})});
        }
        both({release(1, next_of(1), 1)});
    }

    spec::LockSpec spec_;
    std::size_t nothing_said_ = 0;
};

TEST_F(LockMachineBoundsOfTheSpecification, AreTheSameForUnacknowledgedAnswers) {
    for (const auto bound : {session_acquires_max, session_requests_max}) {
        while (kept() + 3 < bound)
            both(releases(next_of(1), std::min<std::size_t>(4'000, bound - 3 - kept())));
        EXPECT_EQ(nothing_said_, 0U);
        around();
    }
    EXPECT_GT(nothing_said_, 0U);
    both({Acknowledge{SessionId{1}, index_}});
    both({acquire(1, next_of(1), shared)});
    EXPECT_LT(kept(), 10U);
}

TEST_F(LockMachineBoundsOfTheSpecification, AreTheSameForTheBytesOfUnacknowledgedAnswers) {
    while (session().answers.bytes() + 50'000 < session_acquires_bytes_max) {
        const auto seq = next_of(1);
        both({request(1, seq, long_names(exclusive)), release(1, seq + 1, seq)});
    }
    for (int i = 0; i < 3; ++i) {
        const auto seq = next_of(1);
        both({request(1, seq, long_names(exclusive)), release(1, seq + 1, seq)});
        around();
    }
    EXPECT_GE(session().answers.bytes(), session_acquires_bytes_max);
    both({Acknowledge{SessionId{1}, index_}});
    both({acquire(1, next_of(1), shared)});
    EXPECT_LT(kept(), 10U);
}

}  // namespace
}  // namespace mortise::core
