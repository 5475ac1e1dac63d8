// What the opaque objects of mortise.h are.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/error.hpp"
#include "embed/capi/lost_watch.hpp"
#include <mortise/config.hpp>
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/info.hpp>
#include <mortise/locker.hpp>
#include <mortise/node.hpp>
#include <mortise/subscription.hpp>

namespace mortise::capi {

// The object for a hold; null without one. If there is no memory for it, the hold is released on
// the way.
[[nodiscard]] mortise_hold* handle_of(std::optional<Hold> hold);

}  // namespace mortise::capi

struct mortise_config {
    mortise::Config config;
};

struct mortise_node {
    mortise::Node node;
};

struct mortise_canceller {
    std::stop_source source;
};

struct mortise_contended {
    mortise_contended_callback call;
    std::shared_ptr<mortise::capi::CallbackContext> context;
};

struct mortise_locker {
    mortise::Locker locker;
};

namespace mortise::capi {

// The part of a hold that converts it. It outlives the hold, because an upgrade without a thread
// may end later.
struct Converting {
    std::mutex mutex{};     // one thread at a time converts it
    bool upgrades = false;  // without a thread that waits
};

}  // namespace mortise::capi

struct mortise_hold {
    mortise::Hold hold;
    // Copies, because pointers to them are given away.
    std::string name;
    mortise::Previous previous;
    std::shared_ptr<mortise::capi::LostWatch> watch;
    // Of several names that were acquired together; otherwise empty.
    std::vector<std::unique_ptr<mortise_hold>> parts;
    std::atomic<bool> is_released = false;
    std::shared_ptr<mortise::capi::Converting> converting =
        std::make_shared<mortise::capi::Converting>();
};

struct mortise_observation {
    mortise::Subscription subscription;
};

namespace mortise::capi {

// The hold of one name; `hold` is not NULL.
[[nodiscard]] inline const mortise_hold& of_one_name(const mortise_hold* hold) {
    const auto& held = existing(hold, "hold is NULL");
    require(held.parts.empty(), "the hold is of several names: ask its parts");
    return held;
}

inline void fail_if(const mortise_hold& hold, std::error_code ec) {
    if (ec) throw HoldFailure{ec, hold.name};
}

// Ends the hold with `end`, which returns why it failed. The lost callback is over then.
template <class End>
void give_up(mortise_hold& hold, const End& end) {
    if (hold.watch->is_of_parent()) fail_if(hold, Errc::forked);
    hold.watch->end();
    if (hold.is_released.exchange(true)) fail_if(hold, Errc::not_held);
    fail_if(hold, end(hold.hold));
}

}  // namespace mortise::capi
