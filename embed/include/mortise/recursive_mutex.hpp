// A cluster's lock in the shape of std::recursive_timed_mutex.
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

// As Mutex, and a thread that has it locked can lock it again, at most 1,024 times: it is given
// back with the last unlock. The recursion is counted here; the cluster knows one hold, and all
// share its token. RecursiveMutexes of the same name and node recurse into each other; a Mutex or a
// SharedMutex of that name is a deadlock.
//
// What was lost cannot be locked again, by a try neither, before every level of it is unlocked: it
// throws lock_lost. Too deep is resource_exhausted.
class RecursiveMutex {
public:
    // As Mutex::Mutex.
    RecursiveMutex(const Node& node, std::string_view name, AcquireOptions options = {});
    ~RecursiveMutex();
    RecursiveMutex(const RecursiveMutex&) = delete;
    RecursiveMutex& operator=(const RecursiveMutex&) = delete;

    // As those of Mutex. A lock() that recurses asks nobody and does not block.
    void lock();
    [[nodiscard]] bool try_lock();
    [[nodiscard]] bool try_lock_for(Duration wait);
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_until(detail::deadline_of(moment));
    }
    void unlock() noexcept;

    // As those of Mutex.
    [[nodiscard]] const Hold& hold() const;
    [[nodiscard]] bool owned_by_this_thread() const;

private:
    [[nodiscard]] bool try_until(std::chrono::steady_clock::time_point deadline);

    const std::unique_ptr<detail::NamedMutex> mutex_;
};

}  // namespace mortise
