// Damaged directories. Each is refused, or nothing acknowledged is missing in it.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "core/base/checksum.hpp"
#include "storage/files/meta_file.hpp"
#include "storage/log/log_shape.hpp"
#include "storage/log/torn_tail.hpp"
#include "storage/rocks/rocks_crc.hpp"
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

// The last byte of these writes is not zero.
std::size_t end_of_data(const fs::path& path) {
    return bytes_of(path).find_last_not_of('\0') + 1;
}

// Also beyond the end of the file.
void put_zeros(const fs::path& path, std::size_t from, std::size_t to) {
    auto bytes = bytes_of(path);
    bytes.resize(std::max(bytes.size(), to));
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from),
              bytes.begin() + static_cast<std::ptrdiff_t>(to), '\0');
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
        note_end();
        for (const auto& write : {votes(1, n1), appends({commands(log_id(1, 1), "first")}),
                                  appends({commands(log_id(1, 2), std::string(70'000, 'x'))}),
                                  appends({commands(log_id(1, 3), "third")})}) {
            ASSERT_TRUE(put(*node, write));
            note_end();
        }
        put_copy(good_, before_);
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, 4), "fourth")})));
        *node = {};
        size_before_ = end_of_data(file_in(before_ / "log", ".log"));
        size_ = fs::file_size(file_in(good_ / "log", ".log"));
        ASSERT_GT(size_, size_before_);
    }
    void note_end() { ends_.push_back(end_of_data(file_in(good_ / "log", ".log"))); }

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
    std::vector<std::size_t> ends_;                   // of the writes but for the last
    std::size_t size_before_ = 0;                     // of the write-ahead log
    std::size_t size_ = 0;
};

TEST_F(DataDirectoryDamage, IsNoneInAGoodDirectory) {
    spoil();
    EXPECT_EQ(entries_found(), 4U);
    put_copy(before_, bad());
    EXPECT_EQ(entries_found(), 3U);
}

TEST_F(DataDirectoryDamage, IsNotAWriteThatWasCutShortAtAnyByte) {  // P4, B-D17
    for (auto size = size_before_; size < size_; ++size) {
        spoil_in_a_crash();
        fs::resize_file(bad_log(), size);
        EXPECT_EQ(entries_found(), 3U) << "at " << size;
    }
}

class DataDirectoryTornEnd : public DataDirectoryDamage {
protected:
    void SetUp() override {
        DataDirectoryDamage::SetUp();
        middle_ = size_before_ + (size_ - size_before_) / 2;
    }
    // A start that deals with the torn end fails at the step, and then starts the node for good.
    // False if there is no such step.
    bool fail_at(std::uint64_t step, bool loses_power) const {
        mortise::test::FaultyDisk disk;
        disk.watch_names(directory_.path());
        disk.trouble_at(step, mortise::test::Trouble::power_off);
        const auto seams = Seams{mortise::test::file_system_of(disk), &disk};
        static_cast<void>(open_directory(bad(), as_node_1(), seams));
        if (loses_power) disk.lose_unsynced(step);
        EXPECT_EQ(entries_found(), 3U)
            << "step " << step << ": " << disk.failed_step() << (loses_power ? ", power" : "");
        return disk.has_failed();
    }

    std::size_t middle_ = 0;
};

// The start that cuts the torn end off may be killed, or lose power, at any step as well.
TEST_F(DataDirectoryTornEnd, IsNoDamageWhenTheStartThatDealsWithItFails) {
    for (const bool loses_power : {false, true}) {
        bool goes_on = true;
        for (std::uint64_t step = 1; goes_on && !HasFailure(); ++step) {
            spoil_in_a_crash();
            fs::resize_file(bad_log(), middle_);
            goes_on = fail_at(step, loses_power);
        }
    }
}

// RocksDB reports this one, and a start goes another way.
TEST_F(DataDirectoryTornEnd, OfRubbishIsNoDamageEither) {
    for (const bool loses_power : {false, true}) {
        bool goes_on = true;
        for (std::uint64_t step = 1; goes_on && !HasFailure(); ++step) {
            spoil_in_a_crash();
            flip(bad_log(), middle_);
            goes_on = fail_at(step, loses_power);
        }
    }
}

