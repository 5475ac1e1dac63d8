// Installing a snapshot, and reading a state for one: on disk and in memory.
#include <gtest/gtest.h>

#include "tests/unit/storage/stores.hpp"

namespace mortise::storage::test {
namespace {

TYPED_TEST_SUITE(Stores, Places, Name);

const LogBase at_30{log_id(5, 30), core::test::voters({1, 2, 7})};

LogContent beginning_at(const LogBase& base) {
    return {{}, base.id, base.configuration, {}};
}

TYPED_TEST(Stores, TakeAWholeStateInPlaceOfTheirs) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(1, 2));
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->finish_install());
    const auto next = commands(log_id(6, 31), "next");
    auto write = resets(at_30);
    write.append = {next};
    write.hard_state = core::HardState{Term{6}, n2};
    ASSERT_TRUE(put(node, write));
    for (int life = 0; life < 2; ++life) {
        EXPECT_EQ(this->after_restart(),
                  (LogContent{{Term{6}, n2}, at_30.id, at_30.configuration, {next}}));
        EXPECT_EQ(this->node_.state.raft.applied, LogIndex{30});
        EXPECT_TRUE(is_same_state(this->node_.state.machine, machine_at(LogIndex{30})));
    }
}

// A crash came before the log was reset.
TYPED_TEST(Stores, BeginTheLogAtTheStateThatWasInstalled) {
    for (const bool is_longer : {false, true}) {
        this->place_.emplace();
        auto& node = this->start();
        ASSERT_TRUE(put(node, appends(four)));
        const LogBase to{is_longer ? log_id(5, 30) : log_id(5, 3), at_30.configuration};
        ASSERT_TRUE(begin_install(*node.state_store, to));
        ASSERT_TRUE(node.state_store->finish_install());
        for (int life = 0; life < 2; ++life) {
            EXPECT_EQ(this->after_restart(), beginning_at(to));
            EXPECT_EQ(this->node_.state.raft.applied, to.id.index);
        }
        ASSERT_TRUE(put(this->node_, appends({commands({Term{5}, to.id.index.next()})})));
        EXPECT_EQ(this->after_restart().entries.size(), 1U);
        this->node_ = {};
    }
}

// Later entries may be acknowledged, and there is no reason to fetch them again.
TYPED_TEST(Stores, KeepALogThatHasTheLastEntryOfTheInstalledState) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    ASSERT_TRUE(begin_install(*node.state_store, {log_id(2, 3), at_30.configuration}));
    ASSERT_TRUE(node.state_store->finish_install());
    EXPECT_EQ(this->after_restart().entries, four);
    EXPECT_EQ(this->node_.state.raft.applied, LogIndex{3});
}

TYPED_TEST(Stores, ForgetAnInstallThatDidNotFinish) {  // B-S3
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(1, 2));
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->flush());
    EXPECT_EQ(this->start().state.raft.applied, LogIndex{2});
    EXPECT_TRUE(is_same_state(this->node_.state.machine, machine_at(LogIndex{2})));
    EXPECT_FALSE(this->node_.state_store->finish_install());
}

TYPED_TEST(Stores, BeginAnInstallAfreshWhenToldSo) {
    auto& node = this->start();
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    const LogBase to{log_id(6, 12), {}};
    ASSERT_TRUE(begin_install(*node.state_store, to));
    ASSERT_TRUE(node.state_store->finish_install());
    EXPECT_EQ(this->after_restart(), beginning_at(to));
    EXPECT_TRUE(is_same_state(this->node_.state.machine, machine_at(LogIndex{12})));
}

TYPED_TEST(Stores, GoOnWithTheirOwnStateDuringAnInstall) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    ASSERT_TRUE(begin_install(*node.state_store, {log_id(2, 3), {}}));
    ASSERT_TRUE(node.state_store->write({log_id(2, 4), {}, rows_at(LogIndex{4})}));
    ASSERT_TRUE(node.state_store->flush());
    EXPECT_FALSE(node.state_store->finish_install()) << "which would go back";
    EXPECT_EQ(this->start().state.raft.applied, LogIndex{4});
    EXPECT_TRUE(is_same_state(this->node_.state.machine, machine_at(LogIndex{4})));
}

TYPED_TEST(Stores, InstallOneStateAfterAnother) {
    this->start();
    for (std::uint64_t index = 10; index <= 40; index += 10) {
        const LogBase to{log_id(index, index), core::test::voters({1, index})};
        auto& node = this->node_;
        ASSERT_TRUE(begin_install(*node.state_store, to));
        ASSERT_TRUE(node.state_store->finish_install());
        ASSERT_TRUE(put(node, resets(to)));
        EXPECT_EQ(this->after_restart(), beginning_at(to));
        EXPECT_TRUE(is_same_state(this->node_.state.machine, machine_at(LogIndex{index})));
    }
}

