// The end of an acquire that no thread waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/lost_watch.hpp"
#include "embed/capi/options.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/duration.hpp>
#include <mortise/hold.hpp>

namespace mortise::capi {

// Calls the program's callback, and then destroys its context.
class Acquired final : public detail::Finish {
public:
    Acquired(std::string name, mortise_acquired_callback call, CallbackContext&& context)
        : name_{std::move(name)}, call_{call}, context_{std::move(context)} {}

    void operator()(std::error_code ec, Hold granted) noexcept override {
        mortise_hold* hold = nullptr;
        mortise_error* error = nullptr;
        const int code = guarded(&error, [&] {
            if (ec) throw HoldFailure{ec, name_};
            if (granted) hold = handle_of(std::move(granted));
        });
        call_(context_.get(), code, hold, error);
    }

private:
    const std::string name_;
    const mortise_acquired_callback call_;
    const CallbackContext context_;
};

// `context` is destroyed by the end, or stays with the caller if this throws.
[[nodiscard]] inline std::unique_ptr<Acquired> end_of(const detail::AcquireOrder& order,
                                                      mortise_acquired_callback acquired,
                                                      CallbackContext& context) {
    require(acquired != nullptr, "acquired is NULL");
    return std::make_unique<Acquired>(order.name, acquired, std::move(context));
}

[[nodiscard]] inline detail::Deadline deadline_of(std::int64_t wait_max_ns) {
    return detail::Deadline::clock::now() + time_of(wait_max_ns, "wait_max_ns is negative");
}

}  // namespace mortise::capi
