// The background thread that writes the changed rows of the lock table to disk and flushes them at
// intervals. What a crash loses is replayed from the log. It also reads the table for snapshots,
// and installs a snapshot from another node.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "embed/runtime/driver.hpp"
#include "embed/runtime/log_thread.hpp"
#include "storage/state/state_store.hpp"

namespace mortise::detail {

class StateThread final : public StateWriter {
public:
    // The log outlives it.
    StateThread(std::unique_ptr<storage::StateStore> store, LogThread& log, DiskEvents events);
    ~StateThread() override;

    // Called on the core thread.
    void save(core::StateDelta delta) override;
    void save_countdowns(core::SavedCountdowns countdowns) override;
    void read_snapshot(core::SnapshotRead read) override;
    void close_snapshot(core::NodeId peer) override;
    void install(core::InstallStep step) override;
    // Writes what was passed to it, then ends the thread.
    void stop();

private:
    struct Close {
        core::NodeId peer;
    };
    struct Task {
        std::variant<core::StateDelta, core::InstallStep, core::SnapshotRead, Close> what;
        core::WriteId behind;  // not before this write of the log is on disk
    };

    void hand(Task task);
    void run();
    [[nodiscard]] std::optional<Task> take_task();
    // The functions that return bool return false if the store failed; then the thread ends.
    bool carry_out(const std::optional<core::SavedCountdowns>& countdowns,
                   const std::optional<Task>& task);
    bool carry_out(const core::StateDelta& delta);
    bool carry_out(const core::InstallStep& step);
    bool carry_out(const core::SnapshotRead& read);
    bool carry_out(const Close& close);
    bool flush();
    void note_flushed(core::LogIndex index);
    bool fail(DiskFailure failure);
    [[nodiscard]] std::chrono::steady_clock::time_point flush_due() const;
    [[nodiscard]] bool is_flush_due() const;

    std::unique_ptr<storage::StateStore> store_;
    LogThread& log_;
    DiskEvents events_;

    // Used by the thread only.
    std::map<core::NodeId, std::unique_ptr<storage::StateView>> views_;
    std::size_t rows_unflushed_ = 0;
    std::size_t bytes_unflushed_ = 0;  // of the deltas, and of the log entries that wait for them
    core::LogIndex written_;
    core::LogIndex flushed_;
    std::optional<std::chrono::steady_clock::time_point> unflushed_since_;

    std::mutex mutex_;
    std::condition_variable work_;
    std::deque<Task> queue_;
    std::optional<core::SavedCountdowns> countdowns_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mortise::detail
