// The thread that writes the log and waits for the disk. Everything that is submitted during a
// write becomes the next write, with one sync for all of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "embed/runtime/disk_failure.hpp"
#include "embed/runtime/driver.hpp"
#include "embed/threads/idle_poll.hpp"
#include "storage/log/log_store.hpp"

namespace mortise::detail {

// One write of the log, with all that was queued.
struct LogWrite {
    std::uint64_t bytes = 0;  // of entries
    std::chrono::nanoseconds took{};
};

// The reports of the disk threads, made on those threads.
struct DiskEvents {
    std::function<void(core::WriteId)> written;  // every write, in order
    std::function<void(core::LogIndex)> state_durable;
    std::function<void(core::SnapshotRows)> snapshot_rows;
    std::function<void()> install_taken;
    std::function<void(core::StateInstalled)> state_installed;
    std::function<void(DiskFailure)> failed;  // once per thread, which does nothing more
    std::function<void(LogWrite)> measured;   // every completed write; may be empty
};

class LogThread final : public LogWriter {
public:
    LogThread(std::unique_ptr<storage::LogStore> store, DiskEvents events, IdlePoll idle);
    ~LogThread() override;

    // Called on the core thread.
    void submit(core::Write write) override;
    void purge_to(const core::LogBase& base) override;
    // The newest write that was submitted.
    [[nodiscard]] core::WriteId newest_submitted() const { return newest_submitted_; }

    // Waits until that write is on disk; may be called from any thread. False if it never will be.
    bool wait_written(core::WriteId id);
    // Writes what was submitted, then ends the thread.
    void stop();

private:
    void run();
    [[nodiscard]] bool has_work() const;
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    void write_all(const std::vector<core::Write>& writes);
    void fail(DiskFailure failure);

    std::unique_ptr<storage::LogStore> store_;
    DiskEvents events_;
    IdlePoll idle_;
    core::WriteId newest_submitted_;

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable written_;
    std::vector<core::Write> queue_;
    std::optional<core::LogBase> purge_to_;
    core::WriteId newest_written_;
    bool failed_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mortise::detail
