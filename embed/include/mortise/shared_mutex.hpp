// A lock of the cluster with the interface of std::shared_timed_mutex.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include <mortise/detail/deadline.hpp>
#include <mortise/duration.hpp>
#include <mortise/hold.hpp>
#include <mortise/options.hpp>

namespace mortise {

class Node;

namespace detail {
class NamedMutex;
}

// Like Mutex, but several threads, of one node or of many, can lock it as readers. It is
// Cpp17SharedTimedLockable, also for std::shared_lock. A thread that reads cannot lock it to write,
// or to read again: both are deadlocks. Through another node of the process it can read again, but
// waits for ever then if a writer has come in between.
class SharedMutex {
public:
    // See Mutex::Mutex.
    SharedMutex(const Node& node, std::string_view name, AcquireOptions options = {});
    ~SharedMutex();
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    // Locks to write, LockMode::exclusive. See Mutex.
    void lock();
    [[nodiscard]] bool try_lock();
    [[nodiscard]] bool try_lock_for(Duration wait);
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_until(detail::deadline_of(moment));
    }
    // Does not release what this thread locked to read; that is reported as not_held.
    void unlock() noexcept;

    // Locks to read, LockMode::shared. See Mutex.
    void lock_shared();
    [[nodiscard]] bool try_lock_shared();
    [[nodiscard]] bool try_lock_shared_for(Duration wait);
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_shared_until(detail::deadline_of(moment));
    }
    // Does not release what this thread locked to write; that is reported as not_held.
    void unlock_shared() noexcept;

    // The hold of this thread, in either mode; see Mutex.
    [[nodiscard]] const Hold& hold() const;
    [[nodiscard]] bool owned_by_this_thread() const;

private:
    [[nodiscard]] bool try_until(std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] bool try_shared_until(std::chrono::steady_clock::time_point deadline);

    const std::unique_ptr<detail::NamedMutex> mutex_;
};

}  // namespace mortise
