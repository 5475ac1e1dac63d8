#include "embed/runtime/log_thread.hpp"

#include <algorithm>
#include <utility>

#include "embed/threads/stage_trace.hpp"
#include "embed/threads/thread_start.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

std::uint64_t bytes_of(const core::Write& write) {
    std::uint64_t bytes = 0;
    for (const auto& entry : write.append)
        bytes += entry.payload.size();
    return bytes;
}

std::uint64_t bytes_of(const std::vector<core::Write>& writes) {
    std::uint64_t bytes = 0;
    for (const auto& write : writes)
        bytes += bytes_of(write);
    return bytes;
}

}  // namespace

LogThread::LogThread(std::unique_ptr<storage::LogStore> store, DiskEvents events, IdlePoll idle,
                     core::Nanoseconds sync_interval)
    : store_{std::move(store)},
      events_{std::move(events)},
      idle_{idle},
      unsynced_{sync_interval},
      thread_{start_thread_named("mortise-log", [this] {
          run_or_fail([this] { run(); }, [this](std::string why) { fail({std::move(why)}); });
      })} {}

LogThread::~LogThread() {
    stop();
}

void LogThread::submit(core::Write write) {
    newest_submitted_ = write.id;
    if (!write.synced && write_at_once(write)) return;
    {
        const std::scoped_lock lock{mutex_};
        queue_.push_back(std::move(write));
    }
    work_.notify_one();
}

// Only this thread gives the other one work, so while that is idle it does not use the store,
// except for a sync, which the store allows. False if the write has to be queued.
bool LogThread::write_at_once(const core::Write& write) {
    const auto now = steady_now();
    {
        const std::scoped_lock lock{mutex_};
        const bool is_idle = queue_.empty() && !purge_to_ && !is_busy_ && !stopping_;
        if (!is_idle || failed_ || unsynced_.lags(now)) return false;
    }
    const auto done = store_->write_at_once(write);
    if (!done) fail(failure_of(done.error()));
    if (!done || !*done) return !done;
    const auto bytes = bytes_of(write);
    bool is_news = false;
    {
        const std::scoped_lock lock{mutex_};
        newest_written_ = write.id;
        is_news = unsynced_.written(now, bytes);
    }
    if (is_news) work_.notify_one();
    measure({bytes, steady_now() - now, LogWrite::Kind::unsynced});
    events_.written(write.id);
    return true;
}

void LogThread::purge_to(const core::LogBase& base) {
    {
        const std::scoped_lock lock{mutex_};
        purge_to_ = base;
    }
    work_.notify_one();
}

bool LogThread::wait_synced(core::WriteId id) {
    std::unique_lock lock{mutex_};
    written_.wait(lock, [&] { return newest_synced_ >= id || failed_ || stopping_; });
    return newest_synced_ >= id;
}

std::optional<core::Instant> LogThread::unsynced_since() {
    const std::scoped_lock lock{mutex_};
    return unsynced_.oldest();
}

void LogThread::hurry() {
    {
        const std::scoped_lock lock{mutex_};
        hurries_ = true;
    }
    work_.notify_one();
}

void LogThread::stop() {
    {
        const std::scoped_lock lock{mutex_};
        stopping_ = true;
    }
    work_.notify_one();
    if (thread_.joinable()) thread_.join();
    written_.notify_all();
}

void LogThread::run() {
    std::unique_lock lock{mutex_};
    while (true) {
        wait_for_work(lock);
        if (failed_) return;
        if (stopping_ && queue_.empty() && !purge_to_) break;
        const auto writes = std::exchange(queue_, {});
        const auto purge = std::exchange(purge_to_, {});
        const auto now = steady_now();
        const bool lags = unsynced_.lags(now);
        const bool syncs = is_sync_due(now);
        is_busy_ = !writes.empty() || purge;
        lock.unlock();
        carry_out(writes, purge, lags);
        if (syncs) sync();
        lock.lock();
        is_busy_ = false;
    }
    lock.unlock();
    // If it fails, the next start examines what is there.
    static_cast<void>(store_->close());
}

bool LogThread::has_work() const {
    return !queue_.empty() || purge_to_ || stopping_ || failed_;
}

bool LogThread::is_sync_due(core::Instant now) const {
    const auto due = unsynced_.due();
    return due && (hurries_ || now >= *due);
}

void LogThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
    auto now = steady_now();
    while (!has_work() && !is_sync_due(now)) {
        if (idle_.looks_again(now)) {
            lock.unlock();
            std::this_thread::yield();
            idle_.yielded(steady_now());
            lock.lock();
        } else {
            sleep(lock, now);
        }
        now = steady_now();
    }
    idle_.found_work(now);
}

// Without an unsynced write there is nothing to wake for.
void LogThread::sleep(std::unique_lock<std::mutex>& lock, core::Instant now) {
    const auto due = unsynced_.due();
    if (due) {
        work_.wait_for(lock, *due - now,
                       [&] { return has_work() || hurries_ || unsynced_.due() != due; });
    } else {
        work_.wait(lock, [this] { return has_work() || unsynced_.due(); });
    }
}

void LogThread::carry_out(const std::vector<core::Write>& writes,
                          const std::optional<core::LogBase>& to, bool lags) {
    if (!writes.empty()) write_all(writes, lags);
    if (!to || failed_) return;
    if (const auto purged = store_->purge_to(*to); !purged) fail(failure_of(purged.error()));
}

void LogThread::write_all(const std::vector<core::Write>& writes, bool lags) {
    const auto began = steady_now();
    const bool syncs = lags || std::ranges::any_of(writes, &core::Write::synced);
    stage(Stage::writing);
    auto written = store_->write(writes);
    if (written && syncs) written = store_->sync();
    if (!written) return fail(failure_of(written.error()));
    stage(Stage::synced);
    const auto bytes = bytes_of(writes);
    const auto kind = syncs ? LogWrite::Kind::synced : LogWrite::Kind::unsynced;
    measure({bytes, steady_now() - began, kind});
    {
        const std::scoped_lock lock{mutex_};
        newest_written_ = writes.back().id;
        if (syncs) {
            newest_synced_ = newest_written_;
            unsynced_.all_synced();
        } else {
            unsynced_.written(began, bytes);
        }
    }
    written_.notify_all();
    for (const auto& write : writes)
        events_.written(write.id);
}

// The core thread may write meanwhile.
void LogThread::sync() {
    core::WriteId covered;
    {
        const std::scoped_lock lock{mutex_};
        if (failed_ || !unsynced_.oldest()) return;
        covered = newest_written_;
        unsynced_.sync_begins();
    }
    const auto began = steady_now();
    if (const auto synced = store_->sync(); !synced) return fail(failure_of(synced.error()));
    measure({0, steady_now() - began, LogWrite::Kind::background_sync});
    {
        const std::scoped_lock lock{mutex_};
        newest_synced_ = covered;
        unsynced_.sync_ends();
    }
    written_.notify_all();
}

void LogThread::measure(LogWrite write) const {
    if (events_.measured) events_.measured(write);
}

// A disk that failed once is not used again (P5).
void LogThread::fail(DiskFailure failure) {
    {
        const std::scoped_lock lock{mutex_};
        if (std::exchange(failed_, true)) return;
    }
    work_.notify_one();
    written_.notify_all();
    events_.failed(std::move(failure));
}

}  // namespace mortise::detail
