#include "embed/threads/notifier.hpp"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

#include "embed/threads/thread_start.hpp"

namespace mortise::detail {

namespace {

// The limit is high because callbacks may wait for other callbacks of their own node; with few
// threads they would block the node for good.
constexpr std::size_t threads_max = 512;
constexpr auto patience = std::chrono::milliseconds{10};
constexpr std::size_t idle_kept = 2;                // one that works, one that watches it
constexpr auto idle_max = std::chrono::seconds{1};  // for the other threads

// The notifier to which this thread belongs, if any.
thread_local const Notifier* serving = nullptr;

template <class Task>
void run_guarded(const Task& task) {
    try {
        task();
    } catch (...) {  // an exception of the program must not end this thread
    }
}

class TaskJob final : public Notifier::Job {
public:
    explicit TaskJob(Notifier::Task task) : task_{std::move(task)} {}
    void run(const std::shared_ptr<Queued>& /*self*/) override { task_(); }

private:
    const Notifier::Task task_;
};

}  // namespace

Notifier::Notifier(std::string name, OnSlow on_slow)
    : name_{std::move(name)}, on_slow_{std::move(on_slow)} {
    const std::scoped_lock lock{mutex_};
    start_thread();
}

Notifier::~Notifier() {
    stop();
}

bool Notifier::post(Task task) {
    if (generation_.is_forked()) return false;
    return post(std::make_shared<TaskJob>(std::move(task)));
}

// Only the first of a burst wakes a thread; the thread that takes it wakes another one if it has to
// be watched.
bool Notifier::post(std::shared_ptr<Job> job) noexcept {
    if (generation_.is_forked()) return false;
    bool wakes = false;
    {
        const std::scoped_lock lock{mutex_};
        if (is_over()) return false;
        wakes = jobs_.empty() && must_wake();
        jobs_.push_back(std::move(job));
    }
    if (wakes) work_.notify_one();
    return true;
}

Notifier::Burst::Burst(Notifier& notifier) : notifier_{notifier} {
    const std::scoped_lock lock{notifier_.mutex_};
    ++notifier_.bursts_;
}

Notifier::Burst::~Burst() {
    bool wakes = false;
    {
        const std::scoped_lock lock{notifier_.mutex_};
        --notifier_.bursts_;
        wakes = !notifier_.jobs_.empty() && notifier_.must_wake();
    }
    if (wakes) notifier_.work_.notify_one();
}

bool Notifier::must_wake() const {
    return bursts_ == 0 && (running_ == 0 || watching_ == 0);
}

bool Notifier::is_own_thread() const {
    return serving == this;
}

std::uint64_t Notifier::overruns() const {
    const std::scoped_lock lock{mutex_};
    return overruns_;
}

void Notifier::stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    work_.notify_all();
    threads_.splice(threads_.end(), ended_);
    while (!threads_.empty()) {  // a running task may start another thread
        auto thread = std::move(threads_.back());
        threads_.pop_back();
        lock.unlock();
        thread.join();
        lock.lock();
    }
}

void Notifier::start_thread() {
    // allocated first, so that every thread that is started has a place
    std::list<std::thread> one(1);
    one.front() = start_thread_named(name_, [this] { run(); });
    threads_.splice(threads_.end(), one);
    grown_ = std::chrono::steady_clock::now();
}

// The calling thread leaves threads_; another thread joins it.
void Notifier::end_thread() {
    const auto is_this = [](const std::thread& one) {
        return one.get_id() == std::this_thread::get_id();
    };
    const auto self = std::ranges::find_if(threads_, is_this);
    if (self != threads_.end()) ended_.splice(ended_.end(), threads_, self);
}

// Starts a thread, so that one watches those that work.
void Notifier::grow() {
    if (idle_ != 0 || threads_.size() >= threads_max) return;
    try {
        start_thread();
        // no thread can be started: the rest wait for the existing ones
    } catch (const std::exception&) {
    }
}

// One thread works. The others watch it; if its task still runs after a moment, one of them
// continues with the rest.
bool Notifier::may_take() const {
    if (jobs_.empty()) return false;
    return running_ == 0 || stopping_ || std::chrono::steady_clock::now() >= last_taken_ + patience;
}

// A running task may post more tasks and wait for them.
bool Notifier::is_over() const {
    return stopping_ && jobs_.empty() && running_ == 0;
}

// False if there is no task and there will be none, or if other threads wait as well: threads that
// were started for a burst of slow callbacks end when the burst is over.
bool Notifier::wait_for_task(std::unique_lock<std::mutex>& lock) {
    ++idle_;
    bool is_needed = true;
    while (is_needed && !may_take() && !is_over()) {
        if (!jobs_.empty()) {
            ++watching_;
            work_.wait_until(lock, last_taken_ + patience);
            --watching_;
        } else if (idle_ <= idle_kept) {
            work_.wait(lock);
        } else {
            work_.wait_until(lock, grown_ + idle_max);
            const bool is_calm = std::chrono::steady_clock::now() >= grown_ + idle_max;
            is_needed = !is_calm || !jobs_.empty() || idle_ <= idle_kept;
        }
    }
    --idle_;
    return is_needed && !jobs_.empty();
}

void Notifier::run() {
    serving = this;
    std::unique_lock lock{mutex_};
    while (wait_for_task(lock)) {
        auto job = jobs_.pop_front();
        if (running_++ > 0) ++overruns_;
        if (!jobs_.empty() && watching_ == 0) work_.notify_one();
        last_taken_ = std::chrono::steady_clock::now();
        grow();
        auto ended = std::exchange(ended_, {});
        lock.unlock();
        // Not under the mutex, because thread-local destructors that a callback left may post.
        for (auto& thread : ended)
            thread.join();
        run_measured(job);
        job.reset();
        lock.lock();
        --running_;
        if (is_over()) work_.notify_all();
    }
    if (!stopping_) end_thread();
}

void Notifier::run_measured(const std::shared_ptr<Job>& job) noexcept {
    const auto began = std::chrono::steady_clock::now();
    run_here(job);
    const auto took = std::chrono::steady_clock::now() - began;
    if (took <= patience) return;
    ++slow_tasks_;
    if (on_slow_) on_slow_(took);
}

bool run_elsewhere(const Notifier::Task& task) noexcept {
    try {
        start_thread_named("mortise-notify", [task] { run_guarded(task); }).detach();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

bool run_elsewhere(const std::shared_ptr<Notifier::Job>& job) noexcept {
    try {
        start_thread_named("mortise-notify", [job] { run_here(job); }).detach();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void run_here(const std::shared_ptr<Notifier::Job>& job) noexcept {
    run_guarded([&job] { job->run(job); });
}

}  // namespace mortise::detail
