// What a sink was called with.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace mortise {

// Thread-safe. It outlives the subscription of its sink.
template <class T>
class Recorded {
public:
    [[nodiscard]] std::function<void(const T&)> sink() {
        return [this](const T& one) {
            const std::scoped_lock lock{mutex_};
            all_.push_back(one);
            changed_.notify_all();
        };
    }

    // Everything so far, as soon as `is_enough` accepts it, or after the longest time.
    template <class IsEnough>
    [[nodiscard]] std::vector<T> when(const IsEnough& is_enough) {
        constexpr std::chrono::seconds longest{30};
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, longest, [&] { return is_enough(std::as_const(all_)); });
        return all_;
    }
    [[nodiscard]] std::vector<T> at_least(std::size_t count) {
        return when([count](const std::vector<T>& all) { return all.size() >= count; });
    }
    void clear() {
        const std::scoped_lock lock{mutex_};
        all_.clear();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<T> all_;
};

}  // namespace mortise
