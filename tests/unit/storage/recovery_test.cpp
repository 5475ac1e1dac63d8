// A member that is left after a disaster becomes the only voter of a new cluster.
#include "storage/directory/recovery.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/locks/rows/row_key.hpp"
#include "core/locks/rows/totals_row.hpp"
#include "core/raft/bounds.hpp"
#include "storage/files/meta_file.hpp"
#include "tests/support/failing_calls.hpp"
#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;
using mortise::test::CallKind;
using mortise::test::failed_call;
using mortise::test::FaultyDisk;
using mortise::test::Trouble;
using mortise::test::with_fault;

constexpr core::ClusterId next_cluster{7, 7};
constexpr uid_t service = 65'534;

// This thread has not that capability meanwhile.
class WithoutTheRight {
public:
    explicit WithoutTheRight(unsigned number) : number_{number} { set(false); }
    ~WithoutTheRight() { set(true); }
    WithoutTheRight(const WithoutTheRight&) = delete;
    WithoutTheRight& operator=(const WithoutTheRight&) = delete;

private:
    void set(bool has_it) const {
        __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
        std::array<__user_cap_data_struct, 2> sets{};
        ASSERT_EQ(::syscall(SYS_capget, &head, sets.data()), 0);
        auto& effective = sets.at(number_ / 32).effective;
        const auto bit = 1U << number_ % 32;
        effective = has_it ? effective | bit : effective & ~bit;
        ASSERT_EQ(::syscall(SYS_capset, &head, sets.data()), 0);
    }
    unsigned number_;
};

// Node 1 of three. Its state is that of index 4, its log ends at 6; the entries behind the state
// may or may not be committed.
class Recovery : public testing::Test {
protected:
    void SetUp() override {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        configuration_.voters.front().incarnation = node->generation.incarnation;
        configuration_.voters.front().address = "127.0.0.1:7401";
        auto write = votes(3, n1);
        write.append = {core::make_entry(log_id(1, 1), core::EntryKind::configuration,
                                         core::encode_configuration(configuration_))};
        for (std::uint64_t index = 2; index <= 6; ++index)
            write.append.push_back(entry_at(index));
        ASSERT_TRUE(put(*node, write));
        ASSERT_TRUE(node->state_store->write({log_id(2, 4), configuration_, rows_at(LogIndex{4})}));
        ASSERT_TRUE(node->state_store->flush());
    }

