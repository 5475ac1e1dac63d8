// The common behaviour of both stores, on disk and in memory.
#include "tests/unit/storage/stores.hpp"

#include <gtest/gtest.h>

namespace mortise::storage::test {
namespace {

TYPED_TEST_SUITE(Stores, Places, Name);

TYPED_TEST(Stores, FindNothingInTheFirstLife) {
    auto& node = this->start();
    EXPECT_EQ(content_of(node), LogContent{});
    EXPECT_EQ(node.generation.boot_epoch, core::BootEpoch{1});
    EXPECT_TRUE(node.generation.incarnation.is_set());
    EXPECT_FALSE(node.former_life_ended);
    EXPECT_EQ(node.state.countdowns, core::SavedCountdowns{});
    EXPECT_TRUE(is_same_state(node.state.machine, {}));
}

TYPED_TEST(Stores, GiveBackWhatWasWrittenInItsOrder) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends({four[0], four[1]})));
    ASSERT_TRUE(put(node, appends({four[2], four[3]})));
    EXPECT_EQ(this->after_restart().entries, four);
    EXPECT_EQ(this->after_restart().entries, four);
}

TYPED_TEST(Stores, KeepAVoteThatCameAlone) {  // B-D13
    ASSERT_TRUE(put(this->start(), votes(7, n2)));
    EXPECT_EQ(this->after_restart().hard_state, (core::HardState{Term{7}, n2}));
    ASSERT_TRUE(put(this->node_, votes(8, {})));
    EXPECT_EQ(this->after_restart().hard_state, (core::HardState{Term{8}, {}}));
}

TYPED_TEST(Stores, ReplaceTheEndOfTheLog) {  // B-D7
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    const auto other = commands(log_id(3, 2), "other");
    ASSERT_TRUE(put(node, rewrites(2, {other})));
    EXPECT_EQ(this->after_restart().entries, (std::vector{four[0], other}));
}

TYPED_TEST(Stores, TruncateWithoutAppending) {  // B-D16
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    ASSERT_TRUE(put(node, rewrites(1, {})));
    EXPECT_TRUE(this->after_restart().entries.empty());
}

TYPED_TEST(Stores, TruncateNothingAboveTheEnd) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends({four[0]})));
    ASSERT_TRUE(put(node, rewrites(2, {four[1]})));
    EXPECT_EQ(this->after_restart().entries, (std::vector{four[0], four[1]}));
}

// A group is what was queued while the disk was busy: later writes may undo earlier ones.
TYPED_TEST(Stores, CarryOutAGroupAsOneAfterTheOther) {  // B-F8
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends({four[0], four[1]})));
    const auto second = commands(log_id(3, 2), "second");
    const auto third = commands(log_id(4, 3), "third");
    const auto fourth = commands(log_id(4, 4), "fourth");
    auto last = rewrites(3, {third, fourth});
    last.hard_state = core::HardState{Term{4}, n1};
    const std::vector<core::Write> group{votes(3, n2), appends({four[2], four[3]}),
                                         rewrites(2, {second, commands(log_id(3, 3), "gone")}),
                                         last};
    ASSERT_TRUE(node.log->write(group));
    const auto found = this->after_restart();
    EXPECT_EQ(found.entries, (std::vector{four[0], second, third, fourth}));
    EXPECT_EQ(found.hard_state, (core::HardState{Term{4}, n1}));
}

TYPED_TEST(Stores, WriteNothingIfThereIsNothing) {
    auto& node = this->start();
    EXPECT_TRUE(node.log->write({}));
    EXPECT_TRUE(put(node, {}));
    EXPECT_EQ(this->after_restart(), LogContent{});
}

TYPED_TEST(Stores, BeginAfterWhatWasPurged) {  // B-F11
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(2, 3));
    ASSERT_TRUE(put(node, votes(5, n1)));
    const LogContent expected{
        {Term{5}, n1}, log_id(2, 3), core::test::voters({1, 2, 3}), {four[3]}};
    EXPECT_EQ(this->after_restart(), expected);
    EXPECT_EQ(this->after_restart(), expected);
    EXPECT_EQ(this->node_.state.raft.applied, LogIndex{3});
}

TYPED_TEST(Stores, GoOnFromABaseWithoutEntries) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(2, 4));
    ASSERT_TRUE(put(node, votes(5, n1)));
    EXPECT_TRUE(this->after_restart().entries.empty());
    const auto fifth = commands(log_id(5, 5), "five");
    ASSERT_TRUE(put(this->node_, appends({fifth})));
    EXPECT_EQ(this->after_restart().entries, (std::vector{fifth}));
}

TYPED_TEST(Stores, PassOverAPurgeOfWhatIsGone) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(2, 3));
    EXPECT_TRUE(node.log->purge_to({log_id(1, 2), {}}));
    ASSERT_TRUE(put(node, votes(5, n1)));
    EXPECT_EQ(this->after_restart().base, log_id(2, 3));
}

