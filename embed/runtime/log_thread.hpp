// The thread that writes the log and waits for the disk. Everything that is submitted during a
// write becomes the next write, with one sync for all of it. A write that needs no sync is done on
// the core thread if it need not wait, and this thread syncs it a little later
// (docs/decisions/0095).
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
#include "embed/runtime/unsynced_age.hpp"
#include "embed/threads/idle_poll.hpp"
#include "storage/log/log_store.hpp"

namespace mortise::detail {

// One write of the log, with all that was queued, or a sync in the background.
struct LogWrite {
    enum class Kind : std::uint8_t { synced, unsynced, background_sync };

    std::uint64_t bytes = 0;  // of entries
    std::chrono::nanoseconds took{};
    Kind kind = Kind::synced;
};

// The reports of the disk threads, made on those threads; `written`, `failed` and `measured` of the
// log also within submit().
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
    // What is not synced when it is written is synced after `sync_interval` at the latest.
    LogThread(std::unique_ptr<storage::LogStore> store, DiskEvents events, IdlePoll idle,
              core::Nanoseconds sync_interval);
    ~LogThread() override;

    // Called on the core thread.
    void submit(core::Write write) override;
    void purge_to(const core::LogBase& base) override;
    // The newest write that was submitted.
    [[nodiscard]] core::WriteId newest_submitted() const { return newest_submitted_; }

    // Waits until that write is synced; may be called from any thread. False if it never will be.
    bool wait_synced(core::WriteId id);
    // Since when the oldest write has not been synced, if there is one; from any thread.
    [[nodiscard]] std::optional<core::Instant> unsynced_since();
    // From now on no sync waits for the interval: others wait to end.
    void hurry();
    // Writes and syncs what was submitted, then ends the thread.
    void stop();

private:
    bool write_at_once(const core::Write& write);
    void run();
    [[nodiscard]] bool has_work() const;
    [[nodiscard]] bool is_sync_due(core::Instant now) const;
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    void sleep(std::unique_lock<std::mutex>& lock, core::Instant now);
    void carry_out(const std::vector<core::Write>& writes, const std::optional<core::LogBase>& to,
                   bool lags);
    void write_all(const std::vector<core::Write>& writes, bool lags);
    void sync();
    void measure(LogWrite write) const;
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
    core::WriteId newest_synced_;
    UnsyncedAge unsynced_;
    bool is_busy_ = false;  // the thread uses the store, other than for a background sync
    bool hurries_ = false;
    bool failed_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mortise::detail