    static Entry entry_at(std::uint64_t index) {
        core::BatchBuilder batch;
        for (const auto& command : batch_for(LogIndex{index}))
            batch.add(command);
        return core::make_entry(log_id(2, index), core::EntryKind::commands, batch.take());
    }
    Result<Opened> open() { return open_directory(path_, as_node_1(), Seams{}); }
    Result<Recovered> recover(FaultyDisk* disk = nullptr) {
        Seams seams;
        if (disk != nullptr) seams = {mortise::test::file_system_of(*disk), disk};
        return recover_directory(path_, configuration_.cluster, next_cluster, seams);
    }
    static bool is_recovered(const Opened& node) {
        return node.state.raft.configuration.cluster == next_cluster;
    }
    static core::StateTotals totals_of(const core::LockMachine& machine) {
        for (const auto& row : machine.all_rows()) {
            if (row.key == core::row_key(core::RowKind::totals))
                return core::decode_totals(*row.value).value();
        }
        return {};
    }
    // Everything of the state after the last entry, with greater numbers.
    static void expect_recovered(const Opened& node) {
        const auto& raft = node.state.raft;
        const auto& configuration = raft.configuration;
        ASSERT_EQ(configuration.voters.size(), 1U);
        EXPECT_EQ(configuration.voters.front().id, n1);
        EXPECT_EQ(configuration.voters.front().incarnation, node.generation.incarnation);
        EXPECT_EQ(configuration.voters.front().address, "127.0.0.1:7401");
        EXPECT_TRUE(configuration.learners.empty() && configuration.founders.empty());
        EXPECT_TRUE(raft.entries.empty());
        EXPECT_EQ(raft.base, log_id(1, 6 + indexes_raised_by));
        EXPECT_EQ(raft.applied, raft.base.index);
        EXPECT_EQ(raft.hard_state.term, Term{1});
        EXPECT_FALSE(raft.hard_state.voted_for.is_set());
        const auto former = machine_at(LogIndex{6});
        const auto& machine = node.state.machine;
        EXPECT_EQ(machine.table().newest_token().raw(),
                  former.table().newest_token().raw() + tokens_raised_by);
        const auto raised = totals_of(machine);
        const auto totals = totals_of(former);
        EXPECT_EQ(raised.newest_session.raw(), totals.newest_session.raw() + tokens_raised_by);
        EXPECT_EQ(raised.newest_closure.raw(), totals.newest_closure.raw() + tokens_raised_by);
        EXPECT_EQ(machine.sessions().all().size(), former.sessions().all().size());
        EXPECT_EQ(machine.table().records().size(), former.table().records().size());
    }
    static void give_to_service(const fs::path& directory) {
        ASSERT_EQ(::chown(directory.c_str(), service, service), 0);
        for (const auto& entry : fs::recursive_directory_iterator{directory})
            ASSERT_EQ(::chown(entry.path().c_str(), service, service), 0);
    }
    static void expect_service_has(const fs::path& directory) {
        for (const auto& entry : fs::recursive_directory_iterator{directory}) {
            struct stat about {};
            ASSERT_EQ(::lstat(entry.path().c_str(), &about), 0);
            EXPECT_TRUE(about.st_uid == service && about.st_gid == service) << entry.path();
            EXPECT_EQ(about.st_mode & (S_IRWXG | S_IRWXO), 0U) << entry.path();
        }
    }
    // What the directory was, as its node finds it.
    void expect_former(const Opened& node) const {
        const auto& raft = node.state.raft;
        EXPECT_EQ(raft.entries.size(), 6U);
        EXPECT_EQ(raft.applied, LogIndex{4});
        EXPECT_EQ(core::decode_configuration(raft.entries.front().payload), configuration_);
        EXPECT_TRUE(is_same_state(node.state.machine, machine_at(LogIndex{4})));
    }

    TemporaryDirectory directory_;
    fs::path path_ = directory_.data();
    core::Configuration configuration_ = core::test::voters({1, 2, 3});
};

TEST_F(Recovery, MakesANewClusterOfTheStateAtTheEndOfTheLog) {  // P1
    const auto before = MetaFile::read(path_ / "meta", nullptr);
    const auto recovered = recover();
    ASSERT_TRUE(recovered) << recovered.error().what;
    EXPECT_EQ(recovered->last, log_id(1, 6 + indexes_raised_by));
    // The next start compares itself with the last run of the node, not with the recovery.
    const auto after = MetaFile::read(path_ / "meta", nullptr);
    ASSERT_TRUE(before && after);
    EXPECT_EQ(after->boot_epoch, before->boot_epoch);
    EXPECT_EQ(after->life, before->life);
    EXPECT_EQ(after->cluster, next_cluster);
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_recovered(*node);
    EXPECT_EQ(node->state.machine.table().newest_token(), recovered->newest_token);
}

TEST_F(Recovery, KeepsTheDirectoryAsItWas) {
    const auto recovered = recover();
    ASSERT_TRUE(recovered) << recovered.error().what;
    EXPECT_EQ(recovered->copy, path_ / "before-recovery-1");
    const auto copy = open_directory(recovered->copy, as_node_1(), Seams{});
    ASSERT_TRUE(copy) << copy.error().what;
    expect_former(*copy);
}