// A misuse is final, too, because the intended write is missing.
TYPED_TEST(Stores, RefuseAGapForGood) {  // B-D8
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends({four[0]})));
    EXPECT_FALSE(put(node, appends({four[2]})));
    const auto again = put(node, appends({four[1]}));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, std::errc::invalid_argument);
    EXPECT_FALSE(node.log->purge_to({log_id(1, 1), {}}));
    EXPECT_EQ(this->after_restart().entries, (std::vector{four[0]}));
}

TYPED_TEST(Stores, RefuseAnEntryThatIsDamaged) {
    auto damaged = four[0];
    damaged.payload = core::Bytes{"some"};
    EXPECT_FALSE(put(this->start(), appends({damaged})));
    EXPECT_EQ(this->after_restart(), LogContent{});
}

TYPED_TEST(Stores, RefuseToTruncateWhatIsPurged) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(2, 3));
    EXPECT_FALSE(put(node, rewrites(3, {})));
}

TYPED_TEST(Stores, RefuseToPurgeWhatIsNotThere) {
    ASSERT_TRUE(put(this->start(), appends(four)));
    EXPECT_FALSE(this->node_.log->purge_to({log_id(2, 5), {}}));
    EXPECT_FALSE(this->start().log->purge_to({log_id(1, 3), {}}));
}

TYPED_TEST(Stores, KeepTheStateThatWasFlushed) {  // B-A1
    std::vector<Entry> entries;
    for (std::uint64_t i = 1; i <= 40; ++i)
        entries.push_back(commands(log_id(1, i)));
    ASSERT_TRUE(put(this->start(), appends(entries)));
    core::LockMachine machine;
    for (const auto& entry : entries) {
        core::Outcomes outcomes;
        machine.apply(entry.id.index, batch_for(entry.id.index), outcomes);
        if (entry.id.index.raw() % 7 != 0) continue;
        auto& node = this->start();
        ASSERT_TRUE(node.state_store->write({entry.id, {}, machine.take_changed_rows()}));
        ASSERT_EQ(*node.state_store->flush(), entry.id.index);
        EXPECT_EQ(this->start().state.raft.applied, entry.id.index);
        EXPECT_TRUE(is_same_state(this->node_.state.machine, machine_at(entry.id.index)));
    }
}

TYPED_TEST(Stores, RefuseAStateThatGoesBack) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    auto machine = machine_at(LogIndex{3});
    ASSERT_TRUE(node.state_store->write({log_id(2, 3), {}, machine.take_changed_rows()}));
    EXPECT_FALSE(node.state_store->write({log_id(1, 2), {}, {}}));
    EXPECT_FALSE(node.state_store->flush());
    EXPECT_FALSE(node.state_store->save_countdowns({}));
    auto& again = this->start();
    ASSERT_TRUE(again.state_store->write({log_id(2, 3), {}, rows_at(LogIndex{3})}));
    EXPECT_FALSE(again.state_store->write({log_id(1, 4), {}, {}}));
}

TYPED_TEST(Stores, KeepTheNewestCountdowns) {
    using core::SessionId;
    core::SavedCountdowns older;
    older.leases = {{{SessionId{1}, LogIndex{2}}, core::Nanoseconds{3}}};
    core::SavedCountdowns newer;
    newer.leases = {{{SessionId{1}, LogIndex{5}}, core::Nanoseconds{6}},
                    {{SessionId{1ULL << 60U}, LogIndex{7}}, core::Nanoseconds{1LL << 60U}}};
    auto& node = this->start();
    ASSERT_TRUE(node.state_store->save_countdowns(older));
    ASSERT_TRUE(node.state_store->save_countdowns(newer));
    EXPECT_EQ(this->start().state.countdowns, newer);
    // The countdowns of closed names as well (S24).
    auto with_closures = newer;
    with_closures.closures = {{core::ClosureId{9}, core::Nanoseconds{8}}};
    ASSERT_TRUE(this->node_.state_store->save_countdowns(with_closures));
    EXPECT_EQ(this->start().state.countdowns, with_closures);
    ASSERT_TRUE(this->node_.state_store->save_countdowns({}));
    EXPECT_EQ(this->start().state.countdowns, core::SavedCountdowns{});
}

TYPED_TEST(Stores, CountTheirLives) {
    const auto incarnation = this->start().generation.incarnation;
    for (std::uint64_t life = 2; life < 5; ++life) {
        EXPECT_EQ(this->start().generation.boot_epoch, core::BootEpoch{life});
        EXPECT_EQ(this->node_.generation.incarnation, incarnation);
    }
}

TYPED_TEST(Stores, ContainWhatARandomLifeRemembers) {  // B-A4
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        this->node_ = {};
        this->place_.emplace();
        core::Prng lives{seed};
        Memory memory;
        for (int life = 0; life < 5; ++life) {
            RandomLife writer{lives.next(), memory};
            ASSERT_EQ(writer.begin(this->start()), "");
            for (auto acts = lives.below(25); acts > 0; --acts) {
                const auto done = writer.act(this->node_);
                ASSERT_TRUE(done) << done.error().what;
            }
        }
        ASSERT_EQ((RandomLife{0, memory}.begin(this->start())), "");
    }
}

}  // namespace
}  // namespace mortise::storage::test
