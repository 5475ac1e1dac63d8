#include <utility>

#include "embed/api/named_mutex.hpp"
#include <mortise/mutex.hpp>

namespace mortise {

Mutex::Mutex(const Node& node, std::string_view name, AcquireOptions options)
    : mutex_{std::make_unique<detail::NamedMutex>(node, name, std::move(options))} {}

Mutex::~Mutex() = default;

void Mutex::lock() {
    mutex_->lock(LockMode::exclusive);
}

bool Mutex::try_lock() {
    return mutex_->try_lock(LockMode::exclusive);
}

bool Mutex::try_lock_for(Duration wait) {
    return try_until(std::chrono::steady_clock::now() + wait);
}

void Mutex::unlock() noexcept {
    mutex_->unlock(LockMode::exclusive);
}

const Hold& Mutex::hold() const {
    return mutex_->hold();
}

bool Mutex::owned_by_this_thread() const {
    return static_cast<bool>(hold());
}

bool Mutex::try_until(std::chrono::steady_clock::time_point deadline) {
    return mutex_->try_lock_until(LockMode::exclusive, deadline);
}

}  // namespace mortise