// Sessions may have been renewed since, and the lost members alone know it.
TEST_F(Recovery, CountsNothingThatWasSavedBefore) {
    {
        auto node = open();
        ASSERT_TRUE(node);
        core::SavedCountdowns saved;
        saved.leases.push_back({});
        ASSERT_TRUE(node->state_store->save_countdowns(saved));
    }
    ASSERT_TRUE(recover());
    const auto node = open();
    ASSERT_TRUE(node);
    EXPECT_EQ(node->state.countdowns, core::SavedCountdowns{});
}

TEST_F(Recovery, BeginsTheErasOfItsLog) {
    {
        auto node = open();
        ASSERT_TRUE(node);
        const auto era = core::make_entry(log_id(2, 7), core::EntryKind::era, {});
        ASSERT_TRUE(put(*node, appends({era})));
    }
    ASSERT_TRUE(recover());
    const auto node = open();
    ASSERT_TRUE(node);
    EXPECT_EQ(node->state.machine.eras().begun, 1U);
    EXPECT_TRUE(node->state.machine.sessions().all().empty());
}

TEST_F(Recovery, ChangesNothingWhenItIsRefused) {
    const auto wrong = recover_directory(path_, core::ClusterId{1, 1}, next_cluster, Seams{});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Errc::wrong_node);
    {
        const auto running = open();
        ASSERT_TRUE(running);
        const auto locked = recover();
        ASSERT_FALSE(locked);
        EXPECT_EQ(locked.error().code, Errc::locked);
    }
    EXPECT_FALSE(fs::exists(path_ / "before-recovery-1"));
    const auto node = open();
    ASSERT_TRUE(node);
    expect_former(*node);
}

// Its content is in two places.
TEST_F(Recovery, IsNotForWhatIsBeingMovedAside) {
    {
        auto file = MetaFile::open(path_ / "meta", nullptr);
        ASSERT_TRUE(file);
        auto meta = file->meta();
        meta.set_aside = 1;
        ASSERT_TRUE(file->write(meta, Durable::yes));
    }
    const auto refused = recover();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::damaged) << refused.error().what;
    EXPECT_FALSE(fs::exists(path_ / "before-recovery-1"));
}

// It was removed, and the others may be well.
TEST_F(Recovery, IsNotForANodeThatIsNoMember) {
    {
        auto node = open();
        ASSERT_TRUE(node);
        const auto others = core::test::voters({2, 3});
        ASSERT_TRUE(
            put(*node, appends({core::make_entry(log_id(3, 7), core::EntryKind::configuration,
                                                 core::encode_configuration(others))})));
    }
    const auto refused = recover();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("no member"), std::string::npos) << refused.error().what;
}

TEST_F(Recovery, HappensOnce) {
    ASSERT_TRUE(recover());
    const auto again = recover_directory(path_, next_cluster, core::ClusterId{8, 8}, Seams{});
    ASSERT_FALSE(again);
    EXPECT_NE(again.error().what.find("the only voter"), std::string::npos) << again.error().what;
    const auto node = open();
    ASSERT_TRUE(node);
    expect_recovered(*node);
}

// No leader could be elected in the former cluster any more.
TEST_F(Recovery, BeginsTheTermsAnewWhereTheyAreUsedUp) {
    {
        auto node = open();
        ASSERT_TRUE(node);
        ASSERT_TRUE(put(*node, votes(core::term_end - 1, n1)));
    }
    const auto recovered = recover();
    ASSERT_TRUE(recovered) << recovered.error().what;
    for (int start = 0; start < 2; ++start) {
        const auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        expect_recovered(*node);
    }
}

