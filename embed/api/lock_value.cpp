// The value of a lock, read and written by its holder (S36).
#include <utility>

#include "embed/api/argument_errors.hpp"
#include "embed/holds/grant_cache.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/threads/blocking_call.hpp"
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>

namespace mortise {

namespace {

// The name of a value is not cached (S43).
std::error_code write(const detail::HoldRecord& record, core::RequestBody body) {
    if (record.cache()) record.cache()->make_ordinary(record);
    if (const auto ec = record.failure()) return ec;  // another thread has released it
    core::WriteCall call;
    call.hold = record.operation();
    call.body = std::move(body);
    return detail::ask(record.gate(), std::move(call)).error;
}

constexpr std::string_view exclusive_only = "the hold of a lock in exclusive mode writes its value";

void throw_for(std::error_code ec, const Hold& hold, std::string_view unsound) {
    detail::throw_if(ec, hold.name(), ec == Errc::invalid_argument ? unsound : "");
}

}  // namespace

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
    const auto seq = record_->operation().seq;
    ec = write(*record_, core::SetValue{seq, std::string{record_->name()}, std::string{bytes}});
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