TYPED_TEST(Stores, RefuseAnInstallOutOfOrderForGood) {
    EXPECT_FALSE(this->start().state_store->install({}));
    EXPECT_FALSE(this->node_.state_store->flush());
    EXPECT_FALSE(this->start().state_store->finish_install());
    const std::vector<core::Row> gone{{"key", std::nullopt}};
    ASSERT_TRUE(this->start().state_store->begin_install(at_30.id, {}));
    EXPECT_FALSE(this->node_.state_store->install(gone));
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(2, 3));
    EXPECT_FALSE(node.state_store->begin_install(log_id(1, 2), {}));
    EXPECT_FALSE(node.state_store->view());
}

TYPED_TEST(Stores, ResetAndGoOnInOneGroup) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->finish_install());
    auto last = rewrites(32, {commands(log_id(7, 32), "other")});
    last.hard_state = core::HardState{Term{7}, n1};
    const std::vector<core::Write> group{
        appends({commands(log_id(3, 5), "gone")}), resets(at_30),
        appends({commands(log_id(6, 31), "kept"), commands(log_id(6, 32), "gone")}), last};
    ASSERT_TRUE(node.log->write(group));
    const auto found = this->after_restart();
    EXPECT_EQ(found.base, at_30.id);
    EXPECT_EQ(found.entries, (std::vector{commands(log_id(6, 31), "kept"), last.append[0]}));
}

TYPED_TEST(Stores, ResetWhatWasTruncatedInTheSameGroup) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->finish_install());
    const auto next = commands(log_id(6, 31), "next");
    const std::vector<core::Write> group{rewrites(3, {commands(log_id(3, 3), "gone")}),
                                         resets(at_30), appends({next})};
    const auto done = node.log->write(group);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(this->after_restart().entries, (std::vector{next}));
}

TYPED_TEST(Stores, RefuseAResetToWhatIsPurged) {
    auto& node = this->start();
    ASSERT_TRUE(put(node, appends(four)));
    purge(node, log_id(2, 3));
    EXPECT_FALSE(put(node, resets({log_id(2, 3), {}})));
}

TYPED_TEST(Stores, PurgeBehindAReset) {
    auto& node = this->start();
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->finish_install());
    auto write = resets(at_30);
    write.append = {commands(log_id(5, 31)), commands(log_id(5, 32))};
    ASSERT_TRUE(put(node, write));
    purge(node, log_id(5, 31));
    ASSERT_TRUE(put(node, votes(6, n1)));
    EXPECT_EQ(this->after_restart().base, log_id(5, 31));
    EXPECT_EQ(this->after_restart().entries, (std::vector{write.append[1]}));
}

TYPED_TEST(Stores, ShowTheStateAsItWasInPages) {  // B-S4
    auto& node = this->start();
    const auto before = node.state_store->view();
    ASSERT_TRUE(before);
    EXPECT_EQ((*before)->applied(), LogId{});
    ASSERT_TRUE(put(node, appends(four)));
    const auto configuration = core::test::voters({1, 2});
    ASSERT_TRUE(node.state_store->write({log_id(1, 2), configuration, rows_at(LogIndex{2})}));
    const auto view = node.state_store->view();
    ASSERT_TRUE(view);
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->finish_install());
    EXPECT_EQ((*view)->applied(), log_id(1, 2));
    EXPECT_EQ((*view)->configuration(), configuration);
    for (const std::size_t bytes : {0U, 1U, 100U, 1'000'000U})
        EXPECT_EQ(*rows_of(**view, bytes), rows_at(LogIndex{2})) << bytes;
    EXPECT_EQ((*view)->read({}, 0)->rows.size(), 1U);
    EXPECT_FALSE((*view)->read({}, 0)->done);
    EXPECT_TRUE((*view)->read("~", 100)->rows.empty());
    EXPECT_TRUE((*view)->read("~", 100)->done);
    EXPECT_TRUE(rows_of(**before, 100)->empty());
    EXPECT_EQ(*rows_of(**node.state_store->view(), 100), rows_at(LogIndex{30}));
}

// A page continues after a key, whether or not a row with that key exists.
TYPED_TEST(Stores, ShowWhatFollowsAKey) {
    auto& node = this->start();
    ASSERT_TRUE(begin_install(*node.state_store, at_30));
    ASSERT_TRUE(node.state_store->finish_install());
    const auto rows = rows_at(LogIndex{30});
    ASSERT_GE(rows.size(), 2U);
    const auto view = node.state_store->view();
    ASSERT_TRUE(view);
    const std::vector<core::Row> rest{rows.begin() + 1, rows.end()};
    EXPECT_EQ((*view)->read(rows[0].key, 1'000'000)->rows, rest);
    EXPECT_EQ((*view)->read(rows[0].key + '\0', 1'000'000)->rows, rest);
}

}  // namespace
}  // namespace mortise::storage::test
