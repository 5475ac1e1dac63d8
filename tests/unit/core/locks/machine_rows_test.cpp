// A lock machine written as rows, and loaded again.
#include <iterator>
#include <map>

#include "core/base/check.hpp"
#include "core/base/prng.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/machine_loader.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/session_row.hpp"
#include "tests/spec/script.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;
using Store = std::map<std::string, std::string>;

void keep(const std::vector<Row>& rows, Store& store) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_TRUE(i == 0 || rows[i - 1].key < rows[i].key);
        if (rows[i].value) {
            store[rows[i].key] = *rows[i].value;
        } else {
            store.erase(rows[i].key);
        }
    }
}

// Keeps rows like a store.
void save(LockMachine& machine, Store& store) {
    const auto bound = machine.changed_rows();
    const auto rows = machine.take_changed_rows();
    ASSERT_LE(rows.size(), bound);
    keep(rows, store);
}

Store all_rows(const LockMachine& machine) {
    Store store;
    for (auto& [key, value] : machine.all_rows())
        store.emplace(key, *value);
    return store;
}

std::optional<LockMachine> load(const Store& store, LogIndex applied) {
    MachineLoader loader;
    for (const auto& [key, value] : store) {
        if (!loader.add(key, value)) return std::nullopt;
    }
    return loader.finish(applied);
}

// The entry as a leader proposes it at that time.
spec::Entry at_time(std::uint64_t ms, spec::Entry entry) {
    if (!entry.begins_era) entry.insert(entry.begin(), Clock{ms});
    return entry;
}

// Two machines run through one history; the second one is saved now and then, and replaced by the
// machine that is loaded from the rows.
void expect_same_life(std::uint64_t seed) {
    Prng prng{seed};
    LockMachine whole;
    LockMachine other;
    Store store;
    LogIndex index;
    auto script = spec::make_script(seed);
    for (int i = 0; i < 12; ++i)
        script.push_back({Sweep{}});
    std::uint64_t ms = 1;
    for (const auto& one : script) {
        index = index.next();
        const auto entry = index.raw() % 3 == 0 ? at_time(ms += 700, one) : one;
        ASSERT_EQ(spec::apply(whole, index, entry), spec::apply(other, index, entry)) << seed;
        ASSERT_EQ(whole.needs_sweep(), other.needs_sweep()) << seed;
        ASSERT_EQ(whole.table().newest_token(), other.table().newest_token()) << seed;
        if (prng.one_in(3)) save(other, store);
        if (prng.one_in(2)) keep(other.take_changed_names(1 + prng.below(3)), store);
        if (!prng.one_in(6)) continue;
        save(other, store);
        ASSERT_EQ(store, all_rows(whole)) << seed;
        auto loaded = load(store, index);
        ASSERT_TRUE(loaded.has_value()) << seed;
        ASSERT_TRUE(loaded->take_changed_rows().empty()) << seed;
        other = std::move(*loaded);
        ASSERT_EQ(whole.list("", "", 100), other.list("", "", 100)) << seed;
    }
}

TEST(MachineRows, ALoadedMachineBehavesLikeTheSavedOne) {
    for (std::uint64_t seed = 1; seed <= 240 && !testing::Test::HasFatalFailure(); ++seed)
        expect_same_life(seed);
}

// Whatever leaders say of the time: the state is the same but for the marks, and so is
// what follows from it.
TEST(MachineRows, TimesDecideNothing) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Prng prng{seed};
        LockMachine right;
        LockMachine wrong;
        LogIndex index;
        for (const auto& entry : spec::make_script(seed)) {
            index = index.next();
            // Any time, or one that is long over; the first one makes a mark in any case.
            const bool any = index == LogIndex{1} || prng.one_in(2);
            const auto said = any ? 1 + prng.below(clock_ms_max) : 1;
            ASSERT_EQ(spec::apply(right, index, at_time(1'000 * index.raw(), entry)),
                      spec::apply(wrong, index, at_time(said, entry)));
        }
        const auto without_marks = [](const LockMachine& machine) {
            auto rows = all_rows(machine);
            std::erase_if(rows, [](const auto& row) {
                return row.first.front() == 'T' || row.first.front() == 'G';  // G has their number
            });
            return rows;
        };
        EXPECT_EQ(without_marks(right), without_marks(wrong)) << seed;
        EXPECT_EQ(right.table().newest_token(), wrong.table().newest_token()) << seed;
    }
}

