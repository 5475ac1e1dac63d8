#include "embed/state_thread.hpp"

#include <utility>

#include "embed/thread_start.hpp"

namespace mortise::detail {

namespace {

// A flush makes a file, so not too often; the log is kept until it is done, so not too seldom.
constexpr std::size_t rows_unflushed_max = 65'536;
constexpr std::uint64_t entries_unflushed_max = 16'384;
constexpr auto flush_after = std::chrono::seconds{10};

}  // namespace

StateThread::StateThread(std::unique_ptr<storage::StateStore> store, LogThread& log,
                         DiskEvents events)
    : store_{std::move(store)},
      log_{log},
      events_{std::move(events)},
      thread_{start_thread_named("mortise-state", [this] { run(); })} {}

StateThread::~StateThread() {
    stop();
}

void StateThread::save(core::StateDelta delta) {
    const auto behind = log_.newest_submitted();
    {
        const std::scoped_lock lock{mutex_};
        queue_.push_back({std::move(delta), behind});
    }
    work_.notify_one();
}

void StateThread::save_countdowns(std::vector<core::SavedCountdown> countdowns) {
    {
        const std::scoped_lock lock{mutex_};
        countdowns_ = std::move(countdowns);
    }
    work_.notify_one();
}

void StateThread::install(core::InstallStep step) {
    if (step.done) events_.failed("a state from another node cannot be installed");
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

void StateThread::run() {
    std::unique_lock lock{mutex_};
    const auto is_work = [this] { return !queue_.empty() || countdowns_ || stopping_; };
    while (true) {
        if (unflushed_since_) {
            work_.wait_until(lock, flush_due(), is_work);
        } else {
            work_.wait(lock, is_work);
        }
        auto deltas = std::exchange(queue_, {});
        auto countdowns = std::exchange(countdowns_, {});
        const bool last = stopping_ && deltas.empty() && !countdowns;
        lock.unlock();
        if (last) {
            if (unflushed_since_) flush();
            return;
        }
        if (!carry_out(std::move(deltas), std::move(countdowns))) return;
        lock.lock();
    }
}

bool StateThread::carry_out(std::deque<Handed> deltas,
                            std::optional<std::vector<core::SavedCountdown>> countdowns) {
    for (const auto& handed : deltas) {
        if (!write(handed)) return false;
    }
    if (countdowns) {
        if (const auto saved = store_->save_countdowns(*countdowns); !saved) {
            return fail(saved.error().what);
        }
    }
    const bool due = rows_unflushed_ >= rows_unflushed_max ||
                     written_.raw() >= flushed_.raw() + entries_unflushed_max ||
                     std::chrono::steady_clock::now() >= flush_due();
    return !due || flush();
}

bool StateThread::write(const Handed& handed) {
    if (!log_.wait_written(handed.behind)) return false;
    if (const auto written = store_->write(handed.delta); !written) {
        return fail(written.error().what);
    }
    if (!flushed_.is_set() && !written_.is_set()) flushed_ = handed.delta.applied.index;
    written_ = handed.delta.applied.index;
    rows_unflushed_ += handed.delta.rows.size();
    if (!unflushed_since_) unflushed_since_ = std::chrono::steady_clock::now();
    return true;
}

bool StateThread::flush() {
    const auto flushed = store_->flush();
    if (!flushed) return fail(flushed.error().what);
    flushed_ = *flushed;
    rows_unflushed_ = 0;
    unflushed_since_.reset();
    events_.state_durable(*flushed);
    return true;
}

bool StateThread::fail(std::string why) {
    events_.failed(std::move(why));
    return false;
}

}  // namespace mortise::detail
