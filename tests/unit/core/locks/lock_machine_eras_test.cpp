// Eras: a majority may have forgotten what it acknowledged (docs/decisions/0095).
#include "core/locks/machine/machine_loader.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/totals_row.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineEras : public LockMachineTest {
protected:
    std::string begin_era() {
        index_ = index_.next();
        Outcomes outcomes;
        machine_.begin_era(index_, outcomes);
        machine_.check_invariants();
        std::string text;
        for (const auto& outcome : outcomes)
            text += (text.empty() ? "" : "; ") + spec::words(outcome);
        return text;
    }
    [[nodiscard]] ClosureId closing() const { return machine_.eras().closing->id; }
    [[nodiscard]] std::string totals() const {
        for (const auto& row : machine_.all_rows()) {
            if (row.key == row_key(RowKind::totals)) return *row.value;
        }
        return {};
    }
    [[nodiscard]] std::optional<LockMachine> loaded(LogIndex applied) const {
        MachineLoader loader;
        for (const auto& [key, value] : machine_.all_rows()) {
            if (!loader.add(key, *value)) return std::nullopt;
        }
        return loader.finish(applied);
    }
};

TEST_F(LockMachineEras, EndAllSessionsAsWhenTheyExpire) {
    put(acquire(1, 1, exclusive));
    put(acquire(2, 1, exclusive));
    EXPECT_NE(begin_era().find("ended 1 expired; ended 2 expired; ended 3 expired"),
              std::string::npos);
    EXPECT_EQ(shown(), "|");
    EXPECT_EQ(put(Renew{{{SessionId{1}, 1}}}), "renewal lost 1");
    EXPECT_EQ(put(request(2, 2, Cancel{Seq{1}})), "");
    EXPECT_TRUE(machine_.needs_sweep());
    EXPECT_EQ(put(Sweep{}), "");
    EXPECT_EQ(machine_.table().size(), 0U);
    EXPECT_EQ(machine_.eras().begun, 1U);
}

