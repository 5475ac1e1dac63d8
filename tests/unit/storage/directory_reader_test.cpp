// Reading a directory without opening it.
#include "storage/directory/directory_reader.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "storage/files/directory_lock.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

// All files in it, with the times of their changes.
std::map<std::string, std::string> everything(const fs::path& directory) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator{directory}) {
        struct stat about {};
        EXPECT_EQ(::lstat(entry.path().c_str(), &about), 0);
        found[entry.path().string()] =
            std::to_string(about.st_mtim.tv_nsec) + " " + std::to_string(about.st_ctim.tv_nsec) +
            (entry.is_regular_file() ? content_of(entry.path()) : std::string{});
    }
    return found;
}

class DirectoryReader : public testing::Test {
protected:
    // Entries 1 to 4, and the state after the second.
    void SetUp() override {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        incarnation_ = node->generation.incarnation;
        auto write = votes(3, n2);
        write.append = {commands(log_id(1, 1), "first"), commands(log_id(1, 2), "second"),
                        commands(log_id(3, 3), "third"), commands(log_id(3, 4), "fourth")};
        ASSERT_TRUE(put(*node, write));
        ASSERT_TRUE(node->state_store->write({log_id(1, 2), {}, rows_at(LogIndex{2})}));
        ASSERT_TRUE(node->state_store->flush());
    }

    Result<Opened> open() { return open_directory(path_, as_node_1()); }
    DirectoryContent read() {
        const auto before = everything(path_);
        auto content = read_directory(path_);
        EXPECT_TRUE(content) << content.error().what;
        EXPECT_EQ(everything(path_), before);
        return content ? *std::move(content) : DirectoryContent{};
    }
    fs::path newest_log() {
        fs::path newest;
        for (const auto& entry : fs::directory_iterator{path_ / "log"})
            if (entry.path().extension() == ".log" && entry.path() > newest) newest = entry.path();
        return newest;
    }
    static std::vector<Errc> codes(const DirectoryContent& content) {
        std::vector<Errc> codes;
        for (const auto& error : content.damage)
            codes.push_back(static_cast<Errc>(error.code.value()));
        return codes;
    }

    TemporaryDirectory directory_;
    fs::path path_ = directory_.data();
    core::Incarnation incarnation_;
};

TEST_F(DirectoryReader, ReadsWhatAStartFinds) {
    const auto content = read();
    EXPECT_EQ(content.node, n1);
    EXPECT_EQ(content.incarnation, incarnation_);
    EXPECT_EQ(content.boot_epoch, core::BootEpoch{1});
    EXPECT_EQ(content.hard_state, (core::HardState{Term{3}, n2}));
    ASSERT_EQ(content.entries.size(), 4U);
    EXPECT_EQ(content.entries.back().id, log_id(3, 4));
    EXPECT_EQ(content.applied, log_id(1, 2));
    ASSERT_TRUE(content.machine);
    EXPECT_TRUE(is_same_state(*content.machine, machine_at(LogIndex{2})));
    EXPECT_TRUE(content.damage.empty());
    EXPECT_FALSE(content.is_copy);
    EXPECT_FALSE(content.is_torn);
}

TEST_F(DirectoryReader, LeavesANodeAlone) {
    const auto node = open();
    ASSERT_TRUE(node);
    const auto content = read_directory(path_);
    ASSERT_FALSE(content);
    EXPECT_EQ(content.error().code, Errc::locked);
}

TEST_F(DirectoryReader, KeepsNodesOutMeanwhileAndNoReaders) {
    auto first = DirectoryLock::keep_out(path_, nullptr);
    ASSERT_TRUE(first);
    EXPECT_TRUE(read_directory(path_));
    const auto node = open();
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().code, Errc::locked);
    EXPECT_NE(node.error().what.find("locked by another program"), std::string::npos);
    first->reset();
    EXPECT_TRUE(open());
}

TEST_F(DirectoryReader, LooksOnlyWhereALogIsCutShort) {
    const std::string but_for_its_checksum{"\1\1\1\1\5\0\1wrong", 12};
    std::ofstream{newest_log(), std::ios::app | std::ios::binary} << but_for_its_checksum;
    const auto content = read();
    EXPECT_TRUE(content.is_torn);
    EXPECT_TRUE(content.damage.empty());
    EXPECT_EQ(content.entries.size(), 4U);
}

