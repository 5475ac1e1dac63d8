// Conversions of holds (S27).
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>

#include "embed/api/acquire_order.hpp"
#include "embed/api/async_call.hpp"
#include "embed/holds/grant_cache.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/threads/canceller.hpp"
#include "embed/values/lock_mode.hpp"
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/lock_error.hpp>

namespace mortise {

namespace detail {

namespace {

using Record = std::shared_ptr<HoldRecord>;

// The grant that the cluster knows.
const Record& grant_of(const Record& record) {
    return record->locker() ? record->grant() : record;
}

// Why it cannot be converted to any mode.
std::error_code refusal(const HoldRecord& record) {
    if (const auto failure = record.failure()) return failure;
    const bool is_part = record.is_part_of_set();
    const bool is_shared = record.locker() && !record.locker()->is_alone(record);
    return is_part || is_shared ? make_error_code(Errc::invalid_argument) : std::error_code{};
}

// Called before the request is sent: from now on valid() refers to the new mode.
bool lower(HoldRecord& record, LockMode mode) {
    if (record.locker() && !record.locker()->lower(record, mode)) return false;
    record.set_mode(mode);
    return true;
}

bool was_refused(std::error_code ec) {
    return ec == Errc::invalid_argument || ec == Errc::resource_exhausted;
}

std::error_code downgrade(const Record& held, LockMode mode) {
    auto& record = *held;
    auto& grant = *grant_of(held);
    if (const auto refused = refusal(record)) return refused;
    const auto before = record.mode();
    const bool is_legal =
        mode <= LockMode::exclusive && core::covers(to_core(before), to_core(mode));
    if (!is_legal) return Errc::invalid_argument;
    if (record.cache()) record.cache()->make_ordinary(record);
    if (const auto refused = refusal(record)) return refused;  // another thread has released it
    auto& gate = *record.gate();
    auto waiting = std::make_shared<WaitingThread>();
    const core::DowngradeCall call{gate.next_tag(), grant.operation(), to_core(mode)};
    if (!lower(record, mode)) return Errc::invalid_argument;
    auto ec = gate.submit(call, waiting);
    if (!ec) {
        const auto deadline = std::chrono::steady_clock::now() + gate.call_timeout();
        ec = waiting->answer_by(deadline, Errc::no_quorum).error;
    }
    if (was_refused(ec)) {
        record.set_mode(before);
        grant.set_mode(before);
    }
    return ec;
}

// A thread that waits for an upgrade. If it gives up, the hold stays as it was: an upgrade that the
// cluster grants too late is undone, before anything that the owner requests later.
class UpgradingThread final : public Completion {
public:
    explicit UpgradingThread(Record grant)
        : grant_{std::move(grant)},
          undo_{prepared(core::DowngradeCall{grant_->gate()->next_tag(), grant_->operation(),
                                             to_core(grant_->mode()), true})} {}

    void complete(CallOutcome outcome) noexcept override {
        const bool is_upgraded = !outcome.error && !outcome.is_busy;
        if (waiting_.tell(std::move(outcome)) || !is_upgraded) return;
        std::ignore = grant_->gate()->submit_first(undo_);
    }

