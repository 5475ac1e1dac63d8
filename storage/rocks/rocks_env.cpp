#include "storage/rocks/rocks_env.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <rocksdb/system_clock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/base/descriptors.hpp"
#include "storage/rocks/rocks_process.hpp"
#include "storage/rocks/table_check.hpp"
#include "storage/rocks/zeroed_ahead.hpp"

namespace mortise::storage {

namespace {

using namespace std::chrono_literals;

using Patience = std::atomic<std::chrono::milliseconds>;

constexpr auto pause = 20ms;

using rocksdb::FileLock;
using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// Corrects several properties of RocksDB's file system. RocksDB leaves the mode of files to the
// host's umask. It renames a new CURRENT into place before the name of the file that CURRENT refers
// to is durable. It treats a shortage of descriptors as a disk error. It uses the numbers 0, 1 and
// 2 if they are free. And it trusts tables.
class PrivateFileSystem final : public rocksdb::FileSystemWrapper {
public:
    PrivateFileSystem(const std::shared_ptr<rocksdb::FileSystem>& files,
                      std::shared_ptr<Patience> patience)
        : FileSystemWrapper{files}, patience_{std::move(patience)} {}

    [[nodiscard]] const char* Name() const override { return "MortisePrivateFileSystem"; }

    IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
        return make_private(
            name, open([&] { return target()->NewWritableFile(name, options, file, debug); }));
    }

    IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                                std::unique_ptr<FSWritableFile>* file,
                                IODebugContext* debug) override {
        return make_private(
            name, open([&] { return target()->ReopenWritableFile(name, options, file, debug); }));
    }

    IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSSequentialFile>* file,
                               IODebugContext* debug) override {
        return open([&] { return target()->NewSequentialFile(name, options, file, debug); });
    }

    IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                                 std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                 IODebugContext* debug) override {
        auto status =
            open([&] { return target()->NewRandomAccessFile(name, options, file, debug); });
        if (!status.ok() || !name.ends_with(".sst")) return status;
        std::uint64_t bytes = 0;
        status = target()->GetFileSize(name, options.io_options, &bytes, debug);
        return status.ok() ? check_table(**file, bytes) : status;
    }

    IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                          std::unique_ptr<rocksdb::FSDirectory>* directory,
                          IODebugContext* debug) override {
        return open([&] { return target()->NewDirectory(name, options, directory, debug); });
    }

    IOStatus GetChildren(const std::string& name, const IOOptions& options,
                         std::vector<std::string>* children, IODebugContext* debug) override {
        return open([&] { return target()->GetChildren(name, options, children, debug); });
    }

    IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) override {
        const auto parent = std::filesystem::path{to}.parent_path().string();
        std::unique_ptr<rocksdb::FSDirectory> directory;
        auto status = NewDirectory(parent, options, &directory, debug);
        if (status.ok()) status = directory->FsyncWithDirOptions(options, debug, {});
        return status.ok() ? target()->RenameFile(from, to, options, debug) : status;
    }

    IOStatus LockFile(const std::string& name, const IOOptions& options, FileLock** lock,
                      IODebugContext* debug) override {
        return make_private(name,
                            open([&] { return target()->LockFile(name, options, lock, debug); }));
    }

private:
    template <class Open>
    IOStatus open(Open call) const {
        const auto give_up = std::chrono::steady_clock::now() + patience_->load();
        while (true) {
            occupy_standard_descriptors();
            FirstOpening::go_on();
            auto status = call();
            const bool waits =
                is_for_want_of_descriptors(status) && std::chrono::steady_clock::now() < give_up;
            if (!waits) return status;
            std::this_thread::sleep_for(pause);
        }
    }

    static IOStatus make_private(const std::string& name, IOStatus made) {
        constexpr mode_t owner_only = 0600;
        if (made.ok() && ::chmod(name.c_str(), owner_only) != 0 && errno != ENOENT)
            return IOStatus::IOError("cannot change the mode of " + name);
        return made;
    }

    std::shared_ptr<Patience> patience_;
};

// After a background job has failed, RocksDB sleeps for a second before a retry. Here nothing is
// retried, and closing the database would wait for the sleep.
class ImpatientClock final : public rocksdb::SystemClockWrapper {
public:
    using SystemClockWrapper::SystemClockWrapper;

    [[nodiscard]] const char* Name() const override { return "MortiseImpatientClock"; }

    void SleepForMicroseconds(int time) override {
        constexpr int after_failure = 1'000'000;
        if (time < after_failure) SystemClockWrapper::SleepForMicroseconds(time);
    }
};

std::shared_ptr<rocksdb::Env> private_env(const std::shared_ptr<rocksdb::FileSystem>& files,
                                          std::shared_ptr<Patience> patience) {
    const auto& base = files ? files : rocksdb::FileSystem::Default();
    return rocksdb::NewCompositeEnv(
        std::make_shared<PrivateFileSystem>(zeroed_ahead(base), std::move(patience)));
}

}  // namespace

bool says(const rocksdb::Status& status, int errno_value) {
    const auto words = std::generic_category().message(errno_value);
    return !status.ok() && status.ToString().find(words) != std::string::npos;
}

// The kind of the error does not matter: RocksDB says "invalid argument" about a CURRENT that it
// cannot open to read the options.
bool is_for_want_of_descriptors(const rocksdb::Status& status) {
    return says(status, EMFILE) || says(status, ENFILE);
}

RocksEnv::RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files)
    : RocksEnv{files, std::make_shared<Patience>(0ms)} {}

RocksEnv::RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files,
                   std::shared_ptr<Patience> patience)
    : EnvWrapper{private_env(files, patience)},
      patience_{std::move(patience)},
      pool_{rocksdb::NewThreadPool(1)} {
    // Otherwise RocksDB would use the older interface, which tells less about an error.
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

// Flushes have no separate pool: they share the one thread with compactions.
int RocksEnv::GetBackgroundThreads(Priority priority) {
    return priority == LOW ? 1 : 0;
}

void RocksEnv::IncBackgroundThreadsIfNeeded(int /*number*/, Priority /*priority*/) {}

std::uint64_t RocksEnv::GetThreadID() const {
    return static_cast<std::uint64_t>(::gettid());
}

rocksdb::Status RocksEnv::GetHostName(char* name, std::uint64_t length) {
    if (::gethostname(name, length) == 0) return rocksdb::Status::OK();
    return rocksdb::Status::IOError("the name of this machine is too long");
}

int RocksEnv::ReserveThreads(int /*number*/, Priority /*priority*/) {
    return 0;
}

int RocksEnv::ReleaseThreads(int /*number*/, Priority /*priority*/) {
    return 0;
}

}  // namespace mortise::storage