// As after a kill: the write-ahead log goes on with zeros.
TEST_F(DirectoryReader, ReadsWhatANodeLeftThatWasKilled) {
    const auto copy = directory_.path() / "copy";
    {
        auto node = open();
        ASSERT_TRUE(node && put(*node, appends({commands(log_id(3, 5), "fifth")})));
        fs::copy(path_, copy, fs::copy_options::recursive);
    }
    path_ = copy;
    const auto bytes = content_of(newest_log());
    ASSERT_TRUE(bytes.ends_with(std::string(1'000, '\0')));
    auto content = read();
    EXPECT_TRUE(content.damage.empty());
    EXPECT_FALSE(content.is_torn);
    EXPECT_EQ(content.entries.size(), 5U);
    std::ofstream{newest_log(), std::ios::app | std::ios::binary} << "torn";
    content = read();
    EXPECT_TRUE(content.damage.empty());
    EXPECT_EQ(content.entries.size(), 5U);
}

TEST_F(DirectoryReader, SeesAHoleInTheLog) {
    auto node = open();
    ASSERT_TRUE(node);
    ASSERT_TRUE(put(*node, votes(4, n2)));
    const auto from = content_of(newest_log()).find_last_not_of('\0') + 1;
    ASSERT_TRUE(put(*node, appends({commands(log_id(4, 5), "fifth")})));
    const auto to = content_of(newest_log()).find_last_not_of('\0') + 1;
    ASSERT_TRUE(put(*node, appends({commands(log_id(4, 6), "sixth")})));
    *node = {};
    auto bytes = content_of(newest_log());
    bytes.replace(from, to - from, to - from, '\0');
    std::ofstream{newest_log(), std::ios::binary} << bytes;
    const auto content = read();
    ASSERT_FALSE(content.damage.empty());
    EXPECT_NE(content.damage.front().what.find("became zeros"), std::string::npos);
    EXPECT_EQ(content.entries.size(), 4U);
}

TEST_F(DirectoryReader, LeavesAnUnfinishedInstallWhereItIs) {
    auto node = open();
    ASSERT_TRUE(node);
    ASSERT_TRUE(begin_install(*node->state_store, {log_id(3, 4), {}}));
    ASSERT_TRUE(node->state_store->flush());
    *node = {};
    const auto content = read();
    EXPECT_TRUE(content.damage.empty());
    ASSERT_TRUE(content.machine);
    EXPECT_TRUE(is_same_state(*content.machine, machine_at(LogIndex{2})));
}

TEST_F(DirectoryReader, WithoutTheWitnessTheLogSaysWhose) {
    fs::remove(path_ / "meta");
    const auto content = read();
    EXPECT_EQ(codes(content), std::vector{Errc::damaged});
    EXPECT_EQ(content.node, n1);
    EXPECT_EQ(content.incarnation, incarnation_);
    EXPECT_EQ(content.entries.size(), 4U);
    EXPECT_TRUE(content.machine);
}

TEST_F(DirectoryReader, WithoutTheLogTheWitnessSaysWhose) {
    fs::remove_all(path_ / "log");
    const auto content = read();
    ASSERT_FALSE(content.damage.empty());
    EXPECT_EQ(content.node, n1);
    EXPECT_EQ(content.hard_state, (core::HardState{Term{3}, n2}));
    EXPECT_TRUE(content.machine);
}

TEST_F(DirectoryReader, AWitnessThatSaysNothingIsDamage) {
    std::ofstream{path_ / "meta"} << "no witness";
    const auto content = read();
    EXPECT_EQ(codes(content), std::vector{Errc::damaged});
    EXPECT_EQ(content.node, n1);
}

TEST_F(DirectoryReader, SeesThatItIsACopy) {
    const auto copy = directory_.path() / "copy";
    fs::copy(path_, copy, fs::copy_options::recursive);
    const auto content = read_directory(copy);
    ASSERT_TRUE(content);
    EXPECT_TRUE(content->is_copy);
    EXPECT_TRUE(content->damage.empty());
}

TEST_F(DirectoryReader, ADirectoryThatWasNeverUsedIsNone) {
    const auto empty = directory_.path() / "empty";
    fs::create_directory(empty);
    for (const auto& path : {empty, directory_.path() / "nowhere"}) {
        const auto content = read_directory(path);
        ASSERT_FALSE(content);
        EXPECT_EQ(content.error().code, Errc::io);
    }
    EXPECT_TRUE(fs::is_empty(empty));
}

TEST_F(DirectoryReader, ReadsOneInWhichNothingWasWrittenYet) {
    const auto young = directory_.path() / "young";
    ASSERT_TRUE(open_directory(young, as_node_1()));
    const auto content = read_directory(young);
    ASSERT_TRUE(content);
    EXPECT_TRUE(content->damage.empty());
    EXPECT_TRUE(content->entries.empty());
    EXPECT_TRUE(content->machine);
}

}  // namespace
}  // namespace mortise::storage::test
