#include "embed/runtime/state_thread.hpp"

#include <utility>

#include "core/node/state_lag.hpp"
#include "embed/threads/thread_start.hpp"

namespace mortise::detail {

namespace {

// A flush writes a file, so it must not be too frequent. The log is kept until the flush, so it
// must not be too rare.
constexpr std::size_t rows_unflushed_max = 65'536;
constexpr std::uint64_t entries_unflushed_max = 16'384;
// Far below the limit at which the core rejects work (core::NodeOptions::state_lag_bytes_max).
constexpr std::size_t bytes_unflushed_max = std::size_t{32} << 20U;
constexpr auto flush_after = std::chrono::seconds{10};

}  // namespace

StateThread::StateThread(std::unique_ptr<storage::StateStore> store, LogThread& log,
                         DiskEvents events)
    : store_{std::move(store)},
      log_{log},
      events_{std::move(events)},
      thread_{start_thread_named("mortise-state", [this] {
          run_or_fail([this] { run(); }, [this](std::string why) { fail({std::move(why)}); });
      })} {}

StateThread::~StateThread() {
    stop();
}

void StateThread::save(core::StateDelta delta) {
    hand({std::move(delta), log_.newest_submitted()});
}

void StateThread::install(core::InstallStep step) {
    hand({std::move(step), log_.newest_submitted()});
}

void StateThread::read_snapshot(core::SnapshotRead read) {
    hand({std::move(read), {}});
}

void StateThread::close_snapshot(core::NodeId peer) {
    hand({Close{peer}, {}});
}

void StateThread::hand(Task task) {
    {
        const std::scoped_lock lock{mutex_};
        queue_.push_back(std::move(task));
    }
    work_.notify_one();
}

void StateThread::save_countdowns(core::SavedCountdowns countdowns) {
    {
        const std::scoped_lock lock{mutex_};
        countdowns_ = std::move(countdowns);
    }
    work_.notify_one();
}

void StateThread::stop() {
    {
        const std::scoped_lock lock{mutex_};
        stopping_ = true;
    }
    work_.notify_one();
    if (thread_.joinable()) thread_.join();
}

std::chrono::steady_clock::time_point StateThread::flush_due() const {
    return unflushed_since_ ? *unflushed_since_ + flush_after
                            : std::chrono::steady_clock::time_point::max();
}

bool StateThread::is_flush_due() const {
    return rows_unflushed_ >= rows_unflushed_max || bytes_unflushed_ >= bytes_unflushed_max ||
           written_.raw() >= flushed_.raw() + entries_unflushed_max ||
           std::chrono::steady_clock::now() >= flush_due();
}

void StateThread::run() {
    std::unique_lock lock{mutex_};
    const auto is_work = [this] { return !queue_.empty() || countdowns_ || stopping_; };
    while (true) {
        if (unflushed_since_) {
            work_.wait_until(lock, flush_due(), is_work);
        } else {
            work_.wait(lock, is_work);
        }
        auto task = take_task();
        const auto countdowns = std::exchange(countdowns_, {});
        const bool last = stopping_ && !task && !countdowns;
        lock.unlock();
        if (last) {
            if (unflushed_since_) flush();
            return;
        }
        if (!carry_out(countdowns, task)) return;
        task.reset();  // destroyed outside the lock, because that may take long
        lock.lock();
    }
}

// Returns one task at a time, so that a finished task frees its memory at once, and so that
// countdowns are saved however many tasks wait.
std::optional<StateThread::Task> StateThread::take_task() {
    if (queue_.empty()) return std::nullopt;
    std::optional<Task> task{std::move(queue_.front())};
    queue_.pop_front();
    return task;
}

bool StateThread::carry_out(const std::optional<core::SavedCountdowns>& countdowns,
                            const std::optional<Task>& task) {
    if (countdowns) {
        if (const auto saved = store_->save_countdowns(*countdowns); !saved) {
            return fail(failure_of(saved.error()));
        }
    }
    if (task) {
        if (!log_.wait_synced(task->behind)) return false;
        const bool done =
            std::visit([this](const auto& what) { return carry_out(what); }, task->what);
        if (!done) return false;
    }
    return !is_flush_due() || flush();
}

bool StateThread::carry_out(const core::StateDelta& delta) {
    if (const auto written = store_->write(delta); !written)
        return fail(failure_of(written.error()));
    if (!flushed_.is_set() && !written_.is_set()) flushed_ = delta.applied.index;
    written_ = delta.applied.index;
    rows_unflushed_ += delta.rows.size();
    bytes_unflushed_ += core::weight(delta);
    if (!unflushed_since_) unflushed_since_ = std::chrono::steady_clock::now();
    return true;
}

bool StateThread::carry_out(const core::InstallStep& step) {
    storage::Result<void> result;
    if (step.position == 0) result = store_->begin_install(step.last, step.configuration);
    if (result) result = store_->install(step.rows);
    if (result && step.done) result = store_->finish_install();
    if (!result) return fail(failure_of(result.error()));
    events_.install_taken();
    if (!step.done) return true;
    note_flushed(step.last.index);
    events_.state_installed({step.last});
    return true;
}

// Reads one page at a time, so that deltas wait for one page at most.
bool StateThread::carry_out(const core::SnapshotRead& read) {
    if (!read.after) {
        views_.erase(read.peer);
        auto view = store_->view();
        if (!view) return fail(failure_of(view.error()));
        views_.emplace(read.peer, *std::move(view));
    }
    const auto found = views_.find(read.peer);
    if (found == views_.end()) return true;
    auto& view = *found->second;
    auto page = view.read(read.after, read.bytes_max);
    if (!page) return fail(failure_of(page.error()));
    events_.snapshot_rows({read.peer, view.applied(), view.configuration(), read.after,
                           std::move(page->rows), page->done, read.transfer});
    return true;
}

bool StateThread::carry_out(const Close& close) {
    views_.erase(close.peer);
    return true;
}

bool StateThread::flush() {
    const auto flushed = store_->flush();
    if (!flushed) return fail(failure_of(flushed.error()));
    note_flushed(*flushed);
    events_.state_durable(*flushed);
    return true;
}

void StateThread::note_flushed(core::LogIndex index) {
    written_ = index;
    flushed_ = index;
    rows_unflushed_ = 0;
    bytes_unflushed_ = 0;
    unflushed_since_.reset();
}

bool StateThread::fail(DiskFailure failure) {
    events_.failed(std::move(failure));
    return false;
}

}  // namespace mortise::detail
