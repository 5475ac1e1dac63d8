// The value of a lock, read and written by its holder (S36).
#include <memory>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/api/async_call.hpp"
#include "embed/holds/grant_cache.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/threads/blocking_call.hpp"
#include <mortise/detail/for_others.hpp>
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>

namespace mortise {

namespace {

// The name of a value is not cached (S43). The error is that of a hold that has ended.
std::error_code make_ordinary(const detail::HoldRecord& record) {
    if (record.cache()) record.cache()->make_ordinary(record);
    return record.failure();  // another thread may have released it
}

std::error_code write(const detail::HoldRecord& record, core::RequestBody body) {
    if (const auto ec = make_ordinary(record)) return ec;
    return detail::ask(record.gate(), core::WriteCall{{}, record.operation(), std::move(body)})
        .error;
}

core::SetValue new_value(const detail::HoldRecord& record, std::string_view bytes) {
    return {record.operation().seq, std::string{record.name()}, std::string{bytes}};
}

constexpr std::string_view exclusive_only = "the hold of a lock in exclusive mode writes its value";

void throw_for(std::error_code ec, const Hold& hold, std::string_view unsound) {
    detail::throw_if(ec, hold.name(), ec == Errc::invalid_argument ? unsound : "");
}

}  // namespace

namespace detail {

void start_set_value(const Hold& hold, std::string_view bytes, std::unique_ptr<Finish> finish) {
    const auto& record = HoldRecord::of(hold);
    if (!record) return finish_elsewhere(std::move(finish), Errc::not_held);
    const auto& gate = record->gate();
    const auto tag = gate->next_tag();
    const auto call = std::make_shared<AsyncCall>(
        gate, core::CallTag{}, [](CallOutcome&) {}, std::move(finish));
    auto asked = prepared(core::WriteCall{tag, record->operation(), new_value(*record, bytes)});
    asked->answer_to(call);
    auto refused = make_ordinary(*record);
    if (!refused) refused = gate->submit(asked);
    if (refused) call->complete({refused, {}, {}});
}

}  // namespace detail

std::string Hold::value(std::error_code& ec) const {
    ec = failure();
    if (ec) return {};
    core::InspectCall call;
    call.name = record_->name();
    auto outcome = detail::ask(record_->gate(), std::move(call));
    // If the hold was lost, the value may come from a later holder.
    ec = outcome.error ? outcome.error : failure();
    const bool has_value = !ec && !outcome.locks.empty() && outcome.locks.front().value;
    return has_value ? std::move(outcome.locks.front().value->bytes) : std::string{};
}

std::string Hold::value() const {
    std::error_code ec;
    auto bytes = value(ec);
    detail::throw_if(ec, name());
    return bytes;
}

void Hold::set_value(std::string_view bytes, std::error_code& ec) const {
    ec = failure();
    if (!ec && !detail::unsound_lock_value(bytes).empty()) ec = Errc::invalid_argument;
    if (ec) return;
    ec = write(*record_, new_value(*record_, bytes));
}

void Hold::set_value(std::string_view bytes) const {
    std::error_code ec;
    set_value(bytes, ec);
    const auto bad = detail::unsound_lock_value(bytes);
    throw_for(ec, *this, bad.empty() ? exclusive_only : bad);
}

void Hold::consistent(std::error_code& ec) const {
    ec = failure();
    if (ec) return;
    const auto seq = record_->operation().seq;
    ec = write(*record_, core::MarkConsistent{seq, std::string{record_->name()}});
}

void Hold::consistent() const {
    std::error_code ec;
    consistent(ec);
    throw_for(ec, *this, exclusive_only);
}

}  // namespace mortise
