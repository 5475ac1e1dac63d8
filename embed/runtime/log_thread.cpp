#include "embed/runtime/log_thread.hpp"

#include <utility>

#include "embed/threads/stage_trace.hpp"
#include "embed/threads/thread_start.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

std::uint64_t bytes_of(const std::vector<core::Write>& writes) {
    std::uint64_t bytes = 0;
    for (const auto& write : writes) {
        for (const auto& entry : write.append)
            bytes += entry.payload.size();
    }
    return bytes;
}

}  // namespace

LogThread::LogThread(std::unique_ptr<storage::LogStore> store, DiskEvents events, IdlePoll idle)
    : store_{std::move(store)},
      events_{std::move(events)},
      idle_{idle},
      thread_{start_thread_named("mortise-log", [this] {
          run_or_fail([this] { run(); }, [this](std::string why) { fail({std::move(why)}); });
      })} {}

LogThread::~LogThread() {
    stop();
}

void LogThread::submit(core::Write write) {
    newest_submitted_ = write.id;
    {
        const std::scoped_lock lock{mutex_};
        queue_.push_back(std::move(write));
    }
    work_.notify_one();
}

void LogThread::purge_to(const core::LogBase& base) {
    {
        const std::scoped_lock lock{mutex_};
        purge_to_ = base;
    }
    work_.notify_one();
}

bool LogThread::wait_written(core::WriteId id) {
    std::unique_lock lock{mutex_};
    written_.wait(lock, [&] { return newest_written_ >= id || failed_ || stopping_; });
    return newest_written_ >= id;
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
        if (failed_ || (queue_.empty() && !purge_to_)) return;
        const auto writes = std::exchange(queue_, {});
        const auto purge = std::exchange(purge_to_, {});
        lock.unlock();
        if (!writes.empty()) write_all(writes);
        if (purge && !failed_) {
            if (const auto purged = store_->purge_to(*purge); !purged)
                fail(failure_of(purged.error()));
        }
        lock.lock();
    }
}

bool LogThread::has_work() const {
    return !queue_.empty() || purge_to_ || stopping_;
}

void LogThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
    while (!has_work()) {
        if (!idle_.looks_again(steady_now())) {
            work_.wait(lock, [this] { return has_work(); });
            break;
        }
        lock.unlock();
        std::this_thread::yield();
        idle_.yielded(steady_now());
        lock.lock();
    }
    idle_.found_work(steady_now());
}

void LogThread::write_all(const std::vector<core::Write>& writes) {
    const auto began = std::chrono::steady_clock::now();
    stage(Stage::writing);
    if (const auto written = store_->write(writes); !written) {
        fail(failure_of(written.error()));
        return;
    }
    stage(Stage::synced);
    if (events_.measured)
        events_.measured({bytes_of(writes), std::chrono::steady_clock::now() - began});
    {
        const std::scoped_lock lock{mutex_};
        newest_written_ = writes.back().id;
    }
    written_.notify_all();
    for (const auto& write : writes)
        events_.written(write.id);
}

// A disk that failed once is not used again (P5).
void LogThread::fail(DiskFailure failure) {
    {
        const std::scoped_lock lock{mutex_};
        failed_ = true;
    }
    written_.notify_all();
    events_.failed(std::move(failure));
}

}  // namespace mortise::detail