// The rows are refused, or make a machine that is sound now and later.
void expect_refused_or_sound(const Store& store, LogIndex applied, const spec::Script& more) {
    auto machine = load(store, applied);
    if (!machine) return;
    EXPECT_NO_THROW({
        machine->check_invariants();
        for (const auto& entry : more) {
            applied = applied.next();
            spec::apply(*machine, applied, entry);
        }
        machine->check_invariants();
    });
}

template <class Damage>
void for_each_damage(const Store& store, const Damage& damage) {
    for (const auto& [key, value] : store) {
        for (std::size_t at = 0; at < key.size() + value.size(); ++at) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                auto bytes = key + value;
                bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
                auto damaged = store;
                damaged.erase(key);
                damaged[bytes.substr(0, key.size())] = bytes.substr(key.size());
                damage(damaged);
            }
        }
    }
}

TEST(MachineRows, AFlippedBitIsRefusedOrASoundMachine) {
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
        const auto script = spec::make_script(seed);
        const auto half = static_cast<std::ptrdiff_t>(script.size() / 2);
        const spec::Script more(script.begin() + half, script.end());
        LockMachine machine;
        LogIndex index;
        for (std::ptrdiff_t i = 0; i < half; ++i) {
            index = index.next();
            const auto& entry = script[static_cast<std::size_t>(i)];
            spec::apply(machine, index, i % 8 == 0 ? at_time(9'000 * index.raw(), entry) : entry);
        }
        const auto store = all_rows(machine);
        ASSERT_TRUE(load(store, index).has_value());
        for_each_damage(
            store, [&](const Store& damaged) { expect_refused_or_sound(damaged, index, more); });
    }
}

class MachineRowsTest : public LockMachineTest {
protected:
    MachineRowsTest() {
        put(request(1, 1, Acquire{{{"a", shared}}, true, QueuePolicy::fifo, false, "first"}));
        put(acquire(2, 1, shared));
        put(acquire(3, 1, exclusive));
        put(acquire(1, 2, exclusive, "b"));
        put(acquire(2, 2, shared, "b"));
        put(release(2, 3, 1));
        put(Renew{{{SessionId{3}, 7}}});
        put(expiry(1));
    }

    std::optional<LockMachine> loaded() const { return load(all_rows(machine_), index_); }
    std::vector<std::string> taken() {
        std::vector<std::string> keys;
        for (const auto& row : machine_.take_changed_rows())
            keys.push_back((row.value ? "+" : "-") + row.key);
        return keys;
    }
    using Keys = std::vector<std::string>;
    static std::string id_key(char kind, char id) {
        return std::string(1, kind) + std::string(7, '\0') + id;
    }
};

TEST_F(MachineRowsTest, EachChangeIsInTheRowsOnce) {
    taken();
    EXPECT_EQ(taken(), Keys{});
    put(acquire(2, 4, shared, "c"));
    put(acquire(2, 5, shared, "d"));
    put(release(2, 6, 4));
    EXPECT_EQ(machine_.changed_rows(), 4U);
    // "c" came and went, and has no row.
    EXPECT_EQ(taken(), (Keys{"+G", "+Ld", "+" + id_key('S', 2)}));
    put(Renew{{{SessionId{2}, 1}}});
    EXPECT_EQ(taken(), Keys{"+" + id_key('S', 2)});
    put(close(2));
    EXPECT_EQ(taken(), (Keys{"+" + id_key('E', 2), "+G", "-" + id_key('S', 2)}));
    while (machine_.needs_sweep())
        put(Sweep{});
    EXPECT_EQ(taken(), (Keys{"-" + id_key('E', 1), "-" + id_key('E', 2), "+G", "+La", "-Lb", "-Ld",
                             "+" + id_key('S', 3)}));
}

TEST_F(MachineRowsTest, ACommandWithoutAnEffectMakesNoRow) {
    taken();
    put(Renew{{{SessionId{3}, 7}}});
    put(Renew{{{SessionId{9}, 7}}});
    put(acquire(2, 1, shared));  // a repeat
    put(Acknowledge{SessionId{2}, LogIndex{1}});
    put(Expire{SessionId{2}, LogIndex{99}});
    EXPECT_EQ(taken(), Keys{});
}

TEST_F(MachineRowsTest, ARequestAheadOfAMissingOneMakesNoRow) {  // S17
    taken();
    EXPECT_EQ(put_ahead(acquire(2, 5, shared, "c")), "");
    EXPECT_EQ(put_ahead(request(2, 5, CloseSession{})), "");
    EXPECT_EQ(taken(), Keys{});
}

TEST_F(MachineRowsTest, ASessionRowHasTheNewestAppliedRequest) {  // S17
    put(Acknowledge{SessionId{2}, index_});
    const auto again = loaded();
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->sessions().find(SessionId{2})->applied, Seq{3});
    EXPECT_TRUE(again->sessions().find(SessionId{2})->answers.empty());
}

