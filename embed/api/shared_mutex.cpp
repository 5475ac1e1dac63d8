#include <utility>

#include "embed/api/named_mutex.hpp"
#include <mortise/shared_mutex.hpp>

namespace mortise {

SharedMutex::SharedMutex(const Node& node, std::string_view name, AcquireOptions options)
    : mutex_{std::make_unique<detail::NamedMutex>(node, name, std::move(options))} {}

SharedMutex::~SharedMutex() = default;

void SharedMutex::lock() {
    mutex_->lock(LockMode::exclusive);
}

bool SharedMutex::try_lock() {
    return mutex_->try_lock(LockMode::exclusive);
}

bool SharedMutex::try_lock_for(Duration wait) {
    return try_until(std::chrono::steady_clock::now() + wait);
}

void SharedMutex::unlock() noexcept {
    mutex_->unlock(LockMode::exclusive);
}

void SharedMutex::lock_shared() {
    mutex_->lock(LockMode::shared);
}

bool SharedMutex::try_lock_shared() {
    return mutex_->try_lock(LockMode::shared);
}

bool SharedMutex::try_lock_shared_for(Duration wait) {
    return try_shared_until(std::chrono::steady_clock::now() + wait);
}

void SharedMutex::unlock_shared() noexcept {
    mutex_->unlock(LockMode::shared);
}

const Hold& SharedMutex::hold() const {
    return mutex_->hold();
}

bool SharedMutex::owned_by_this_thread() const {
    return static_cast<bool>(hold());
}

bool SharedMutex::try_until(std::chrono::steady_clock::time_point deadline) {
    return mutex_->try_lock_until(LockMode::exclusive, deadline);
}

bool SharedMutex::try_shared_until(std::chrono::steady_clock::time_point deadline) {
    return mutex_->try_lock_until(LockMode::shared, deadline);
}

}  // namespace mortise
