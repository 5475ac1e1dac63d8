#include <algorithm>
#include <new>
#include <utility>

#include "embed/holds/hold_record.hpp"
#include "embed/holds/release.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/lock_error.hpp>

namespace mortise {

Hold::Hold() noexcept = default;
Hold::Hold(std::shared_ptr<detail::HoldRecord> record) noexcept : record_{std::move(record)} {}
Hold::Hold(Hold&& other) noexcept = default;

Hold& Hold::operator=(Hold&& other) noexcept {
    if (this != &other) {
        unlock();
        record_ = std::move(other.record_);
    }
    return *this;
}

Hold::~Hold() {
    unlock();
}

Hold::operator bool() const noexcept {
    return record_ && !record_->is_released();
}

std::string Hold::name() const {
    return record_ ? std::string{record_->name()} : std::string{};
}

LockMode Hold::mode() const noexcept {
    return record_ ? record_->mode() : LockMode::exclusive;
}

FencingToken Hold::token() const noexcept {
    return *this ? record_->token() : FencingToken{};
}

std::span<const Slot> Hold::slots() const noexcept {
    return *this ? record_->slots() : std::span<const Slot>{};
}

bool Hold::valid() const noexcept {
    return record_ && record_->is_valid();
}

BootClock::time_point Hold::valid_until() const noexcept {
    if (!valid()) return {};
    const auto until = record_->valid_until();
    return BootClock::time_point{core::Nanoseconds{std::max<std::int64_t>(until.ns, 0)}};
}

Duration Hold::remaining() const noexcept {
    const auto until = valid_until().time_since_epoch().count();
    return core::Nanoseconds{std::max<std::int64_t>(until - detail::boot_now().ns, 0)};
}

HoldState Hold::state() const noexcept {
    return record_ ? record_->state() : HoldState::released;
}

LossReason Hold::why_lost() const noexcept {
    return record_ ? record_->why_lost() : LossReason::none;
}

std::stop_token Hold::lost() const noexcept {
    return record_ ? record_->lost() : std::stop_token{};
}

std::error_code Hold::failure() const noexcept {
    return record_ ? record_->failure() : Errc::not_held;
}

void Hold::check() const {
    if (const auto ec = failure()) {
        ErrorDetail detail;
        detail.name = name();
        throw LockError{ec, std::move(detail)};
    }
}

void Hold::check(std::error_code& ec) const noexcept {
    ec = failure();
}

void Hold::checkpoint() const noexcept {
    if (record_) record_->checkpoint();
}

Previous Hold::previous() const {
    return record_ ? record_->previous() : Previous{};
}

std::error_code Hold::release() noexcept {
    if (!record_) return Errc::not_held;
    std::shared_ptr<detail::WaitingThread> waiting;
    try {
        waiting = std::make_shared<detail::WaitingThread>();
    } catch (const std::bad_alloc&) {  // it is released nevertheless
        const auto given = detail::give_back(record_, {}, nullptr);
        return given.asked ? Errc::outcome_unknown : given.error;
    }
    auto& gate = *record_->gate();
    const auto given = detail::give_back(record_, gate.next_tag(), waiting);
    return given.asked ? detail::wait_for_release(*waiting, gate) : given.error;
}

void Hold::unlock() noexcept {
    if (record_) detail::give_back(record_, {}, nullptr);
}

}  // namespace mortise