// A request beyond it was never applied, so it has no hold, no place in a queue and no answer.
TEST_F(MachineRowsTest, ARowThatIsBehindItsOwnRequestsIsRefused) {  // S17
    const auto whole = all_rows(machine_);
    constexpr SessionId id{2};
    const auto saved = encode_session(*machine_.sessions().find(id));
    const auto without_answers = [&](std::uint64_t applied) {
        auto session = *decode_session(id, saved);
        session.answers.acknowledge(index_);
        session.applied = Seq{applied};
        auto changed = whole;
        changed[id_key('S', 2)] = encode_session(session);
        return changed;
    };
    EXPECT_TRUE(load(without_answers(3), index_).has_value());
    EXPECT_TRUE(load(without_answers(2), index_).has_value());
    EXPECT_FALSE(load(without_answers(1), index_).has_value());  // it waits as number 2
    auto session = *decode_session(id, saved);
    session.applied = Seq{2};
    EXPECT_FALSE(decode_session(id, encode_session(session)).has_value());
    session.answers.acknowledge(index_);
    EXPECT_TRUE(decode_session(id, encode_session(session)).has_value());
    session.broken.insert(Seq{3});
    EXPECT_FALSE(decode_session(id, encode_session(session)).has_value());
}

TEST_F(MachineRowsTest, HasTheTimesAndTheOrigins) {
    const auto before = all_rows(machine_);
    put(Clock{5'000});
    auto open = opening(4);
    open.origin = {"db3", "backup", 4'711, "10.0.0.7"};
    put({Clock{9'000}, open});
    const auto at = index_;
    const auto again = loaded();
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->clock().all(), machine_.clock().all());
    EXPECT_EQ(again->clock().time_of(at), 9'000U);
    EXPECT_EQ(again->sessions().find(SessionId{4})->opened, open);
    EXPECT_EQ(again->sessions().find(SessionId{4})->opened_at, at);
    (void)machine_.take_changed_rows();
    EXPECT_EQ(again->rows_sum(), machine_.rows_sum());
    auto rows = all_rows(machine_);
    ASSERT_EQ(rows.size(), before.size() + 4);  // two marks, a session and its incarnation
    rows.erase(std::prev(rows.end()));          // a mark
    EXPECT_FALSE(load(rows, index_).has_value());
    EXPECT_FALSE(load(all_rows(machine_), at.previous()).has_value());
}

TEST_F(MachineRowsTest, WhereALostHolderRanIsKnownAfterARestart) {  // S23, P4
    auto open = opening(4);
    open.origin = {"db3", "backup", 4'711, {}};
    put({open, opening(5)});
    put(acquire(4, 1, exclusive, "lost"));
    put(expiry(4));
    auto again = loaded();
    ASSERT_TRUE(again.has_value());
    machine_ = std::move(*again);
    EXPECT_NE(put(acquire(5, 1, exclusive, "lost")).find("/backup@db3:4711"), std::string::npos);
}

TEST_F(MachineRowsTest, ARowOfAnEndedSessionHasItsLabelOnce) {  // P12
    const Departure named{Predecessor::expired, "backup@db3:7"};
    const auto row = encode_ended(named);
    EXPECT_EQ(decode_ended(row)->label, named.label);
    EXPECT_FALSE(decode_ended(row.substr(0, row.size() - 1)).has_value());
    EXPECT_FALSE(decode_ended(row + "x").has_value());
    auto empty = encode_ended({Predecessor::expired, {}});
    EXPECT_TRUE(decode_ended(empty).has_value());
    empty.push_back('\0');  // a label of no bytes
    EXPECT_FALSE(decode_ended(empty).has_value());
}

// The rows are those of version 0.2 as long as nothing has a time.
TEST_F(MachineRowsTest, WithoutAMarkNothingIsNoted) {  // P12
    put(opening(4));
    EXPECT_FALSE(machine_.sessions().find(SessionId{4})->opened_at.is_set());
    for (const auto& [key, value] : all_rows(machine_))
        EXPECT_NE(key.front(), 'T');
}

// A client may be older than its member.
TEST_F(MachineRowsTest, TheRowForAClientIsThatOfTheVersionBefore) {
    auto open = opening(4);
    put(open);
    const auto plain = encode_session(*machine_.sessions().find(SessionId{4}));
    put(Clock{5'000});
    auto session = *decode_session(SessionId{4}, plain);
    session.opened.origin = {"db3", "backup", 4'711, "10.0.0.7"};
    session.opened_at = LogIndex{1};
    EXPECT_NE(encode_session(session), plain);
    EXPECT_EQ(encode_session_for_client(session), plain);
}

TEST_F(MachineRowsTest, NoRowsAreTheStateBeforeTheFirstEntry) {
    ASSERT_TRUE(MachineLoader{}.finish({}).has_value());
    EXPECT_FALSE(MachineLoader{}.finish(LogIndex{1}).has_value());
    EXPECT_TRUE(load(all_rows(LockMachine{}), {}).has_value());
}

TEST_F(MachineRowsTest, AMissingRowIsRefused) {  // B-S9
    const auto whole = all_rows(machine_);
    for (const auto& [key, value] : whole) {
        auto less = whole;
        less.erase(key);
        EXPECT_FALSE(load(less, index_).has_value()) << key;
    }
}

TEST_F(MachineRowsTest, AnExtraRowIsRefused) {
    const auto whole = all_rows(machine_);
    for (const auto& [key, value] : whole) {
        MachineLoader loader;
        for (const auto& [k, v] : whole)
            EXPECT_TRUE(loader.add(k, v));
        EXPECT_FALSE(loader.add(key, value)) << key;
        EXPECT_FALSE(loader.finish(index_).has_value()) << key;
        if (key == "G") continue;
        auto more = whole;
        more[key.substr(0, key.size() - 1) + "\x55"] = value;
        EXPECT_FALSE(load(more, index_).has_value()) << key;
    }
    auto more = whole;
    more["X"] = whole.at("G");
    EXPECT_FALSE(load(more, index_).has_value());
    EXPECT_FALSE(MachineLoader{}.add("", whole.at("G")));
}

// Each row is sound by itself: only together they show a waiter that no command can have made.
TEST_F(MachineRowsTest, ARequestForSeveralNamesWaitsAloneOnNone) {
    put(acquire(2, 4, exclusive, "x"));
    put(acquire(2, 5, exclusive, "y"));
    const auto next = index_.next();
    const auto rows_after = [&](Request request) {
        auto machine = loaded();
        spec::apply(machine.value(), next, {std::move(request)});
        return all_rows(*machine);
    };
    for (const auto which : {Acquire::Which::all, Acquire::Which::any}) {
        Acquire both;
        both.which = which;
        both.names = {{"x", exclusive}, {"y", exclusive}};
        const auto several = rows_after(request(3, 2, both));
        ASSERT_TRUE(load(several, next).has_value());
        for (const std::string name : {"x", "y"}) {
            auto mixed = several;
            mixed["L" + name] = rows_after(acquire(3, 2, exclusive, name)).at("L" + name);
            EXPECT_FALSE(load(mixed, next).has_value()) << name;
        }
    }
}

TEST_F(MachineRowsTest, RowsOutOfOrderAreRefused) {
    const auto whole = all_rows(machine_);
    for (auto late = whole.begin(); std::next(late) != whole.end(); ++late) {
        MachineLoader loader;
        for (auto row = whole.begin(); row != late; ++row)
            EXPECT_TRUE(loader.add(row->first, row->second));
        const auto early = std::next(late);
        loader.add(early->first, early->second);
        EXPECT_FALSE(loader.add(late->first, late->second)) << late->first;
        EXPECT_FALSE(loader.finish(index_)) << late->first;
    }
}

TEST_F(MachineRowsTest, EveryTruncationAndEveryTailIsRefused) {
    const auto whole = all_rows(machine_);
    for (const auto& [key, value] : whole) {
        for (std::size_t size = 0; size < value.size(); ++size) {
            EXPECT_FALSE(MachineLoader{}.add(key, value.substr(0, size))) << key << " " << size;
        }
        EXPECT_FALSE(MachineLoader{}.add(key, value + '\0')) << key;
        if (key.front() == 'L') continue;
        for (std::size_t size = 0; size < key.size(); ++size) {
            EXPECT_FALSE(MachineLoader{}.add(key.substr(0, size), value)) << key << " " << size;
        }
        EXPECT_FALSE(MachineLoader{}.add(key + "x", value)) << key;
    }
    EXPECT_FALSE(MachineLoader{}.add("L", whole.at("La")));
    EXPECT_FALSE(MachineLoader{}.add("L" + std::string(name_bytes_max + 1, 'n'), whole.at("La")));
}

TEST_F(MachineRowsTest, AnotherVersionIsRefused) {  // P12
    for (const auto& [key, value] : all_rows(machine_)) {
        for (const int version : {0, row_format + 1, 255}) {
            auto other = value;
            other[0] = static_cast<char>(version);
            EXPECT_FALSE(MachineLoader{}.add(key, other)) << key << " " << version;
        }
    }
}

TEST_F(MachineRowsTest, AnyOtherByteIsRefusedOrASoundMachine) {
    const auto whole = all_rows(machine_);
    const spec::Script more{{Sweep{}},
                            {acquire(2, 4, exclusive), acquire(3, 2, shared, "b")},
                            {expiry(2)},
                            {Sweep{}, opening(9), acquire(3, 3, exclusive)}};
    for (const auto& [key, value] : whole) {
        for (std::size_t at = 0; at < value.size(); ++at) {
            for (int byte = 0; byte < 256; ++byte) {
                auto damaged = whole;
                damaged[key][at] = static_cast<char>(byte);
                expect_refused_or_sound(damaged, index_, more);
            }
        }
    }
}

TEST_F(MachineRowsTest, RowsFromBehindTheAppliedIndexAreRefused) {
    const auto whole = all_rows(machine_);
    EXPECT_TRUE(load(whole, LogIndex{100}).has_value());
    EXPECT_FALSE(load(whole, LogIndex{3}).has_value());
    EXPECT_FALSE(load(whole, {}).has_value());
}

TEST_F(MachineRowsTest, NoiseIsRefusedOrASoundMachine) {
    Prng prng{5};
    const auto whole = all_rows(machine_);
    for (int i = 0; i < 20'000; ++i) {
        auto damaged = whole;
        auto row = damaged.begin();
        std::advance(row, prng.below(damaged.size()));
        row->second.resize(1 + prng.below(row->second.size()));
        for (auto left = prng.below(20); left > 0; --left) {
            // With small values more of the row can be read.
            row->second.push_back(
                static_cast<char>(prng.one_in(3) ? prng.below(256) : prng.below(4)));
        }
        expect_refused_or_sound(damaged, index_, {{Sweep{}}, {expiry(2), Sweep{}}});
    }
}

TEST_F(MachineRowsTest, ASweepContinuesEvenWithinAName) {  // S11
    std::vector<Command> batch;
    for (std::uint64_t i = 0; i < sweep_traces_max + 100; ++i) {
        batch.emplace_back(acquire(2, 4 + 2 * i, shared));
        batch.emplace_back(acquire(2, 5 + 2 * i, shared, "n" + std::to_string(i)));
    }
    batch.emplace_back(acquire(3, 2, shared, "n7"));
    put(batch);
    put(expiry(2));
    auto other = loaded();
    ASSERT_TRUE(other.has_value());
    std::size_t sweeps = 0;
    for (; machine_.needs_sweep(); ++sweeps) {
        index_ = index_.next();
        ASSERT_EQ(spec::apply(machine_, index_, {Sweep{}}), spec::apply(*other, index_, {Sweep{}}));
        ASSERT_EQ(machine_.needs_sweep(), other->needs_sweep());
        other = loaded();
        ASSERT_TRUE(other.has_value());
    }
    EXPECT_EQ(sweeps, 3U);
}

}  // namespace
}  // namespace mortise::core
