// Damaged directories. Each is refused, or nothing acknowledged is missing in it.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "core/base/checksum.hpp"
#include "storage/meta_file.hpp"
#include "storage/torn_tail.hpp"
#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void put_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

void flip(const fs::path& path, std::size_t at) {
    auto bytes = bytes_of(path);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 0x10);
    put_bytes(path, bytes);
}

void put_copy(const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive);
}

// The only file with that extension, which must not be empty.
fs::path file_in(const fs::path& directory, const std::string& extension) {
    for (const auto& entry : fs::directory_iterator{directory}) {
        if (entry.path().extension() == extension && entry.file_size() > 0) return entry.path();
    }
    throw std::runtime_error{"no *" + extension + " in " + directory.string()};
}

// A directory whose log has a few acknowledged writes in its write-ahead log, one of them larger
// than a block; copies of it are damaged.
class DataDirectoryDamage : public testing::Test {
protected:
    void SetUp() override {
        auto node = open_directory(good_, as_node_1());
        ASSERT_TRUE(node) << node.error().what;
        ASSERT_TRUE(put(*node, votes(1, n1)));
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, 1), "first")})));
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, 2), std::string(70'000, 'x'))})));
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, 3), "third")})));
        put_copy(good_, before_);
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, 4), "fourth")})));
        *node = {};
        size_before_ = fs::file_size(file_in(before_ / "log", ".log"));
        size_ = fs::file_size(file_in(good_ / "log", ".log"));
        ASSERT_GT(size_, size_before_);
    }

    // A fresh copy, `bad()`.
    void spoil() { put_copy(good_, bad()); }
    // A copy in which the last write is not witnessed: a crash came during the write.
    void spoil_in_a_crash() {
        spoil();
        fs::copy_file(before_ / "meta", bad() / "meta", fs::copy_options::overwrite_existing);
    }
    fs::path bad() const { return directory_.path() / "bad"; }
    fs::path bad_log() const { return file_in(bad() / "log", ".log"); }

    // The number of entries that a start finds; empty if it refuses the directory, which must be
    // for damage.
    std::optional<std::size_t> entries_found() const {
        auto node = open_directory(bad(), as_node_1());
        if (node) return node->state.raft.entries.size();
        EXPECT_EQ(node.error().code, Errc::damaged) << node.error().what;
        EXPECT_NE(node.error().what.find(bad().string()), std::string::npos) << node.error().what;
        return std::nullopt;
    }

    TemporaryDirectory directory_;
    fs::path good_ = directory_.path() / "good";
    fs::path before_ = directory_.path() / "before";  // as a crash after the third entry left it
    std::size_t size_before_ = 0;                     // of the write-ahead log
    std::size_t size_ = 0;
};

TEST_F(DataDirectoryDamage, IsNoneInAGoodDirectory) {
    spoil();
    EXPECT_EQ(entries_found(), 4U);
    put_copy(before_, bad());
    EXPECT_EQ(entries_found(), 3U);
}

TEST_F(DataDirectoryDamage, IsNotAWriteThatWasCutShortAtAnyByte) {
    for (auto size = size_before_; size < size_; ++size) {
        spoil_in_a_crash();
        fs::resize_file(bad_log(), size);
        EXPECT_EQ(entries_found(), 3U) << "at " << size;
    }
}

// The start that cuts the torn end off may be killed, or lose power, at any step as well.
TEST_F(DataDirectoryDamage, IsNotATornWriteThatAStartWasDealingWith) {
    for (const bool loses_power : {false, true}) {
        bool done = false;
        for (std::uint64_t step = 1; !done && !HasFailure(); ++step) {
            spoil_in_a_crash();
            fs::resize_file(bad_log(), size_before_ + (size_ - size_before_) / 2);
            mortise::test::FaultyDisk disk;
            disk.watch_names(directory_.path());
            disk.trouble_at(step, mortise::test::Trouble::power_off);
            const auto seams = Seams{mortise::test::file_system_of(disk), &disk};
            static_cast<void>(open_directory(bad(), as_node_1(), seams));
            done = !disk.has_failed();
            SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step()
                                            << (loses_power ? ", power" : ""));
            if (loses_power) disk.lose_unsynced(step);
            EXPECT_EQ(entries_found(), 3U);
        }
    }
}