    CallOutcome answer_by(Deadline deadline) {
        return waiting_.answer_by(deadline, Errc::no_quorum);
    }

private:
    const Record grant_;
    std::shared_ptr<Submitted> undo_;
    WaitingThread waiting_;
};

// Why it cannot be upgraded; otherwise the cluster knows its grant.
std::error_code prepare_upgrade(HoldRecord& record, const std::stop_token& cancel) {
    if (const auto refused = refusal(record)) return refused;
    const bool is_legal = record.mode() == LockMode::update || record.mode() == LockMode::shared;
    if (!is_legal) return Errc::invalid_argument;
    if (record.cache()) record.cache()->make_ordinary(record);
    if (const auto refused = refusal(record)) return refused;  // another thread has released it
    return cancel.stop_requested() ? make_error_code(Errc::cancelled) : std::error_code{};
}

// One attempt has the time that an answer may take, which becomes its deadline.
core::UpgradeCall upgrade_call(const HoldRecord& grant, Deadline& deadline) {
    auto& gate = *grant.gate();
    const auto now = std::chrono::steady_clock::now();
    const bool wait = deadline > now;
    if (!wait) deadline = now + gate.call_timeout();
    return {gate.next_tag(), grant.operation(), wait, to_instant(deadline)};
}

// A suspended hold is exclusive when it is held again; valid() covers the rest (S6).
std::error_code become_exclusive(HoldRecord& record, HoldRecord& grant) {
    grant.set_mode(LockMode::exclusive);
    record.set_mode(LockMode::exclusive);
    const auto failure = record.failure();
    return failure == Errc::no_quorum ? std::error_code{} : failure;
}

// True if the hold is exclusive now. False with an error, or because others hold the name.
bool upgrade(const Record& held, Deadline deadline, const std::stop_token& cancel,
             std::error_code& ec) {
    const auto& grant = grant_of(held);
    ec = prepare_upgrade(*held, cancel);
    if (ec) return false;
    // keeps the gate alive if the hold is destroyed during the wait
    const auto gate = held->gate();
    const auto call = upgrade_call(*grant, deadline);
    auto waiting = std::make_shared<UpgradingThread>(grant);
    Canceller canceller{gate, call.tag, cancel.stop_possible()};
    ec = gate->submit(call, waiting);
    if (ec) return false;
    const std::stop_callback on_cancel{cancel, [&] { canceller.cancel(); }};
    const auto outcome = waiting->answer_by(deadline);
    ec = outcome.error;
    if (ec || outcome.is_busy) return false;
    ec = become_exclusive(*held, *grant);
    return !ec;
}

// What the handler of an upgrade is told. It keeps the records.
AsyncCall::Reading upgrade_reading(const Record& held) {
    return [held, grant = grant_of(held)](CallOutcome& outcome) {
        if (!outcome.error && outcome.is_busy) outcome.error = Errc::timed_out;
        if (!outcome.error) outcome.error = become_exclusive(*held, *grant);
    };
}

constexpr std::string_view no_downgrade = "a hold is only downgraded to a mode that its own covers";
constexpr std::string_view no_upgrade = "only a shared or an update hold can be upgraded";

// Why it cannot be converted; `wrong_mode` if nothing but the mode is to blame.
std::string_view unsound_conversion(const Hold& hold, std::string_view wrong_mode) {
    const auto& record = HoldRecord::of(hold);
    if (!record) return {};
    if (record->is_part_of_set()) return "a part of a set cannot be converted";
    const bool is_shared = record->locker() && !record->locker()->is_alone(*record);
    return is_shared ? "its locker has further holds of the name" : wrong_mode;
}

[[noreturn]] void fail_for(std::error_code ec, const Hold& hold, std::string_view wrong_mode) {
    ErrorDetail detail;
    detail.name = hold.name();
    if (ec == Errc::invalid_argument) detail.reason = unsound_conversion(hold, wrong_mode);
    throw LockError{ec, std::move(detail)};
}

}  // namespace

// Allocates everything before the call begins, so that a call that has begun always completes.
void start_upgrade(const Hold& hold, Deadline deadline, const std::stop_token& cancel,
                   ErrorDetail* detail, std::unique_ptr<Finish> finish) {
    const auto held = HoldRecord::of(hold);
    if (!held) return finish_elsewhere(std::move(finish), Errc::not_held);
    if (detail != nullptr) detail->name = hold.name();
    const auto& gate = held->gate();
    const auto asked = upgrade_call(*grant_of(held), deadline);
    auto call =
        std::make_shared<AsyncCall>(gate, asked.tag, upgrade_reading(held), std::move(finish));
    auto bad = prepare_upgrade(*held, cancel);
    if (bad == Errc::invalid_argument && detail != nullptr)
        detail->reason = unsound_conversion(hold, no_upgrade);
    if (!bad) bad = gate->submit(asked, call);
    if (bad)
        call->complete({bad, {}, {}});
    else
        call->cancel_with(cancel);
}

}  // namespace detail

void Hold::downgrade(LockMode mode, std::error_code& ec) {
    const auto record = record_;
    ec = record ? detail::downgrade(record, mode) : Errc::not_held;
}

void Hold::downgrade(LockMode mode) {
    std::error_code ec;
    downgrade(mode, ec);
    if (ec) detail::fail_for(ec, *this, detail::no_downgrade);
}

void Hold::upgrade(std::chrono::steady_clock::time_point deadline, const std::stop_token& cancel,
                   std::error_code& ec) {
    ec = Errc::not_held;
    const auto record = record_;
    if (!record) return;
    const bool upgraded = detail::upgrade(record, deadline, cancel, ec);
    if (!upgraded && !ec) ec = Errc::timed_out;
}

void Hold::upgrade(std::chrono::steady_clock::time_point deadline, std::error_code& ec) {
    upgrade(deadline, {}, ec);
}

void Hold::upgrade(std::error_code& ec) {
    upgrade(std::chrono::steady_clock::time_point::max(), ec);
}

void Hold::upgrade(std::chrono::steady_clock::time_point deadline) {
    std::error_code ec;
    upgrade(deadline, ec);
    if (ec) detail::fail_for(ec, *this, detail::no_upgrade);
}

bool Hold::try_upgrade(std::error_code& ec) {
    ec = Errc::not_held;
    const auto record = record_;
    return record && detail::upgrade(record, std::chrono::steady_clock::time_point::min(), {}, ec);
}

bool Hold::try_upgrade() {
    std::error_code ec;
    const bool upgraded = try_upgrade(ec);
    if (ec) detail::fail_for(ec, *this, detail::no_upgrade);
    return upgraded;
}

}  // namespace mortise
