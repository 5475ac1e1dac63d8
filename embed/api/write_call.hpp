// Calls of a node that change what others see, and are not about a hold of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "embed/runtime/node_runtime.hpp"
#include "embed/threads/blocking_call.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

struct Written {
    std::error_code error;
    std::string why;       // empty if the code says everything
    bool is_busy = false;  // it had no effect, because of what the cluster found
};

// `unsound` is why the arguments are invalid; empty if they are valid. Blocks for at most
// call_timeout and a short time.
[[nodiscard]] inline Written write(const std::shared_ptr<NodeRuntime>& runtime,
                                   std::string_view unsound, core::RequestBody body) {
    if (!runtime) return {Errc::node_stopped, {}};
    if (runtime->is_forked()) return {Errc::forked, {}};
    if (!unsound.empty()) return {Errc::invalid_argument, std::string{unsound}};
    // keeps the gate alive if the node is destroyed during the wait
    const auto gate = runtime->gate();
    auto outcome = ask(gate, core::WriteCall{{}, {}, std::move(body)});
    return {outcome.error, std::move(outcome.reason), outcome.is_busy};
}

}  // namespace mortise::detail