// Pages of the file reach the disk in any order: its length may be updated before its content.
TEST_F(DataDirectoryDamage, IsNotAWriteWhoseLastBytesAreRubbish) {
    for (auto size = size_before_; size < size_; size += 9) {
        spoil_in_a_crash();
        auto bytes = bytes_of(bad_log());
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(), '\0');
        put_bytes(bad_log(), bytes);
        EXPECT_EQ(entries_found(), 3U) << "zeros from " << size;
        spoil_in_a_crash();
        flip(bad_log(), size);
        EXPECT_EQ(entries_found(), 3U) << "flipped at " << size;
    }
}

// RocksDB detects nothing wrong with these; the witness does.
TEST_F(DataDirectoryDamage, IsAnAcknowledgedWriteThatIsCutOff) {
    for (const auto size : {size_before_, size_before_ + 1, size_ - 1, std::size_t{0}}) {
        spoil();
        fs::resize_file(bad_log(), size);
        EXPECT_EQ(entries_found(), std::nullopt) << "at " << size;
    }
    spoil();
    flip(bad_log(), size_ - 1);
    EXPECT_EQ(entries_found(), std::nullopt);
}

// Also with an old witness: a complete write after the bad place shows that the damaged one was
// synced.
TEST_F(DataDirectoryDamage, IsABitInTheMiddleOfTheLog) {
    for (std::size_t at = 0; at < size_before_; at += at < 300 ? 23 : 6'101) {
        spoil_in_a_crash();
        flip(bad_log(), at);
        EXPECT_EQ(entries_found(), std::nullopt) << "at " << at;
    }
}

TEST_F(DataDirectoryDamage, IsAFileThatIsGone) {
    for (const auto* name : {"log", "meta", "log/CURRENT"}) {
        spoil();
        fs::remove_all(bad() / name);
        EXPECT_EQ(entries_found(), std::nullopt) << name;
    }
    spoil();
    fs::remove(bad_log());
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsABitInATable) {
    spoil();
    ASSERT_EQ(entries_found(), 4U);  // which moved them to a table
    auto table = file_in(bad() / "log", ".sst");
    for (const auto at : {fs::file_size(table) / 2, fs::file_size(table) - 10}) {
        const auto whole = bytes_of(table);
        flip(table, at);
        EXPECT_EQ(entries_found(), std::nullopt) << "at " << at;
        put_bytes(table, whole);
    }
    fs::remove(table);
    EXPECT_EQ(entries_found(), std::nullopt);
}

// RocksDB would use the properties before it compares their checksum, or allocate as many bytes as
// the footer says, and end the process.
TEST_F(DataDirectoryDamage, IsAByteAtTheEndOfATable) {
    spoil();
    ASSERT_EQ(entries_found(), 4U);
    put_copy(bad(), before_);
    const auto whole = bytes_of(file_in(before_ / "log", ".sst"));
    constexpr std::size_t end_bytes = 1'500;  // the properties, the names of the blocks, the footer
    ASSERT_GT(whole.size(), end_bytes);
    constexpr std::size_t filler_bytes = 40;  // in the footer, with any content
    std::size_t refused = 0;
    for (auto at = whole.size() - end_bytes; at < whole.size(); ++at) {
        put_copy(before_, bad());
        auto bytes = whole;
        bytes[at] = static_cast<char>(0xff - bytes[at]);
        put_bytes(file_in(bad() / "log", ".sst"), bytes);
        refused += entries_found() ? 0U : 1U;
    }
    EXPECT_GE(refused, end_bytes - filler_bytes);
}

