#include "embed/runtime/unready_watch.hpp"

#include <system_error>

#include "embed/values/clocks.hpp"
#include <mortise/duration.hpp>

namespace mortise::detail {

void UnreadyWatch::not_ready() {
    since_ = steady_now();
    warnings_ = 0;
    is_on_ = true;
    look();
}

void UnreadyWatch::ready() {
    is_on_ = false;
    timer_.cancel();
}

void UnreadyWatch::look() {
    const auto age = steady_now() - since_;
    if (limit_.is_due(age, warnings_)) {
        const Duration seconds = std::chrono::floor<std::chrono::seconds>(age);
        const auto why = why_();
        log_.warn("not_ready_for_long",
                  "not ready for " + to_string(seconds) + (why.empty() ? "" : ": " + why),
                  {{"took", to_string(seconds)}, {"reason", why}});
    }
    timer_.expires_after(limit_.until_next(age));
    timer_.async_wait([this](std::error_code cancelled) {
        if (!cancelled && is_on_) look();
    });
}

}  // namespace mortise::detail
