// The background thread: brings the lock table's changed rows to disk and flushes them now and
// then. What it has not flushed in a crash the log replays.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "embed/driver.hpp"
#include "embed/log_thread.hpp"
#include "storage/state_store.hpp"

namespace mortise::detail {

class StateThread final : public StateWriter {
public:
    // The log outlives it.
    StateThread(std::unique_ptr<storage::StateStore> store, LogThread& log, DiskEvents events);
    ~StateThread() override;

    // Called on the core thread.
    void save(core::StateDelta delta) override;
    void save_countdowns(std::vector<core::SavedCountdown> countdowns) override;
    // States are not offered to others, and none is taken, yet.
    void read_snapshot(core::SnapshotRead /*read*/) override {}
    void close_snapshot(core::NodeId /*peer*/) override {}
    void install(core::InstallStep step) override;
    // Brings what was handed over to disk, then ends the thread.
    void stop();

private:
    struct Handed {
        core::StateDelta delta;
        core::WriteId behind;  // the state must not be on disk before this write of the log
    };

    void run();
    bool carry_out(std::deque<Handed> deltas,
                   std::optional<std::vector<core::SavedCountdown>> countdowns);
    bool write(const Handed& handed);
    bool flush();
    bool fail(std::string why);
    [[nodiscard]] std::chrono::steady_clock::time_point flush_due() const;

    std::unique_ptr<storage::StateStore> store_;
    LogThread& log_;
    DiskEvents events_;

    // Of the thread.
    std::size_t rows_unflushed_ = 0;
    core::LogIndex written_;
    core::LogIndex flushed_;
    std::optional<std::chrono::steady_clock::time_point> unflushed_since_;

    std::mutex mutex_;
    std::condition_variable work_;
    std::deque<Handed> queue_;
    std::optional<std::vector<core::SavedCountdown>> countdowns_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mortise::detail
