#include "embed/capi/lost_watch.hpp"

#include "embed/capi/error.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::capi {

void LostWatch::Fire::operator()() noexcept {
    const auto mine = std::move(callback);
    mine->call(mine->context.get());
}

void LostWatch::begin(const std::stop_token& lost, mortise_lost_callback callback,
                      CallbackContext&& context) {
    Fire fire{std::make_shared<Callback>(Callback{callback, std::move(context)})};
    {
        const std::lock_guard lock{mutex_};
        if (has_ended_) throw LockError{Errc::not_held};
        if (has_begun_) throw Misuse{"the hold has a lost callback already"};
        has_begun_ = true;
    }
    try {
        keep(std::make_unique<Registration>(lost, std::move(fire)));
    } catch (...) {  // no memory
        const std::lock_guard lock{mutex_};
        has_begun_ = false;
        throw;
    }
}

// If end() came first, the registration is dropped, outside the mutex.
void LostWatch::keep(std::unique_ptr<Registration> registration) noexcept {
    const std::lock_guard lock{mutex_};
    if (!has_ended_) registration_ = std::move(registration);
}

void LostWatch::end() noexcept {
    std::unique_ptr<Registration> registration;
    {
        const std::lock_guard lock{mutex_};
        has_ended_ = true;
        registration = std::move(registration_);
    }
}

}  // namespace mortise::capi
