#include "embed/capi/lost_watch.hpp"

#include <unistd.h>

#include "embed/capi/error.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::capi {
namespace {

// How many lost callbacks this thread is in: one may cause the loss of another hold.
thread_local constinit int callbacks_of_this_thread = 0;

}  // namespace

LostWatch::LostWatch() noexcept : process_{::getpid()} {}

bool LostWatch::is_of_parent() const noexcept {
    return ::getpid() != process_;
}

void LostWatch::Fire::operator()() noexcept {
    const auto mine = std::move(watch);  // this object is destroyed before fire() returns
    mine->fire();
}

void LostWatch::begin(const std::stop_token& lost, mortise_lost_callback callback,
                      CallbackContext&& context) {
    auto owned = std::make_unique<Callback>(Callback{callback, std::move(context)});
    if (is_of_parent()) throw LockError{Errc::forked};
    set(std::move(owned));
    try {
        keep(std::make_unique<Registration>(lost, Fire{shared_from_this()}));
    } catch (...) {  // no memory
        const std::lock_guard lock{mutex_};
        has_begun_ = false;
        owned = std::move(callback_);
        throw;
    }
}

void LostWatch::set(std::unique_ptr<Callback> callback) {
    const std::lock_guard lock{mutex_};
    if (has_ended_) throw LockError{Errc::not_held};
    if (has_begun_) throw Misuse{"the hold has a lost callback already"};
    has_begun_ = true;
    callback_ = std::move(callback);
}

// If the callback has returned or is not wanted any more, the registration is dropped, outside the
// mutex.
void LostWatch::keep(std::unique_ptr<Registration> registration) noexcept {
    const std::lock_guard lock{mutex_};
    if (is_running_ || callback_ != nullptr) registration_ = std::move(registration);
}

void LostWatch::fire() noexcept {
    auto callback = start();
    if (callback == nullptr) return;
    ++callbacks_of_this_thread;
    callback->call(callback->context.get());
    callback.reset();
    --callbacks_of_this_thread;
    finish();
}

std::unique_ptr<LostWatch::Callback> LostWatch::start() noexcept {
    const std::lock_guard lock{mutex_};
    is_running_ = callback_ != nullptr;
    return std::move(callback_);
}

void LostWatch::finish() noexcept {
    std::unique_ptr<Registration> registration;
    const std::lock_guard lock{mutex_};
    registration = std::move(registration_);
    is_running_ = false;
    is_finished_.notify_all();
}

void LostWatch::end() noexcept {
    if (is_of_parent()) return;
    std::unique_ptr<Callback> callback;
    std::unique_ptr<Registration> registration;
    std::unique_lock lock{mutex_};
    has_ended_ = true;
    callback = std::move(callback_);
    if (!is_running_) registration = std::move(registration_);
    if (callbacks_of_this_thread == 0) is_finished_.wait(lock, [&] { return !is_running_; });
}

}  // namespace mortise::capi
