#include "embed/notifier.hpp"

#include <utility>

#include "embed/thread_start.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t threads_max = 8;
constexpr auto patience = std::chrono::milliseconds{10};

void run_guarded(const Notifier::Task& task) {
    try {
        task();
    } catch (...) {  // theirs; it must not end ours
    }
}

}  // namespace

Notifier::Notifier(std::string name) : name_{std::move(name)} {
    const std::scoped_lock lock{mutex_};
    start_thread();
}

Notifier::~Notifier() {
    stop();
}

bool Notifier::post(Task task) {
    {
        const std::scoped_lock lock{mutex_};
        if (stopped_) return false;
        tasks_.push_back(std::move(task));
    }
    work_.notify_one();
    return true;
}

bool Notifier::is_own_thread() const {
    const std::scoped_lock lock{mutex_};
    for (const auto& thread : threads_) {
        if (thread.get_id() == std::this_thread::get_id()) return true;
    }
    return false;
}

std::uint64_t Notifier::overruns() const {
    const std::scoped_lock lock{mutex_};
    return overruns_;
}

void Notifier::stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    work_.notify_all();
    while (!threads_.empty()) {  // one that runs may start another
        auto thread = std::move(threads_.back());
        threads_.pop_back();
        lock.unlock();
        thread.join();
        lock.lock();
    }
    // What the last tasks posted: there is nobody left but us.
    while (!tasks_.empty()) {
        const auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        run_guarded(task);
        lock.lock();
    }
    stopped_ = true;
}

void Notifier::start_thread() {
    threads_.push_back(start_thread_named(name_, [this] { run(); }));
}

// One thread works. The others watch it, and one of them goes on with the rest when what it took is
// still running after a moment.
bool Notifier::may_take() const {
    return running_ == 0 || stopping_ || std::chrono::steady_clock::now() >= last_taken_ + patience;
}

void Notifier::wait_for_task(std::unique_lock<std::mutex>& lock) {
    ++idle_;
    while (tasks_.empty() ? !stopping_ : !may_take()) {
        if (tasks_.empty()) {
            work_.wait(lock);
        } else {
            work_.wait_until(lock, last_taken_ + patience);
        }
    }
    --idle_;
}

void Notifier::run() {
    std::unique_lock lock{mutex_};
    while (true) {
        wait_for_task(lock);
        if (tasks_.empty()) return;
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        if (running_++ > 0) ++overruns_;
        last_taken_ = std::chrono::steady_clock::now();
        if (idle_ == 0 && threads_.size() < threads_max && !stopping_) start_thread();
        lock.unlock();
        run_guarded(task);
        task = {};
        lock.lock();
        --running_;
    }
}

}  // namespace mortise::detail
