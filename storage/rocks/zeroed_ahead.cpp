#include "storage/rocks/zeroed_ahead.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "storage/rocks/rocks_errors.hpp"

namespace mortise::storage {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A log gets as many zeros as it has data, so that a log of a few writes stays small, but at least
// and at most these.
constexpr std::uint64_t zeros_least = std::uint64_t{64} << 10U;
constexpr std::uint64_t zeros_most = std::uint64_t{256} << 10U;
constexpr std::array<char, zeros_most> zeros{};

class ZeroedAheadFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;

    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
        auto status = target()->PositionedAppend(data, end_, options, debug);
        if (!status.ok()) return status;
        end_ += data.size();
        return end_ > zeros_end_ ? write_zeros(options, debug) : status;
    }
    IOStatus Append(const Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& /*checksum*/,
                    IODebugContext* debug) override {
        return Append(data, options, debug);
    }
    // The zeros take the place of space that is allocated ahead.
    void PrepareWrite(std::size_t /*offset*/, std::size_t /*size*/, const IOOptions& /*options*/,
                      IODebugContext* /*debug*/) override {}
    IOStatus Truncate(std::uint64_t size, const IOOptions& options,
                      IODebugContext* debug) override {
        auto status = target()->Truncate(size, options, debug);
        if (status.ok()) end_ = zeros_end_ = size;
        return status;
    }
    IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
        auto status = zeros_end_ > end_ ? Truncate(end_, options, debug) : IOStatus::OK();
        auto closed = target()->Close(options, debug);
        return status.ok() ? closed : status;
    }
    std::uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        return end_;
    }

private:
    // The file has become longer, so the sync that follows is an expensive one in any case. Data
    // does not fail for lack of room while there is room for it.
    IOStatus write_zeros(const IOOptions& options, IODebugContext* debug) {
        zeros_end_ = end_;
        if (lacks_room_) return IOStatus::OK();
        const auto size = std::clamp(end_, zeros_least, zeros_most);
        auto status = target()->PositionedAppend({zeros.data(), size}, end_, options, debug);
        if (status.ok()) {
            zeros_end_ = end_ + size;
            return status;
        }
        if (!is_for_want_of_room(status)) return status;
        lacks_room_ = true;
        return target()->Truncate(end_, options, debug);  // a part of them may be written
    }

    std::uint64_t end_ = 0;        // of the data
    std::uint64_t zeros_end_ = 0;  // of the file
    bool lacks_room_ = false;
};

class ZeroedAhead final : public rocksdb::FileSystemWrapper {
public:
    using FileSystemWrapper::FileSystemWrapper;

    [[nodiscard]] const char* Name() const override { return "MortiseZeroedAhead"; }

    IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* debug) override {
        auto status = target()->NewWritableFile(name, options, file, debug);
        if (status.ok() && name.ends_with(".log"))
            *file = std::make_unique<ZeroedAheadFile>(std::move(*file));
        return status;
    }
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> zeroed_ahead(
    const std::shared_ptr<rocksdb::FileSystem>& files) {
    return std::make_shared<ZeroedAhead>(files);
}

}  // namespace mortise::storage
