// A cluster's lock in the shape of std::shared_timed_mutex.
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

// As Mutex, and several threads, of one node or of many, can have it locked as readers instead.
// Cpp17SharedTimedLockable: made for std::shared_lock as well. A thread that reads cannot lock it
// to write too, nor read twice: both are a deadlock.
class SharedMutex {
public:
    // As Mutex::Mutex.
    SharedMutex(const Node& node, std::string_view name, AcquireOptions options = {});
    ~SharedMutex();
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    // To write, LockMode::exclusive. As the members of Mutex.
    void lock();
    [[nodiscard]] bool try_lock();
    [[nodiscard]] bool try_lock_for(Duration wait);
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_until(detail::deadline_of(moment));
    }
    // Not for what this thread locked to read: that stays, and is reported as not_held.
    void unlock() noexcept;

    // To read, LockMode::shared. As the members of Mutex.
    void lock_shared();
    [[nodiscard]] bool try_lock_shared();
    [[nodiscard]] bool try_lock_shared_for(Duration wait);
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_shared_until(detail::deadline_of(moment));
    }
    // Not for what this thread locked to write: that stays, and is reported as not_held.
    void unlock_shared() noexcept;

    // In either mode; as Mutex::hold and Mutex::owned_by_this_thread.
    [[nodiscard]] const Hold& hold() const;
    [[nodiscard]] bool owned_by_this_thread() const;

private:
    [[nodiscard]] bool try_until(std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] bool try_shared_until(std::chrono::steady_clock::time_point deadline);

    const std::unique_ptr<detail::NamedMutex> mutex_;
};

}  // namespace mortise