// Wherever it is cut short, a start finds the former state or the new one, and a second attempt
// ends with the new one.
TEST_F(Recovery, IsNeverHalfDone) {
    const auto good = directory_.path() / "good";
    fs::copy(path_, good, fs::copy_options::recursive);
    std::size_t formers = 0;
    std::size_t news = 0;
    for (const auto trouble : {Trouble::once, Trouble::power_off}) {
        bool done = false;
        // A single error mostly ends the attempt like a loss of power.
        const std::uint64_t stride = trouble == Trouble::once ? 5 : 1;
        for (std::uint64_t step = 1; !done && !HasFailure(); step += stride) {
            fs::remove_all(path_);
            fs::copy(good, path_, fs::copy_options::recursive);
            FaultyDisk disk;
            disk.watch_names(directory_.path());
            disk.trouble_at(step, trouble);
            static_cast<void>(recover(&disk));
            done = !disk.has_failed();
            if (trouble == Trouble::power_off) disk.lose_unsynced(step);
            SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
            {
                const auto node = open();
                ASSERT_TRUE(node) << node.error().what;
                const bool is_new = is_recovered(*node);
                ++(is_new ? news : formers);
                if (is_new)
                    expect_recovered(*node);
                else
                    EXPECT_EQ(node->state.raft.entries.size(), 6U);
                if (is_new) continue;
            }
            ASSERT_TRUE(recover());
            const auto node = open();
            ASSERT_TRUE(node) << node.error().what;
            EXPECT_TRUE(is_recovered(*node));
        }
    }
    EXPECT_GT(formers, 10U);
    EXPECT_GT(news, 5U);
}

// The node could not open them.
TEST_F(Recovery, GivesEverythingToTheUserOfTheNode) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    give_to_service(path_);
    const auto recovered = recover();
    ASSERT_TRUE(recovered) << recovered.error().what;
    expect_service_has(path_);
}

// It may fail for one of them, as where a part of the directory is on another volume.
TEST_F(Recovery, SaysWhatItCouldNotGiveToTheUserOfTheNode) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    const auto good = directory_.path() / "good";
    fs::copy(path_, good, fs::copy_options::recursive);
    std::string failed{"the first one"};
    int told = 0;
    for (std::uint64_t number = 1; !failed.empty() && !HasFailure(); ++number) {
        fs::remove_all(path_);
        fs::copy(good, path_, fs::copy_options::recursive);
        give_to_service(path_);
        Result<Recovered> recovered{Recovered{}};
        if (!with_fault({path_.string(), {CallKind::give}, number, EPERM},
                        [&] { recovered = recover(); }))
            GTEST_SKIP() << "no system call can be made to fail here";
        failed = failed_call();
        SCOPED_TRACE(failed);
        if (recovered) {
            expect_service_has(path_);
            continue;
        }
        EXPECT_EQ(recovered.error().code, Errc::denied) << recovered.error().what;
        EXPECT_NE(recovered.error().what.find("user 65534"), std::string::npos)
            << recovered.error().what;
        ++told;
    }
    EXPECT_GT(told, 5);
}

// What root has left there would be closed to the node as well.
TEST_F(Recovery, ChangesNothingWhereThereIsSomethingOfAnotherUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    give_to_service(path_);
    ASSERT_EQ(::chown((path_ / "log" / "CURRENT").c_str(), 0, 0), 0);
    const auto refused = recover();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::denied) << refused.error().what;
    EXPECT_NE(refused.error().what.find("log/CURRENT"), std::string::npos) << refused.error().what;
    EXPECT_FALSE(fs::exists(path_ / "before-recovery-1"));
    give_to_service(path_);
    EXPECT_TRUE(recover());
}

// In a container root may be unable to give files away.
TEST_F(Recovery, ChangesNothingWhereItCannotGiveFilesToTheUserOfTheNode) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    give_to_service(path_);
    const auto refused = [&] {
        const WithoutTheRight to_change_owners{CAP_CHOWN};
        return recover();
    }();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::denied) << refused.error().what;
    EXPECT_NE(refused.error().what.find("user 65534"), std::string::npos) << refused.error().what;
    EXPECT_FALSE(fs::exists(path_ / "before-recovery.unfinished"));
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_former(*node);
}

}  // namespace
}  // namespace mortise::storage::test
