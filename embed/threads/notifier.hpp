// Runs code of the program: completions, stop callbacks, event sinks. A slow callback does not
// delay the others: if it still runs after a moment, they continue on another thread, up to a limit
// (S7).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "embed/threads/fork_generation.hpp"
#include "embed/threads/queue.hpp"

namespace mortise::detail {

// Thread-safe.
class Notifier {
public:
    using Task = std::function<void()>;

    // A task that is posted at most once. Its place in the queue is allocated with it, so posting
    // it needs no memory.
    using Job = Queued;

    // While it lives, what is posted wakes no thread; its end wakes one for all of that. It is
    // short.
    class Burst {
    public:
        explicit Burst(Notifier& notifier);
        ~Burst();
        Burst(const Burst&) = delete;
        Burst& operator=(const Burst&) = delete;

    private:
        Notifier& notifier_;
    };

    using OnSlow = std::function<void(std::chrono::nanoseconds took)>;

    // `name` is the name of its threads, at most 15 bytes. `on_slow` is called after each task that
    // took longer than a moment, on the thread of the task; it must not throw. Throws
    // std::system_error if no thread can be started; later failures are tolerated.
    explicit Notifier(std::string name, OnSlow on_slow = {});
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    // Tasks begin in the order in which they were posted. Returns false, and does not run the task,
    // after stop() and in the child of a fork.
    bool post(Task task);
    // Likewise for a job. If the caller does not keep the job, it is destroyed on those threads,
    // too.
    bool post(std::shared_ptr<Job> job) noexcept;
    // True on a thread of this notifier.
    [[nodiscard]] bool is_own_thread() const;
    // Runs all posted tasks, and those that they post, then ends its threads and waits for them.
    // Must not be called on a thread of its own.
    void stop();
    // The number of times that tasks moved to another thread because one was slow.
    [[nodiscard]] std::uint64_t overruns() const;
    // The number of tasks that took longer than a moment. A task counts when it ends.
    [[nodiscard]] std::uint64_t slow_tasks() const { return slow_tasks_; }

private:
    void run();
    void run_measured(const std::shared_ptr<Job>& job) noexcept;
    bool wait_for_task(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool must_wake() const;
    [[nodiscard]] bool may_take() const;
    [[nodiscard]] bool is_over() const;
    void start_thread();
    void end_thread();
    void grow();

    const ForkGeneration generation_;
    const std::string name_;
    const OnSlow on_slow_;
    std::atomic<std::uint64_t> slow_tasks_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable work_;
    Queue<Job> jobs_;
    std::list<std::thread> threads_;
    std::list<std::thread> ended_;  // threads that have left and must be joined
    std::size_t bursts_ = 0;
    std::size_t idle_ = 0;
    std::size_t running_ = 0;
    std::size_t watching_ = 0;  // of the idle threads: those that take over from a slow task
    std::chrono::steady_clock::time_point last_taken_;
    std::chrono::steady_clock::time_point grown_;  // when a thread was last started
    std::uint64_t overruns_ = 0;
    bool stopping_ = false;
};

// Runs the task on a new thread, for owners without a notifier. Returns false if no thread can be
// started; then the task did not run.
[[nodiscard]] bool run_elsewhere(const Notifier::Task& task) noexcept;
[[nodiscard]] bool run_elsewhere(const std::shared_ptr<Notifier::Job>& job) noexcept;
// Runs the job on this thread, if no other thread can.
void run_here(const std::shared_ptr<Notifier::Job>& job) noexcept;

}  // namespace mortise::detail
