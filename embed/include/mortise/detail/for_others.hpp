// What a library needs that holds for others, as HttpDoor does. Not for use by programs.
#pragma once

#include <memory>
#include <string_view>

#include <mortise/detail/start.hpp>
#include <mortise/hold.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise::detail {

// Begins Hold::set_value() with at most 4 KiB. `finish` receives no hold.
void start_set_value(const Hold& hold, std::string_view bytes, std::unique_ptr<Finish> finish);
// Ends a hold whose owner was not heard in time, without waiting: it is lost (expired), with all
// that share its grant, and the cluster is told of an unclean end (S6, S9): its lock_delay begins.
// Does nothing if the hold has ended. Without memory it is released.
void lapse(const Hold& hold) noexcept;

}  // namespace mortise::detail

#include <mortise/detail/macros_back.hpp>