TEST_F(DataDirectoryDamage, IsALogOfAnotherTime) {
    spoil();
    put_copy(before_ / "log", bad() / "log");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsALogOfAnotherDirectory) {
    const auto other = directory_.path() / "other";
    auto options = as_node_1();
    options.random = {99, 99};
    ASSERT_TRUE(open_directory(other, options));
    spoil();
    put_copy(other / "meta", bad() / "meta");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsAVoteThatIsGone) {
    spoil();
    put_copy(bad(), before_);
    {
        auto node = open_directory(bad(), as_node_1());
        ASSERT_TRUE(node && put(*node, votes(2, n2)));
    }
    put_copy(before_ / "log", bad() / "log");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsAStateThatTheLogDoesNotReach) {
    spoil();
    {
        auto node = open_directory(bad(), as_node_1());
        auto machine = machine_at(LogIndex{4});
        ASSERT_TRUE(node);
        ASSERT_TRUE(node->state_store->write({log_id(1, 4), {}, machine.take_changed_rows()}));
        ASSERT_TRUE(node->state_store->flush());
    }
    ASSERT_EQ(entries_found(), 4U);
    put_copy(before_ / "log", bad() / "log");
    put_copy(before_ / "meta", bad() / "meta");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsAStateThatIsGoneWithWhatWasPurged) {
    spoil();
    fs::remove_all(bad() / "state");
    EXPECT_EQ(entries_found(), 4U);  // the log has everything
    {
        auto node = open_directory(bad(), as_node_1());
        auto machine = machine_at(LogIndex{2});
        ASSERT_TRUE(node);
        ASSERT_TRUE(node->state_store->write({log_id(1, 2), {}, machine.take_changed_rows()}));
        ASSERT_TRUE(node->state_store->flush());
        ASSERT_TRUE(node->log->purge_to({log_id(1, 2), {}}));
        ASSERT_TRUE(put(*node, votes(3, n1)));
    }
    ASSERT_EQ(entries_found(), 2U);
    fs::remove_all(bad() / "state");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, LeavesTheOtherSlotsOfTheWitness) {
    const auto meta_bytes = bytes_of(good_ / "meta");
    for (std::size_t slot = 0; slot < MetaFile::slots; ++slot) {
        spoil();
        flip(bad() / "meta", slot * MetaFile::slot_bytes + 20);
        EXPECT_EQ(entries_found(), 4U) << "slot " << slot;
    }
    spoil();
    for (std::size_t slot = 0; slot < MetaFile::slots; ++slot)
        flip(bad() / "meta", slot * MetaFile::slot_bytes + 20);
    EXPECT_EQ(entries_found(), std::nullopt);
    spoil();
    put_bytes(bad() / "meta", "");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsNotALaterFormat) {
    spoil();
    auto bytes = bytes_of(bad() / "meta");
    for (std::size_t slot = 0; slot < MetaFile::slots; ++slot) {
        const auto at = slot * MetaFile::slot_bytes;
        if (bytes[at] == 0) continue;
        bytes[at + 8] = 2;  // the format; its checksum is after the content
        const auto size = std::size_t{16} + static_cast<unsigned char>(bytes[at + 12]);
        core::Checksum sum;
        sum.text(std::string_view{bytes}.substr(at, size));
        for (unsigned i = 0; i < 8; ++i)
            bytes[at + size + i] = static_cast<char>(sum.value() >> (8 * i));
    }
    put_bytes(bad() / "meta", bytes);
    const auto node = open_directory(bad(), as_node_1());
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().code, Errc::newer_format) << node.error().what;
}

// The shapes by themselves: a log is blocks of records, and this one has records of all types.
TEST_F(DataDirectoryDamage, KnowsTheShapeOfALog) {
    const auto bytes = bytes_of(file_in(good_ / "log", ".log"));
    EXPECT_EQ(shape_of_log(bytes), LogShape::whole);
    EXPECT_EQ(shape_of_log({}), LogShape::whole);
    EXPECT_EQ(shape_of_log(bytes.substr(0, size_before_)), LogShape::whole);
    EXPECT_EQ(shape_of_log(bytes.substr(0, size_ - 1)), LogShape::cut_short);
    EXPECT_EQ(shape_of_log(bytes.substr(0, 40'000)), LogShape::cut_short);
    EXPECT_EQ(shape_of_log(bytes + std::string(5'000, '\0')), LogShape::cut_short);
    auto hole = bytes;
    std::fill(hole.begin() + 10, hole.begin() + 60'000, '\0');
    EXPECT_EQ(shape_of_log(hole), LogShape::damaged);
    EXPECT_EQ(shape_of_log(bytes.substr(0, 40'000) + bytes), LogShape::damaged);
}

}  // namespace
}  // namespace mortise::storage::test
