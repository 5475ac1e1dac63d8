// RocksDB inside somebody else's program: its background work gets a thread of our own, so that the
// pools which all users of RocksDB in the process share are not resized, and its files belong to
// the owner alone.
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

// Whether `status` says that the process or the system has no descriptor left. RocksDB tells it
// from other errors by the system's words alone.
[[nodiscard]] bool is_for_want_of_descriptors(const rocksdb::Status& status);

class RocksEnv final : public rocksdb::EnvWrapper {
public:
    // Null is the system's file system. Outlives the database. Throws std::system_error when there
    // is no thread to be had.
    explicit RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files);
    ~RocksEnv() override;

    // From now on, whoever opens a file when there is no descriptor left waits for one so long, as
    // if the disk were slow.
    void be_patient(std::chrono::milliseconds patience) { *patience_ = patience; }

    void Schedule(void (*function)(void*), void* argument, Priority priority, void* tag,
                  void (*unscheduled)(void*)) override;
    // Nothing is taken back: a database that closes waits for its jobs, and they end at once.
    int UnSchedule(void* tag, Priority priority) override;
    [[nodiscard]] unsigned int GetThreadPoolQueueLen(Priority priority) const override;
    void SetBackgroundThreads(int number, Priority priority) override;
    int GetBackgroundThreads(Priority priority) override;
    void IncBackgroundThreadsIfNeeded(int number, Priority priority) override;
    int ReserveThreads(int number, Priority priority) override;
    int ReleaseThreads(int number, Priority priority) override;
    // A late flush asks for these, and the system's environment is gone in exit()
    // (rocks_process.hpp).
    [[nodiscard]] std::uint64_t GetThreadID() const override;
    rocksdb::Status GetHostName(char* name, std::uint64_t length) override;
    [[nodiscard]] rocksdb::ThreadStatusUpdater* GetThreadStatusUpdater() const override {
        return nullptr;
    }

private:
    using Patience = std::atomic<std::chrono::milliseconds>;

    RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files, std::shared_ptr<Patience> patience);

    std::shared_ptr<Patience> patience_;
    std::unique_ptr<rocksdb::ThreadPool> pool_;
};

}  // namespace mortise::storage
