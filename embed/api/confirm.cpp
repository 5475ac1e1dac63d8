// Hold::confirm (S6).
#include <algorithm>
#include <chrono>
#include <memory>

#include "embed/api/acquire_order.hpp"
#include "embed/holds/hold_record.hpp"
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/lock_error.hpp>

namespace mortise {

namespace detail {

namespace {

std::error_code confirm(HoldRecord& record, Deadline deadline) {
    const auto failure = record.failure();
    const bool may_be_held = !failure || failure == Errc::no_quorum;
    if (!may_be_held) return failure;
    auto& gate = *record.gate();
    if (deadline == Deadline::max()) {
        deadline = std::chrono::steady_clock::now() + gate.call_timeout();
    }
    auto waiting = std::make_shared<WaitingThread>();
    const core::ConfirmCall call{gate.next_tag(), record.operation(), to_instant(deadline)};
    if (const auto ec = gate.submit(call, waiting)) return ec;
    const auto error = waiting->answer_by(deadline, Errc::no_quorum).error;
    return error ? error : record.failure();
}

}  // namespace

}  // namespace detail

void Hold::confirm(std::chrono::steady_clock::time_point deadline, std::error_code& ec) const {
    const auto record = record_;
    ec = record ? detail::confirm(*record, deadline) : Errc::not_held;
}

void Hold::confirm(std::error_code& ec) const {
    confirm(std::chrono::steady_clock::time_point::max(), ec);
}

void Hold::confirm(std::chrono::steady_clock::time_point deadline) const {
    std::error_code ec;
    confirm(deadline, ec);
    if (!ec) return;
    ErrorDetail detail;
    detail.name = name();
    throw LockError{ec, std::move(detail)};
}

}  // namespace mortise
