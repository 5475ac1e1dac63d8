// RocksDB inside somebody else's program: its background work gets a thread of our own, so that the
// pools which all users of RocksDB in the process share are not resized, and its files belong to
// the owner alone.
#pragma once

#include <memory>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/threadpool.h>

namespace mortise::storage {

class RocksEnv final : public rocksdb::EnvWrapper {
public:
    // Null is the system's file system. Outlives the database.
    explicit RocksEnv(const std::shared_ptr<rocksdb::FileSystem>& files);
    ~RocksEnv() override;

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

private:
    std::unique_ptr<rocksdb::ThreadPool> pool_;
};

}  // namespace mortise::storage
