#include "storage/rocks/ends_early.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace mortise::storage {

namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class ShortFile final : public rocksdb::FSSequentialFileOwnerWrapper {
public:
    ShortFile(std::unique_ptr<rocksdb::FSSequentialFile> file, std::uint64_t bytes)
        : FSSequentialFileOwnerWrapper{std::move(file)}, left_{bytes} {}

    IOStatus Read(std::size_t bytes, const IOOptions& options, rocksdb::Slice* result,
                  char* scratch, IODebugContext* debug) override {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
        auto status = target()->Read(some, options, result, scratch, debug);
        left_ -= result->size();
        return status;
    }
    IOStatus Skip(std::uint64_t bytes) override {
        const auto some = std::min(bytes, left_);
        left_ -= some;
        return target()->Skip(some);
    }

private:
    std::uint64_t left_;
};

class EndsEarly final : public rocksdb::FileSystemWrapper {
public:
    EndsEarly(const std::shared_ptr<rocksdb::FileSystem>& files, FileEnds ends)
        : FileSystemWrapper{files}, ends_{std::move(ends)} {}

    [[nodiscard]] const char* Name() const override { return "MortiseEndsEarly"; }

    IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSSequentialFile>* file,
                               IODebugContext* debug) override {
        auto status = target()->NewSequentialFile(name, options, file, debug);
        const auto end = end_of(name);
        if (status.ok() && end != ends_.end())
            *file = std::make_unique<ShortFile>(std::move(*file), end->second);
        return status;
    }
    IOStatus GetFileSize(const std::string& name, const IOOptions& options, std::uint64_t* bytes,
                         IODebugContext* debug) override {
        auto status = target()->GetFileSize(name, options, bytes, debug);
        const auto end = end_of(name);
        if (status.ok() && end != ends_.end()) *bytes = std::min(*bytes, end->second);
        return status;
    }

private:
    [[nodiscard]] FileEnds::const_iterator end_of(const std::string& name) const {
        return ends_.find(std::filesystem::path{name}.filename().string());
    }

    FileEnds ends_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> ends_early(std::shared_ptr<rocksdb::FileSystem> files,
                                                FileEnds ends) {
    if (ends.empty()) return files;
    if (!files) files = rocksdb::FileSystem::Default();
    return std::make_shared<EndsEarly>(files, std::move(ends));
}

}  // namespace mortise::storage