TEST_F(LockMachineEras, OpenNoSessionBeforeTheLongestLeaseIsOver) {  // P2, P3
    auto longest = opening(4);
    longest.ttl_ms = 11'000;
    longest.rho_ppm = 0;
    put(longest);
    auto longer = opening(5);
    longer.ttl_ms = 10'990;  // with its clock rate bound, it counts for longer
    put(longer);
    begin_era();
    EXPECT_EQ(machine_.eras().closing->time_ms, 10'990U);
    EXPECT_EQ(machine_.eras().closing->rho_ppm, 10'000U);
    EXPECT_EQ(machine_.eras().closing->since, index_);
    EXPECT_EQ(put(opening(6)), "open refused nonce=61 era");
    EXPECT_EQ(put(EndClosure{ClosureId{closing().raw() + 1}}), "");
    EXPECT_EQ(put(opening(6)), "open refused nonce=61 era");
    const auto over = closing();
    EXPECT_EQ(put(EndClosure{over}), "closure " + std::to_string(over.raw()) + " ended");
    EXPECT_EQ(put(EndClosure{over}), "");
    EXPECT_EQ(put(opening(6)), "opened 6 nonce=61");
}

TEST_F(LockMachineEras, RefuseAnEarlierStartForGood) {  // S10
    put(close(1));
    put(opening(1, 7));
    begin_era();
    EXPECT_EQ(put(opening(1, 5)), "open refused nonce=15");
    EXPECT_EQ(put(opening(1, 8)), "open refused nonce=18 era");
}

TEST_F(LockMachineEras, CloseNothingWhereNobodyHasALease) {
    for (std::uint64_t i = 1; i <= 3; ++i)
        put(close(i));
    EXPECT_EQ(begin_era(), "");
    EXPECT_EQ(put(opening(4)), "opened 4 nonce=41");
}

TEST_F(LockMachineEras, LeaveTheClosureOfTheOneBeforeRunning) {
    begin_era();
    const auto before = closing();
    EXPECT_EQ(begin_era(), "");
    EXPECT_EQ(closing(), before);
    EXPECT_EQ(machine_.eras().begun, 2U);
}

TEST_F(LockMachineEras, BeginAboveTheCeilingOfTokens) {  // P1
    EXPECT_EQ(put(RaiseCeiling{FencingToken{1'000}}), "");
    EXPECT_EQ(put(RaiseCeiling{FencingToken{900}}), "");
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(machine_.table().newest_token(), FencingToken{1});
    begin_era();
    put(EndClosure{closing()});
    put(opening(4));
    put(acquire(4, 1, exclusive));
    EXPECT_EQ(shown(), "4:X:1001 |");
    put(acquire(4, 2, exclusive, "b"));
    begin_era();
    EXPECT_EQ(machine_.table().newest_token(), FencingToken{1'002}) << "it is above the ceiling";
}

// A voter may have saved for how long it counted a quorum timer that is forgotten.
TEST_F(LockMachineEras, UseNoNumberOfAQuorumTimerAgain) {
    const auto before = machine_.table().closures().newest();
    begin_era();
    EXPECT_GT(closing().raw() - before.raw(), std::uint64_t{1} << 42U);
}

// The quorum still counts what keeps a name closed.
TEST_F(LockMachineEras, KeepNamesClosedForTheirMinHold) {  // S8
    auto asked = acquire(1, 1, exclusive);
    std::get<Acquire>(asked.body).terms.min_hold_ms = 5'000;
    put(asked);
    const auto min_hold = machine_.table().closures().of("a").front().id;
    begin_era();
    put(EndClosure{closing()});
    put(opening(4));
    put(acquire(4, 1, exclusive));
    EXPECT_EQ(shown(), "| 4:X");
    put(EndClosure{min_hold});
    EXPECT_EQ(shown(), "4:X:2 |");
}

TEST_F(LockMachineEras, AreInTheRows) {  // P4
    EXPECT_EQ(totals(), encode_totals(*decode_totals(totals())));
    put(RaiseCeiling{FencingToken{77}});
    begin_era();
    auto again = loaded(index_);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->eras(), machine_.eras());
    EXPECT_EQ(again->table().newest_token(), FencingToken{77});
    EXPECT_FALSE(loaded(index_.previous()).has_value()) << "the closure began later";
    machine_ = std::move(*again);
    EXPECT_EQ(put(opening(6)), "open refused nonce=61 era");
}

TEST_F(LockMachineEras, LeaveNoTraceInTheRowsOfAClusterThatHasNone) {  // P12
    const auto plain = *decode_totals(totals());
    auto raised = plain;
    raised.eras.token_ceiling = FencingToken{9};
    EXPECT_EQ(encode_totals(plain), encode_totals(raised).substr(0, totals().size()));
    EXPECT_GT(encode_totals(raised).size(), totals().size());
    EXPECT_EQ(decode_totals(encode_totals(raised))->eras, raised.eras);
}

TEST_F(LockMachineEras, RowsOfUnsoundOnesAreRefused) {
    begin_era();
    const auto sound = *decode_totals(totals());
    const auto refused = [](StateTotals totals) { return !decode_totals(encode_totals(totals)); };
    EXPECT_FALSE(refused(sound));
    auto other = sound;
    other.eras.begun = 0;
    EXPECT_TRUE(refused(other));
    other = sound;
    other.eras.token_ceiling = FencingToken{token_ceiling_max + 1};
    EXPECT_TRUE(refused(other));
    other = sound;
    other.eras.closing->id = other.newest_closure.next();
    EXPECT_TRUE(refused(other));
    other = sound;
    other.eras.closing->time_ms = 0;
    EXPECT_TRUE(refused(other));
    other.eras.closing->time_ms = session_ttl_ms_max + 1;
    EXPECT_TRUE(refused(other));
    other = sound;
    other.eras.closing->rho_ppm = rho_ppm_end;
    EXPECT_TRUE(refused(other));
    auto with_nothing = encode_totals(StateTotals{});
    with_nothing += std::string{"\0\0\0\0", 4};  // no marks, and no eras
    EXPECT_FALSE(decode_totals(with_nothing).has_value());
}

TEST_F(LockMachineEras, KeepNoSession) {
    const auto session = opening(4);
    put(session);
    MachineLoader loader;
    const auto closed = [&](std::string_view value) {
        auto totals = *decode_totals(value);
        totals.eras.begun = 1;
        totals.newest_closure = ClosureId{1};
        totals.eras.closing = Closure{ClosureId{1}, Closure::Kind::era, {}, index_, 10, 0};
        return encode_totals(totals);
    };
    for (const auto& [key, value] : machine_.all_rows())
        loader.add(key, key == row_key(RowKind::totals) ? closed(*value) : *value);
    EXPECT_FALSE(loader.finish(index_).has_value());
}

}  // namespace
}  // namespace mortise::core
