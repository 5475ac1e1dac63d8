// Locks that are taken away from whoever has them (S24).
#include <utility>

#include "core/locks/limits.hpp"
#include "embed/asking.hpp"
#include "embed/node_runtime.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/node.hpp>

namespace mortise {

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      BreakMode mode, std::error_code& ec) {
    const auto runtime = runtime_;  // while this waits the node may go
    ec.clear();
    if (!runtime) ec = Errc::node_stopped;
    if (runtime && runtime->is_forked()) ec = Errc::forked;
    const bool sound = core::is_valid_name(name) && expected.raw() > 0 &&
                       reason.size() <= core::reason_bytes_max && mode <= BreakMode::immediate;
    if (!ec && !sound) ec = Errc::invalid_argument;
    if (ec) return;
    core::WriteCall call;
    call.body = core::BreakLock{std::string{name},
                                core::FencingToken{static_cast<std::uint64_t>(expected.raw())},
                                std::string{reason}, mode == BreakMode::immediate};
    ec = detail::ask(runtime->gate(), std::move(call)).error;
}

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      std::error_code& ec) {
    break_lock(name, expected, reason, BreakMode::confirmed, ec);
}

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      BreakMode mode) {
    std::error_code ec;
    break_lock(name, expected, reason, mode, ec);
    if (!ec) return;
    ErrorDetail detail;
    detail.name = name;
    throw LockError{ec, std::move(detail)};
}

}  // namespace mortise
