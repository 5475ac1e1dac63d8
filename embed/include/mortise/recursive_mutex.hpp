// A lock of the cluster with the interface of std::recursive_timed_mutex.
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

// Like Mutex, but the owning thread can lock it again, at most 1,024 times; the last unlock
// releases it. The recursion is counted here: the cluster knows one hold, and all levels share its
// token. RecursiveMutexes of the same name and node count as one; to lock a Mutex or a SharedMutex
// of that name as well, or a RecursiveMutex of another node of the process, is a deadlock.
//
// After a loss it cannot be locked again, not even by a try, until every level is unlocked: it
// throws lock_lost. Too many levels are resource_exhausted.
class RecursiveMutex {
public:
    // See Mutex::Mutex.
    RecursiveMutex(const Node& node, std::string_view name, AcquireOptions options = {});
    ~RecursiveMutex();
    RecursiveMutex(const RecursiveMutex&) = delete;
    RecursiveMutex& operator=(const RecursiveMutex&) = delete;

    // See Mutex. A lock() that recurses does not ask the cluster and does not block.
    void lock();
    [[nodiscard]] bool try_lock();
    [[nodiscard]] bool try_lock_for(Duration wait);
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_until(detail::deadline_of(moment));
    }
    void unlock() noexcept;

    // See Mutex.
    [[nodiscard]] const Hold& hold() const;
    [[nodiscard]] bool owned_by_this_thread() const;

private:
    [[nodiscard]] bool try_until(std::chrono::steady_clock::time_point deadline);

    const std::unique_ptr<detail::NamedMutex> mutex_;
};

}  // namespace mortise
