// A member whose directory is damaged begins anew, as one that lost everything.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"
#include "storage/files/meta_file.hpp"
#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;
using mortise::test::FaultyDisk;
using mortise::test::Trouble;

OpenOptions as_member() {
    auto options = as_node_1();
    options.rejoins = true;
    return options;
}

class SetAside : public testing::Test {
protected:
    void SetUp() override {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        incarnation_ = node->generation.incarnation;
        auto write = votes(3, n1);
        write.append = {core::make_entry(log_id(1, 1), core::EntryKind::configuration,
                                         core::encode_configuration(configuration_)),
                        commands(log_id(1, 2), "second"), commands(log_id(3, 3), "third")};
        ASSERT_TRUE(put(*node, write));
        ASSERT_TRUE(node->state_store->write({log_id(1, 2), configuration_, rows_at(LogIndex{2})}));
        ASSERT_TRUE(node->state_store->flush());
        ASSERT_TRUE(node->state_store->save_countdowns({}));
    }

    Result<Opened> open(const OpenOptions& options = as_member(), FaultyDisk* disk = nullptr) {
        Seams seams;
        if (disk != nullptr) seams = {mortise::test::file_system_of(*disk), disk};
        return open_directory(path_, options, seams);
    }
    void flip(const std::string& name, std::size_t at) {
        std::fstream file{path_ / name, std::ios::in | std::ios::out | std::ios::binary};
        file.seekg(static_cast<std::streamoff>(at));
        const auto byte = static_cast<char>(file.get() ^ 4);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(byte);
    }
    void lose(const std::string& name) { fs::remove_all(path_ / name); }
    void expect_begun_anew(const Opened& node) {
        EXPECT_EQ(content_of(node), LogContent{});
        EXPECT_EQ(node.state.raft.applied, LogIndex{});
        EXPECT_EQ(node.state.former_cluster, configuration_.cluster);
        EXPECT_NE(node.generation.incarnation, incarnation_);
    }
    void expect_refused(const OpenOptions& options, Errc code) {
        const auto node = open(options);
        ASSERT_FALSE(node);
        EXPECT_EQ(node.error().code, code) << node.error().what;
        EXPECT_FALSE(fs::exists(path_ / "damaged-1"));
    }

    TemporaryDirectory directory_;
    fs::path path_ = directory_.data();
    core::Configuration configuration_ = core::test::voters({1, 2, 3});
    core::Incarnation incarnation_;
};

TEST_F(SetAside, DoesNotTouchWhatIsWhole) {
    const auto node = open();
    ASSERT_TRUE(node);
    EXPECT_EQ(node->generation.incarnation, incarnation_);
    EXPECT_EQ(node->set_aside, "");
    EXPECT_FALSE(node->state.former_cluster.is_set());
}

TEST_F(SetAside, LetsADamagedMemberBeginAnew) {  // B-D22
    lose("log");
    for (int life = 1; life <= 2; ++life) {
        const auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        expect_begun_anew(*node);
        EXPECT_EQ(node->generation.boot_epoch.raw(), static_cast<std::uint64_t>(life));
        EXPECT_EQ(node->former_life_ended, life == 2);
        const bool tells = node->set_aside.find((path_ / "log").string()) != std::string::npos;
        EXPECT_EQ(tells, life == 1) << node->set_aside;
    }
    for (const auto* part : {"meta", "state", "countdowns", "countdowns.2"})
        EXPECT_TRUE(fs::exists(path_ / "damaged-1" / part)) << part;
}

// The directory is undamaged, but peers have seen a later start of it.
TEST_F(SetAside, LetsAMemberThatIsSupersededBeginAnew) {
    auto options = as_member();
    options.superseded = incarnation_;
    {
        const auto node = open(options);
        ASSERT_TRUE(node) << node.error().what;
        expect_begun_anew(*node);
        EXPECT_NE(node->set_aside, "");
    }
    EXPECT_TRUE(fs::exists(path_ / "damaged-1" / "log" / "CURRENT"));
    const auto node = open();
    ASSERT_TRUE(node);
    EXPECT_EQ(node->set_aside, "");
}

// However often it is tried, because the finding was about one incarnation.
TEST_F(SetAside, PutsASupersededMemberAsideOnce) {
    auto options = as_member();
    options.superseded = incarnation_;
    core::Incarnation anew;
    for (int times = 1; times <= 2; ++times) {
        const auto node = open(options);
        ASSERT_TRUE(node) << node.error().what;
        expect_begun_anew(*node);
        if (times == 1) anew = node->generation.incarnation;
        EXPECT_EQ(node->generation.incarnation, anew);
        EXPECT_TRUE(fs::exists(path_ / "damaged-1" / "log" / "CURRENT"));
    }
}

TEST_F(SetAside, FindsTheClusterInWhateverIsLeft) {
    lose("meta");
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_begun_anew(*node);
    EXPECT_TRUE(fs::exists(path_ / "damaged-1" / "log" / "CURRENT"));
}

TEST_F(SetAside, FindsTheClusterInTheStateAlone) {
    lose("meta");
    lose("log");
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_begun_anew(*node);
}

TEST_F(SetAside, FindsTheClusterInAnEntryAlone) {
    lose("meta");
    lose("state");
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_begun_anew(*node);
}

