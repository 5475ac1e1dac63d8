// break_lock() and request_release() (S24).
#include <string>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/api/write_call.hpp"
#include <mortise/node.hpp>

namespace mortise {

namespace {

using detail::write;
using detail::Written;

Written take_away(const std::shared_ptr<detail::NodeRuntime>& runtime, std::string_view name,
                  FencingToken expected, std::string_view reason, BreakMode mode) {
    const core::FencingToken token{static_cast<std::uint64_t>(expected.raw())};
    return write(runtime, detail::unsound_break(name, expected, reason, mode),
                 core::BreakLock{std::string{name}, token, std::string{reason},
                                 mode == BreakMode::immediate});
}

// A client does not know whether its member reads such a request.
Written take_out(const std::shared_ptr<detail::NodeRuntime>& runtime, SessionId session,
                 std::string_view reason, BreakMode mode) {
    auto unsound = detail::unsound_eviction(session, reason, mode);
    if (runtime && runtime->config().role == Role::client)
        unsound = "a client node evicts nobody: use Remote";
    return write(runtime, unsound,
                 core::EvictSession{core::SessionId{session}, std::string{reason},
                                    mode == BreakMode::immediate});
}

Written ask_for(const std::shared_ptr<detail::NodeRuntime>& runtime, std::string_view name,
                std::string_view reason) {
    return write(runtime, detail::unsound_reason(name, reason),
                 core::AskRelease{std::string{name}, std::string{reason}});
}

}  // namespace

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      BreakMode mode, std::error_code& ec) {
    ec = take_away(runtime_, name, expected, reason, mode).error;
}

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      std::error_code& ec) {
    break_lock(name, expected, reason, BreakMode::confirmed, ec);
}

void Node::break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                      BreakMode mode) {
    const auto written = take_away(runtime_, name, expected, reason, mode);
    detail::throw_if(written.error, name, written.why);
}

void Node::evict(SessionId session, std::string_view reason, BreakMode mode, std::error_code& ec) {
    ec = take_out(runtime_, session, reason, mode).error;
}

void Node::evict(SessionId session, std::string_view reason, std::error_code& ec) {
    evict(session, reason, BreakMode::confirmed, ec);
}

void Node::evict(SessionId session, std::string_view reason, BreakMode mode) {
    const auto written = take_out(runtime_, session, reason, mode);
    detail::throw_if(written.error, "session " + std::to_string(session), written.why);
}

void Node::request_release(std::string_view name, std::string_view reason, std::error_code& ec) {
    ec = ask_for(runtime_, name, reason).error;
}

void Node::request_release(std::string_view name, std::string_view reason) {
    const auto written = ask_for(runtime_, name, reason);
    detail::throw_if(written.error, name, written.why);
}

}  // namespace mortise
