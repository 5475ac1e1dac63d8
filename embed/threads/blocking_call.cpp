#include "embed/threads/blocking_call.hpp"

#include <chrono>
#include <utility>

#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

namespace {

template <class AnyCall>
CallOutcome wait_for(const std::shared_ptr<CallGate>& gate, AnyCall call, Errc unanswered) {
    call.tag = gate->next_tag();
    auto waiting = std::make_shared<WaitingThread>();
    if (const auto refused = gate->submit(std::move(call), waiting)) return {refused, {}, {}};
    return waiting->answer_by(std::chrono::steady_clock::now() + gate->call_timeout(), unanswered);
}

}  // namespace

CallOutcome ask(const std::shared_ptr<CallGate>& gate, core::InspectCall call) {
    return wait_for(gate, std::move(call), Errc::no_quorum);
}

CallOutcome ask(const std::shared_ptr<CallGate>& gate, core::WriteCall call) {
    return wait_for(gate, std::move(call), Errc::outcome_unknown);
}

void throw_if(std::error_code ec, std::string_view name, std::string_view why) {
    if (!ec) return;
    ErrorDetail detail;
    detail.name = name;
    detail.reason = why;
    throw LockError{ec, std::move(detail)};
}

}  // namespace mortise::detail
