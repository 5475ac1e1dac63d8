// A member that is left after a disaster becomes the only voter of a new cluster.
#include "storage/recovery.hpp"

#include <array>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/bounds.hpp"
#include "storage/meta_file.hpp"
#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;
using mortise::test::FaultyDisk;
using mortise::test::Trouble;

constexpr core::ClusterId next_cluster{7, 7};

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
        EXPECT_EQ(machine.sessions().all().size(), former.sessions().all().size());
        EXPECT_EQ(machine.table().records().size(), former.table().records().size());
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
    constexpr uid_t service = 65'534;
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    for (const auto& entry : fs::recursive_directory_iterator{directory_.path()})
        ASSERT_EQ(::chown(entry.path().c_str(), service, service), 0);
    const auto recovered = recover();
    ASSERT_TRUE(recovered) << recovered.error().what;
    for (const auto& entry : fs::recursive_directory_iterator{directory_.path()}) {
        struct stat about {};
        ASSERT_EQ(::lstat(entry.path().c_str(), &about), 0);
        EXPECT_TRUE(about.st_uid == service && about.st_gid == service) << entry.path();
        EXPECT_EQ(about.st_mode & (S_IRWXG | S_IRWXO), 0U) << entry.path();
    }
}

// In a container root may be unable to give files away.
TEST_F(Recovery, ChangesNothingWhereItCannotGiveFilesToTheUserOfTheNode) {
    constexpr uid_t service = 65'534;
    if (::geteuid() != 0) GTEST_SKIP() << "only root can";
    ASSERT_EQ(::chown((path_ / "meta").c_str(), service, service), 0);
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
