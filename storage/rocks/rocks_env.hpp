// Adapts RocksDB to run inside another program: its background work uses a thread of ours, so that
// the pools which all users of RocksDB in the process share are not resized, and its files belong
// to their owner alone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/threadpool.h>

namespace mortise::storage {

// Whether `status` is an error with the system's message for that errno: RocksDB keeps no number.
[[nodiscard]] bool says(const rocksdb::Status& status, int errno_value);

// Whether `status` means that the process or the system has no free descriptor. RocksDB
// distinguishes that from other errors only by the system's message.
[[nodiscard]] bool is_for_want_of_descriptors(const rocksdb::Status& status);

class RocksEnv final : public rocksdb::EnvWrapper {
public:
    // Null means the system's file system. Outlives the database. Throws std::system_error if no
    // thread can be started.
    explicit RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files);
    ~RocksEnv() override;

    // From now on, opening a file without a free descriptor waits this long for one, as if the disk
    // were slow.
    void be_patient(std::chrono::milliseconds patience) { *patience_ = patience; }

    void Schedule(void (*function)(void*), void* argument, Priority priority, void* tag,
                  void (*unscheduled)(void*)) override;
    // No job is removed: a database that closes waits for its jobs, which end at once.
    int UnSchedule(void* tag, Priority priority) override;
    [[nodiscard]] unsigned int GetThreadPoolQueueLen(Priority priority) const override;
    void SetBackgroundThreads(int number, Priority priority) override;
    int GetBackgroundThreads(Priority priority) override;
    void IncBackgroundThreadsIfNeeded(int number, Priority priority) override;
    int ReserveThreads(int number, Priority priority) override;
    int ReleaseThreads(int number, Priority priority) override;
    // A late flush calls these, when exit() may already have destroyed the system's environment
    // (rocks_process.hpp).
    [[nodiscard]] std::uint64_t GetThreadID() const override;
    rocksdb::Status GetHostName(char* name, std::uint64_t length) override;
    [[nodiscard]] rocksdb::ThreadStatusUpdater* GetThreadStatusUpdater() const override {
        return nullptr;
    }

private:
    using Patience = std::atomic<std::chrono::milliseconds>;

    RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files, std::shared_ptr<Patience> patience);

    std::shared_ptr<Patience> patience_;         // shared with the file system; zero during a start
    std::unique_ptr<rocksdb::ThreadPool> pool_;  // the one thread for background work
};

}  // namespace mortise::storage