// It could belong to any cluster.
TEST_F(SetAside, NeedsToKnowTheCluster) {
    lose("meta");
    flip("log/CURRENT", 2);
    flip("state/CURRENT", 2);
    expect_refused(as_member(), Errc::damaged);
}

TEST_F(SetAside, IsNotForTheDirectoryOfAnotherNode) {
    lose("meta");
    auto options = as_member();
    options.self = n2;
    expect_refused(options, Errc::damaged);
}

TEST_F(SetAside, IsNotForWhatWasReadWrongOnce) {
    const auto good = directory_.path() / "good";
    fs::copy(path_, good, fs::copy_options::recursive);
    bool done = false;
    for (std::uint64_t read = 1; !done && !HasFailure(); ++read) {
        fs::remove_all(path_);
        fs::copy(good, path_, fs::copy_options::recursive);
        FaultyDisk disk;
        disk.trouble_at(read, Trouble::bit_flip);
        const auto node = open(as_member(), &disk);
        SCOPED_TRACE(testing::Message() << "read " << read << ": " << disk.failed_step());
        done = !disk.has_failed();
        // RocksDB reads and compares the options that it has just written.
        const bool is_compared = disk.failed_step().find("/OPTIONS-") != std::string::npos;
        if (!node && is_compared) {
            EXPECT_EQ(node.error().code, Errc::io) << node.error().what;
            EXPECT_FALSE(fs::exists(path_ / "damaged-1"));
            continue;
        }
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(node->set_aside, "");
        EXPECT_EQ(node->generation.incarnation, incarnation_);
    }
}

// No other node has what the only member of a cluster loses.
TEST_F(SetAside, IsForThoseWhoHaveOthers) {
    lose("log");
    expect_refused(as_node_1(), Errc::damaged);
}

TEST_F(SetAside, IsForDamageAlone) {
    auto options = as_member();
    options.self = n2;
    expect_refused(options, Errc::wrong_node);
    FaultyDisk disk;
    disk.trouble_at(9, Trouble::once);
    EXPECT_FALSE(open(as_member(), &disk));
    EXPECT_FALSE(fs::exists(path_ / "damaged-1"));
    EXPECT_EQ(open()->generation.incarnation, incarnation_);
}

// Each copy may be the last copy of something.
TEST_F(SetAside, KeepsEveryCopyForPeople) {
    lose("log");
    core::Incarnation second;
    {
        auto again = open();
        ASSERT_TRUE(again && put(*again, votes(7, n2)));
        second = again->generation.incarnation;
    }
    lose("log");
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_begun_anew(*node);
    EXPECT_NE(node->generation.incarnation, second);
    EXPECT_TRUE(fs::exists(path_ / "damaged-1" / "state"));
    EXPECT_TRUE(fs::exists(path_ / "damaged-2" / "state"));
    EXPECT_NE(node->set_aside.find((path_ / "damaged-2").string()), std::string::npos)
        << node->set_aside;
}

// But copies must not fill a disk: a person has to examine them first.
TEST_F(SetAside, StopsAtTheNinthCopyAndRemovesNone) {
    for (int copies = 0; copies < 8; ++copies) {
        lose("log");
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        ASSERT_TRUE(put(*node, votes(7, n2)));  // a member that promised nothing lost nothing
    }
    lose("log");
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::damaged);
    EXPECT_NE(refused.error().what.find("8 earlier copies"), std::string::npos)
        << refused.error().what;
    for (int copy = 1; copy <= 8; ++copy)
        EXPECT_TRUE(fs::exists(path_ / ("damaged-" + std::to_string(copy)) / "state")) << copy;
    EXPECT_FALSE(fs::exists(path_ / "damaged-9"));
    fs::remove_all(path_ / "damaged-3");
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    expect_begun_anew(*node);
    EXPECT_TRUE(fs::exists(path_ / "damaged-9" / "state"));
}

TEST_F(SetAside, IsOverWhenTheMemberIsBack) {
    lose("log");
    {
        auto node = open();
        ASSERT_TRUE(node);
        const LogBase to{log_id(5, 30), configuration_};
        ASSERT_TRUE(begin_install(*node->state_store, to));
        ASSERT_TRUE(node->state_store->finish_install());
        ASSERT_TRUE(put(*node, resets(to)));
    }
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_FALSE(node->state.former_cluster.is_set());
    EXPECT_EQ(node->state.raft.base, log_id(5, 30));
}

// At no point is it a node that does not know its cluster, nor one that has the old incarnation
// without the old data.
TEST_F(SetAside, IsNeverHalfDone) {
    const auto good = directory_.path() / "good";
    lose("log");
    fs::copy(path_, good, fs::copy_options::recursive);
    for (const bool loses_power : {false, true}) {
        bool done = false;
        for (std::uint64_t step = 1; !done && !HasFailure(); ++step) {
            fs::remove_all(path_);
            fs::copy(good, path_, fs::copy_options::recursive);
            FaultyDisk disk;
            disk.watch_names(directory_.path());
            disk.trouble_at(step, loses_power ? Trouble::power_off : Trouble::once);
            static_cast<void>(open(as_member(), &disk));
            done = !disk.has_failed();
            if (loses_power) disk.lose_unsynced(step);
            SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
            const auto node = open();
            ASSERT_TRUE(node) << node.error().what;
            expect_begun_anew(*node);
        }
    }
}

}  // namespace
}  // namespace mortise::storage::test