// Pages of the file reach the disk in any order: its length may be updated before its content.
TEST_F(DataDirectoryDamage, IsNotAWriteWhoseLastBytesAreRubbish) {  // B-D17
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

// A log is written over zeros, and any sector of the newest write may still have them.
TEST_F(DataDirectoryDamage, IsNotAWriteOfWhichAPartIsStillZeros) {  // P4
    constexpr std::size_t ahead = 100'000;
    for (auto size = size_before_; size <= size_; ++size) {
        spoil_in_a_crash();
        put_zeros(bad_log(), size, size_ + ahead);
        EXPECT_EQ(entries_found(), size < size_ ? 3U : 4U) << "zeros from " << size;
        spoil_in_a_crash();
        put_zeros(bad_log(), size_before_, size);
        put_zeros(bad_log(), size_, size_ + ahead);
        EXPECT_EQ(entries_found(), size > size_before_ ? 3U : 4U) << "zeros up to " << size;
    }
}

// RocksDB takes zeros for the end of a block, without an error.
TEST_F(DataDirectoryDamage, IsAnAcknowledgedWriteThatBecameZeros) {  // P4
    spoil();
    put_zeros(bad_log(), size_before_, size_);
    EXPECT_EQ(entries_found(), std::nullopt);
    for (std::size_t write = 1; write < ends_.size(); ++write) {
        spoil_in_a_crash();
        put_zeros(bad_log(), ends_[write - 1], ends_[write]);
        EXPECT_EQ(entries_found(), std::nullopt) << "write " << write;
    }
}

// RocksDB detects nothing wrong with these; the witness does.
TEST_F(DataDirectoryDamage, IsAnAcknowledgedWriteThatIsCutOff) {  // P4
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
TEST_F(DataDirectoryDamage, IsABitInTheMiddleOfTheLog) {  // P4
    for (std::size_t at = 0; at < size_before_; at += at < 300 ? 23 : 6'101) {
        spoil_in_a_crash();
        flip(bad_log(), at);
        EXPECT_EQ(entries_found(), std::nullopt) << "at " << at;
    }
}

TEST_F(DataDirectoryDamage, IsAFileThatIsGone) {  // B-D22
    for (const auto* name : {"log", "meta", "log/CURRENT"}) {
        spoil();
        fs::remove_all(bad() / name);
        EXPECT_EQ(entries_found(), std::nullopt) << name;
    }
    spoil();
    fs::remove(bad_log());
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsABitInATable) {  // P5
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

TEST_F(DataDirectoryDamage, IsAVoteThatIsGone) {  // B-D13
    spoil();
    put_copy(bad(), before_);
    {
        auto node = open_directory(bad(), as_node_1());
        ASSERT_TRUE(node && put(*node, votes(2, n2)));
    }
    put_copy(before_ / "log", bad() / "log");
    EXPECT_EQ(entries_found(), std::nullopt);
}

// The other vote would be a second one.
TEST_F(DataDirectoryDamage, IsAVoteOfTheSameTermThatIsGone) {
    spoil();
    {
        auto node = open_directory(bad(), as_node_1());
        ASSERT_TRUE(node && put(*node, votes(2, {})));
    }
    put_copy(bad(), before_);
    {
        auto node = open_directory(bad(), as_node_1());
        ASSERT_TRUE(node && put(*node, votes(2, n2)));
    }
    put_copy(before_ / "log", bad() / "log");
    EXPECT_EQ(entries_found(), std::nullopt);
}

// A crash had come before the last write was witnessed; the next start did that.
TEST_F(DataDirectoryDamage, IsALossOfWhatAStartHasFound) {
    spoil_in_a_crash();
    ASSERT_EQ(entries_found(), 4U);
    put_copy(before_ / "log", bad() / "log");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsALossOfAVoteThatAStartHasFound) {
    spoil();
    {
        auto node = open_directory(bad(), as_node_1());
        ASSERT_TRUE(node && put(*node, votes(2, n2)));
    }
    fs::copy_file(good_ / "meta", bad() / "meta", fs::copy_options::overwrite_existing);
    ASSERT_EQ(entries_found(), 4U);
    put_copy(good_ / "log", bad() / "log");
    EXPECT_EQ(entries_found(), std::nullopt);
}

// The mark of an install, with which a log may have yet to be reset, is that of one write.
TEST_F(DataDirectoryDamage, IsAStateThatTheLogDoesNotReachSinceAnInstall) {
    const LogBase to{log_id(5, 30), core::test::voters({1, 2, 3})};
    spoil();
    {
        auto node = open_directory(bad(), as_node_1());
        ASSERT_TRUE(node && begin_install(*node->state_store, to));
        ASSERT_TRUE(node->state_store->finish_install() && put(*node, resets(to)));
    }
    put_copy(bad(), before_);
    {
        auto node = open_directory(bad(), as_node_1());
        const auto next = log_id(5, 31);
        ASSERT_TRUE(node && put(*node, appends({commands(next)})));
        auto rows = machine_at(next.index).take_changed_rows();
        ASSERT_TRUE(node->state_store->write({next, to.configuration, std::move(rows)}));
        ASSERT_TRUE(node->state_store->flush());
    }
    put_copy(before_ / "log", bad() / "log");
    put_copy(before_ / "meta", bad() / "meta");
    EXPECT_EQ(entries_found(), std::nullopt);
}

TEST_F(DataDirectoryDamage, IsAStateThatTheLogDoesNotReach) {  // B-D24, B-S13
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

TEST_F(DataDirectoryDamage, IsAStateThatIsGoneWithWhatWasPurged) {  // B-S13
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

TEST_F(DataDirectoryDamage, IsNotALaterFormat) {  // P12
    spoil();
    auto bytes = bytes_of(bad() / "meta");
    for (std::size_t slot = 0; slot < MetaFile::slots; ++slot) {
        const auto at = slot * MetaFile::slot_bytes;
        if (bytes[at] == 0) continue;
        bytes[at + 8] = 3;  // the format; its checksum is after the content
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

// Only a file that no later write follows may end in a torn write. A killed node leaves zeros at
// the end of each.
TEST_F(DataDirectoryDamage, IsATornWriteInAnOlderFile) {
    const auto whole = bytes_of(file_in(good_ / "log", ".log")) + std::string(50'000, '\0');
    const auto torn = whole.substr(0, size_ - 1) + std::string(50'000, '\0');
    const auto logs = directory_.path() / "logs";
    fs::create_directory(logs);
    put_bytes(logs / "000004.log", whole);
    put_bytes(logs / "000007.log", torn);
    EXPECT_TRUE(*ends_in_torn_write(logs));
    put_bytes(logs / "000004.log", torn);
    EXPECT_FALSE(*ends_in_torn_write(logs));
    // What a start leaves that was cut short when it had dealt with the torn end.
    std::string batch(12, '\0');
    std::string head(7, '\0');
    head[4] = 12;
    head[6] = 1;
    const auto sum = stored_crc32c(head.substr(6) + batch);
    for (unsigned i = 0; i < 4; ++i)
        head[i] = static_cast<char>(sum >> (8 * i));
    for (const auto& newest : {std::string{}, head + batch, head.substr(0, 5) + batch}) {
        put_bytes(logs / "000007.log", newest);
        EXPECT_TRUE(*ends_in_torn_write(logs));
    }
    put_bytes(logs / "000004.log", whole);
    put_bytes(logs / "000007.log", whole);
    EXPECT_FALSE(*ends_in_torn_write(logs));
}

// The shapes by themselves: a log is blocks of records, and this one has records of all types.
TEST_F(DataDirectoryDamage, KnowsTheShapeOfALog) {
    const auto bytes = bytes_of(file_in(good_ / "log", ".log"));
    EXPECT_EQ(content_of_log(bytes).shape, LogShape::whole);
    EXPECT_EQ(content_of_log({}).shape, LogShape::whole);
    EXPECT_EQ(content_of_log(bytes.substr(0, size_before_)).shape, LogShape::whole);
    EXPECT_EQ(content_of_log(bytes.substr(0, size_ - 1)).shape, LogShape::cut_short);
    EXPECT_EQ(content_of_log(bytes.substr(0, 40'000)).shape, LogShape::cut_short);
    const std::string ahead(50'000, '\0');
    EXPECT_EQ(content_of_log(ahead).shape, LogShape::whole);
    EXPECT_EQ(content_of_log(bytes + ahead).shape, LogShape::whole);
    EXPECT_EQ(content_of_log(bytes.substr(0, size_ - 1) + ahead).shape, LogShape::cut_short);
    EXPECT_EQ(content_of_log(bytes.substr(0, 65'536) + ahead).shape, LogShape::cut_short);
    EXPECT_EQ(content_of_log(bytes + ahead + "rubbish").shape, LogShape::cut_short);
    EXPECT_EQ(content_of_log(bytes + ahead + bytes).shape, LogShape::damaged);
    auto hole = bytes;
    std::fill(hole.begin() + 10, hole.begin() + 60'000, '\0');
    EXPECT_EQ(content_of_log(hole).shape, LogShape::damaged);
    EXPECT_EQ(content_of_log(bytes.substr(0, 40'000) + bytes).shape, LogShape::damaged);
}

}  // namespace
}  // namespace mortise::storage::test
