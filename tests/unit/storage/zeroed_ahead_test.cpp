// The zeros behind the data of a write-ahead log.
#include "storage/rocks/zeroed_ahead.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;

using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A disk with room for so many bytes in one file; it writes what it has room for.
class Room : public rocksdb::FileSystemWrapper {
public:
    explicit Room(std::uint64_t bytes)
        : FileSystemWrapper{rocksdb::FileSystem::Default()}, bytes_{bytes} {}

    [[nodiscard]] const char* Name() const override { return "Room"; }
    IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
        auto status = target()->NewWritableFile(name, options, file, debug);
        if (status.ok()) *file = std::make_unique<File>(std::move(*file), bytes_);
        return status;
    }

private:
    class File final : public rocksdb::FSWritableFileOwnerWrapper {
    public:
        File(std::unique_ptr<FSWritableFile>&& file, std::uint64_t bytes)
            : FSWritableFileOwnerWrapper{std::move(file)}, bytes_{bytes} {}
        IOStatus PositionedAppend(const Slice& data, std::uint64_t offset, const IOOptions& options,
                                  IODebugContext* debug) override {
            const auto left = bytes_ - std::min(bytes_, offset);
            const Slice part{data.data(), std::min<std::size_t>(left, data.size())};
            auto status = target()->PositionedAppend(part, offset, options, debug);
            return part.size() < data.size() ? IOStatus::NoSpace("no room") : status;
        }

    private:
        std::uint64_t bytes_;
    };

    std::uint64_t bytes_;
};

class ZeroedAhead : public testing::Test {
protected:
    void open(const std::string& name, std::uint64_t room = std::uint64_t{1} << 30U) {
        path_ = directory_.path() / name;
        const auto files = zeroed_ahead(std::make_shared<Room>(room));
        ASSERT_TRUE(files->NewWritableFile(path_.string(), {}, &file_, nullptr).ok());
    }
    [[nodiscard]] IOStatus append(std::size_t bytes) {
        const std::string data(bytes, static_cast<char>('a' + data_.size() % 26));
        auto status = file_->Append(data, {}, nullptr);
        if (status.ok()) data_ += data;
        return status;
    }
    // Whether the file has the data, and nothing but zeros behind it.
    [[nodiscard]] bool is_intact() const {
        std::ifstream in{path_, std::ios::binary};
        const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
        return bytes.starts_with(data_) &&
               bytes.find_first_not_of('\0', data_.size()) == std::string::npos;
    }
    [[nodiscard]] std::uint64_t ahead() const { return fs::file_size(path_) - data_.size(); }

    TemporaryDirectory directory_;
    fs::path path_;
    std::unique_ptr<FSWritableFile> file_;
    std::string data_;
};

TEST_F(ZeroedAhead, AFileSeldomGetsLonger) {
    open("000004.log");
    constexpr int writes = 4'000;
    int longer = 0;
    for (int i = 0; i < writes; ++i) {
        const auto before = fs::file_size(path_);
        ASSERT_TRUE(append(300 + static_cast<std::size_t>(i) % 7).ok());
        if (fs::file_size(path_) != before) ++longer;
        ASSERT_EQ(file_->GetFileSize({}, nullptr), data_.size());
    }
    EXPECT_TRUE(is_intact());
    EXPECT_GT(longer, 2);
    EXPECT_LT(longer, 20);
}

TEST_F(ZeroedAhead, AShortFileHasFewZeros) {
    constexpr std::uint64_t least = 65'536;
    constexpr std::uint64_t most = 262'144;
    open("000004.log");
    EXPECT_EQ(fs::file_size(path_), 0U);
    ASSERT_TRUE(append(100).ok());
    EXPECT_EQ(ahead(), least);
    ASSERT_TRUE(append(least + 1).ok());
    EXPECT_LE(ahead(), 2 * least);
    ASSERT_TRUE(append(3'000'000).ok());
    EXPECT_EQ(ahead(), most);
    EXPECT_TRUE(is_intact());
}

TEST_F(ZeroedAhead, AClosedFileEndsWithItsData) {
    open("000004.log");
    ASSERT_TRUE(append(100).ok());
    ASSERT_TRUE(append(100'000).ok());
    ASSERT_TRUE(file_->Close({}, nullptr).ok());
    EXPECT_EQ(ahead(), 0U);
    EXPECT_TRUE(is_intact());
}

TEST_F(ZeroedAhead, OtherFilesHaveNone) {
    open("000004.sst");
    ASSERT_TRUE(append(100).ok());
    EXPECT_EQ(ahead(), 0U);
}

// What the zeros have taken of the last room is given back, and data fails only when it does not
// fit itself.
TEST_F(ZeroedAhead, DataHasTheLastRoom) {
    constexpr std::size_t room = 100'000;
    open("000004.log", room);
    ASSERT_TRUE(append(60'000).ok());
    EXPECT_EQ(ahead(), 0U);
    ASSERT_TRUE(append(39'999).ok());
    ASSERT_TRUE(append(1).ok());
    EXPECT_EQ(data_.size(), room);
    EXPECT_TRUE(append(1).IsNoSpace());
    ASSERT_TRUE(file_->Close({}, nullptr).ok());
    EXPECT_TRUE(is_intact());
    EXPECT_EQ(ahead(), 0U);
}

}  // namespace
}  // namespace mortise::storage::test
