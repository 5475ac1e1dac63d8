// Where code of the user's runs: completions, stop callbacks, event sinks. A callback that takes
// its time does not hold up the others: when it is still running after a moment the rest go on on
// another thread, up to a bound (S7).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "embed/fork_generation.hpp"

namespace mortise::detail {

// Thread-safe.
class Notifier {
public:
    using Task = std::function<void()>;

    // What is run once at most, and takes no memory then: its place in the queue is made with it.
    class Job {
    public:
        Job() = default;
        Job(const Job&) = delete;
        Job& operator=(const Job&) = delete;
        virtual ~Job() = default;
        virtual void run() = 0;

    private:
        friend class Notifier;
        std::list<std::shared_ptr<Job>> place_{1};  // guarded by the mutex of the notifier
    };

    // `name` is what its threads are called, at most 15 bytes. Throws std::system_error when there
    // is no thread to be had; later ones it does without.
    explicit Notifier(std::string name);
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    // Tasks begin in the order in which they were posted. False after stop(), and in the child of a
    // fork: it will not run.
    bool post(Task task);
    // The same, and nothing when it was posted before. Of a job that the caller does not keep the
    // end is on those threads, too.
    bool post(std::shared_ptr<Job> job) noexcept;
    // True on a thread of this notifier.
    [[nodiscard]] bool is_own_thread() const;
    // Runs what was posted, also by those tasks, then ends its threads and waits for them. Not on a
    // thread of its own.
    void stop();
    // Tasks that went to another thread because one took too long.
    [[nodiscard]] std::uint64_t overruns() const;

private:
    void run();
    bool wait_for_task(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool may_take() const;
    [[nodiscard]] bool is_over() const;
    void start_thread();
    void end_thread();
    void grow();

    const ForkGeneration generation_;
    const std::string name_;
    mutable std::mutex mutex_;
    std::condition_variable work_;
    std::list<std::shared_ptr<Job>> jobs_;
    std::list<std::thread> threads_;
    std::list<std::thread> ended_;  // left by themselves
    std::size_t idle_ = 0;
    std::size_t running_ = 0;
    std::chrono::steady_clock::time_point last_taken_;
    std::chrono::steady_clock::time_point grown_;  // a thread was started last
    std::uint64_t overruns_ = 0;
    bool stopping_ = false;
};

// Runs it on a thread of its own, for what has no notifier, or none any more. False when there is
// no thread to be had: then it did not run.
[[nodiscard]] bool run_elsewhere(const Notifier::Task& task) noexcept;
[[nodiscard]] bool run_elsewhere(const std::shared_ptr<Notifier::Job>& job) noexcept;
// When there is none at all.
void run_here(Notifier::Job& job) noexcept;

}  // namespace mortise::detail
