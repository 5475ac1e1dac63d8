#include <utility>

#include "embed/api/named_mutex.hpp"
#include <mortise/recursive_mutex.hpp>

namespace mortise {

RecursiveMutex::RecursiveMutex(const Node& node, std::string_view name, AcquireOptions options)
    : mutex_{std::make_unique<detail::NamedMutex>(node, name, std::move(options),
                                                  detail::Recursion::yes)} {}

RecursiveMutex::~RecursiveMutex() = default;

void RecursiveMutex::lock() {
    mutex_->lock(LockMode::exclusive);
}

bool RecursiveMutex::try_lock() {
    return mutex_->try_lock(LockMode::exclusive);
}

bool RecursiveMutex::try_lock_for(Duration wait) {
    return try_until(std::chrono::steady_clock::now() + wait);
}

void RecursiveMutex::unlock() noexcept {
    mutex_->unlock(LockMode::exclusive);
}

const Hold& RecursiveMutex::hold() const {
    return mutex_->hold();
}

bool RecursiveMutex::owned_by_this_thread() const {
    return static_cast<bool>(hold());
}

bool RecursiveMutex::try_until(std::chrono::steady_clock::time_point deadline) {
    return mutex_->try_lock_until(LockMode::exclusive, deadline);
}

}  // namespace mortise
