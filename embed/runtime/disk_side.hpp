// The data directory of a node while it is in use: its lock, and the threads that write its log and
// its state.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/generation.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/threads/idle_poll.hpp"
#include "embed/values/duration_buckets.hpp"

namespace mortise::storage {
class LogStore;
class StateStore;
}  // namespace mortise::storage

namespace mortise::detail {

class LogThread;
class StateThread;
struct DiskEvents;
struct LogWrite;

// Counted on the log thread, and unsynced writes on the core thread; over all runs in this process.
struct LogCounters {
    void count(const LogWrite& write);

    std::atomic<std::uint64_t> writes = 0;  // with a sync that somebody waited for
    std::atomic<std::uint64_t> unsynced_writes = 0;
    std::atomic<std::uint64_t> background_syncs = 0;
    std::atomic<std::uint64_t> bytes = 0;  // of all writes
    std::atomic<std::chrono::nanoseconds> slowest{};
    SharedHistogram times;
};

// Used by one thread at a time: the core thread while the node runs, the one that opens the
// directory again, the one that closes the node. Only counters() may be read by others meanwhile.
class DiskSide {
public:
    // The watch outlives it.
    DiskSide(DescriptorWatch& descriptors, IdlePoll idle, core::Nanoseconds sync_interval);
    ~DiskSide();
    DiskSide(const DiskSide&) = delete;
    DiskSide& operator=(const DiskSide&) = delete;

    // The directory of that incarnation stays this node's until let_go().
    void hold(std::shared_ptr<const void> lock, core::Incarnation incarnation);
    [[nodiscard]] core::Incarnation incarnation() const { return incarnation_; }

    // A run of the node begins: reports of earlier ones do not count any more. Returns its number.
    std::uint64_t begin_run() { return ++run_; }
    void end_run() { ++run_; }
    [[nodiscard]] bool is_run(std::uint64_t number) const { return number == run_; }
    // Starts the threads. Throws std::system_error if that is impossible.
    void start(std::unique_ptr<storage::LogStore> log, DiskEvents log_events,
               std::unique_ptr<storage::StateStore> state, DiskEvents state_events);
    // From now on it is checked whether the directory is still this node's (Opened::is_held).
    void watch(std::function<bool()> is_held);
    // After start().
    [[nodiscard]] LogThread& log() { return *log_; }
    [[nodiscard]] StateThread& state() { return *state_; }
    // Of the oldest write of the log that no sync has covered; zero if there is none.
    [[nodiscard]] core::Nanoseconds unsynced_age(core::Instant now);

    // Writes what was submitted, and ends the threads.
    void stop();
    // Closes the stores, which are never used again. The directory stays this node's.
    void close();
    void let_go() { lock_.reset(); }

    [[nodiscard]] LogCounters& counters() { return counters_; }
    [[nodiscard]] const LogCounters& counters() const { return counters_; }

private:
    // checks whether the directory is still this node's: set by the constructor
    DescriptorWatch& descriptors_;
    // of each log thread: set by the constructor
    IdlePoll idle_;
    // likewise: see LogThread
    core::Nanoseconds sync_interval_;
    // keeps other processes off the directory: from hold() to let_go()
    std::shared_ptr<const void> lock_;
    // whose directory it is: set by hold()
    core::Incarnation incarnation_;
    // the number of the present run in this process: set by begin_run() and end_run(). It
    // distinguishes a late report of an earlier run from one of this run.
    std::uint64_t run_ = 0;
    // what the log thread has written since the node was opened
    LogCounters counters_;
    // the threads with their stores: from start() to close()
    std::unique_ptr<LogThread> log_;
    std::unique_ptr<StateThread> state_;
};

}  // namespace mortise::detail
