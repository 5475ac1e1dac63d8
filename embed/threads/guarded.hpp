// A value with its mutex, for state that threads share.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace mortise {

// A value that can be accessed only under its lock. Code under the lock must be short: no I/O, no
// code of the program, no second Guarded, and no reference to the value may escape.
template <class T>
class Guarded {
public:
    template <class... Args>
    explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

    template <class F>
    decltype(auto) with(F&& body) {
        const std::scoped_lock lock{mutex_};
        return std::invoke(std::forward<F>(body), value_);
    }

    template <class F>
    decltype(auto) with(F&& body) const {
        const std::scoped_lock lock{mutex_};
        return std::invoke(std::forward<F>(body), value_);
    }

private:
    mutable std::mutex mutex_;
    T value_;
};

}  // namespace mortise
