#include "storage/rocks_env.hpp"

#include <cerrno>
#include <filesystem>
#include <utility>

#include <rocksdb/system_clock.h>
#include <sys/stat.h>

namespace mortise::storage {

namespace {

using rocksdb::FileLock;
using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// RocksDB leaves the mode to the umask, which is the host's; and it renames a new CURRENT into
// place before the name of the file that is named in there is durable.
class PrivateFileSystem final : public rocksdb::FileSystemWrapper {
public:
    using FileSystemWrapper::FileSystemWrapper;

    [[nodiscard]] const char* Name() const override { return "MortisePrivateFileSystem"; }

    IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
        return make_private(name, target()->NewWritableFile(name, options, file, debug));
    }

    IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                                std::unique_ptr<FSWritableFile>* file,
                                IODebugContext* debug) override {
        return make_private(name, target()->ReopenWritableFile(name, options, file, debug));
    }

    IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) override {
        const auto parent = std::filesystem::path{to}.parent_path().string();
        std::unique_ptr<rocksdb::FSDirectory> directory;
        auto status = target()->NewDirectory(parent, options, &directory, debug);
        if (status.ok()) status = directory->FsyncWithDirOptions(options, debug, {});
        return status.ok() ? target()->RenameFile(from, to, options, debug) : status;
    }

    IOStatus LockFile(const std::string& name, const IOOptions& options, FileLock** lock,
                      IODebugContext* debug) override {
        return make_private(name, target()->LockFile(name, options, lock, debug));
    }

private:
    static IOStatus make_private(const std::string& name, IOStatus made) {
        constexpr mode_t owner_only = 0600;
        if (made.ok() && ::chmod(name.c_str(), owner_only) != 0 && errno != ENOENT)
            return IOStatus::IOError("cannot change the mode of " + name);
        return made;
    }
};

// After a background job failed RocksDB sleeps for a second before it may be tried again. Here none
// is, and whoever closes the database would wait for it.
class ImpatientClock final : public rocksdb::SystemClockWrapper {
public:
    using SystemClockWrapper::SystemClockWrapper;

    [[nodiscard]] const char* Name() const override { return "MortiseImpatientClock"; }

    void SleepForMicroseconds(int time) override {
        constexpr int after_failure = 1'000'000;
        if (time < after_failure) SystemClockWrapper::SleepForMicroseconds(time);
    }
};

std::shared_ptr<rocksdb::Env> private_env(const std::shared_ptr<rocksdb::FileSystem>& files) {
    const auto& base = files ? files : rocksdb::FileSystem::Default();
    return rocksdb::NewCompositeEnv(std::make_shared<PrivateFileSystem>(base));
}

}  // namespace

RocksEnv::RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files)
    : EnvWrapper{private_env(files)}, pool_{rocksdb::NewThreadPool(1)} {
    // Or RocksDB would go through the older interface, which tells less of an error.
    file_system_ = target()->GetFileSystem();
    system_clock_ = std::make_shared<ImpatientClock>(target()->GetSystemClock());
}

RocksEnv::~RocksEnv() {
    pool_->JoinAllThreads();
}

void RocksEnv::Schedule(void (*function)(void*), void* argument, Priority /*priority*/,
                        void* /*tag*/, void (* /*unscheduled*/)(void*)) {
    pool_->SubmitJob([function, argument] { function(argument); });
}

int RocksEnv::UnSchedule(void* /*tag*/, Priority /*priority*/) {
    return 0;
}

unsigned int RocksEnv::GetThreadPoolQueueLen(Priority /*priority*/) const {
    return pool_->GetQueueLen();
}

void RocksEnv::SetBackgroundThreads(int /*number*/, Priority /*priority*/) {}

// No pool for flushes apart: they share the one thread with compactions.
int RocksEnv::GetBackgroundThreads(Priority priority) {
    return priority == LOW ? 1 : 0;
}

void RocksEnv::IncBackgroundThreadsIfNeeded(int /*number*/, Priority /*priority*/) {}

int RocksEnv::ReserveThreads(int /*number*/, Priority /*priority*/) {
    return 0;
}

int RocksEnv::ReleaseThreads(int /*number*/, Priority /*priority*/) {
    return 0;
}

}  // namespace mortise::storage
