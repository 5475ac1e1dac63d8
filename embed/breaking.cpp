// Locks that are taken away from whoever has them, or asked for (S24).
#include <utility>

#include "core/locks/limits.hpp"
#include "embed/asking.hpp"
#include "embed/node_runtime.hpp"
#include "embed/unsound.hpp"
#include <mortise/errc.hpp>
#include <mortise/node.hpp>

namespace mortise {

namespace {

std::error_code write(const std::shared_ptr<detail::NodeRuntime>& runtime, std::string_view unsound,
                      core::RequestBody body) {
    if (!runtime) return Errc::node_stopped;
    if (runtime->is_forked()) return Errc::forked;
    if (!unsound.empty()) return Errc::invalid_argument;
    const auto gate = runtime->gate();  // outlives a node that goes while this waits
    return detail::ask(gate, core::WriteCall{{}, {}, std::move(body)}).error;
}

}  // namespace

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      BreakMode mode, std::error_code& ec) {
    const core::FencingToken token{static_cast<std::uint64_t>(expected.raw())};
    ec = write(runtime_, detail::unsound_break(name, expected, reason, mode),
               core::BreakLock{std::string{name}, token, std::string{reason},
                               mode == BreakMode::immediate});
}

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      std::error_code& ec) {
    break_lock(name, expected, reason, BreakMode::confirmed, ec);
}

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      BreakMode mode) {
    std::error_code ec;
    break_lock(name, expected, reason, mode, ec);
    detail::throw_if(ec, name, detail::unsound_break(name, expected, reason, mode));
}

void Node::request_release(std::string_view name, std::string_view reason, std::error_code& ec) {
    ec = write(runtime_, detail::unsound_reason(name, reason),
               core::AskRelease{std::string{name}, std::string{reason}});
}

void Node::request_release(std::string_view name, std::string_view reason) {
    std::error_code ec;
    request_release(name, reason, ec);
    detail::throw_if(ec, name, detail::unsound_reason(name, reason));
}

}  // namespace mortise
