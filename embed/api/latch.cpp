// Latches (S35).
#include <utility>

#include "core/locks/limits.hpp"
#include "embed/api/argument_errors.hpp"
#include "embed/api/await_call.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/write_call.hpp"
#include <mortise/latch.hpp>
#include <mortise/node.hpp>

namespace mortise {

using detail::Deadline;
using detail::has_passed;

static_assert(Latch::max() == core::latch_max);

namespace {

detail::Written counted(const std::shared_ptr<detail::NodeRuntime>& node, const std::string& name,
                        std::ptrdiff_t expected, std::ptrdiff_t n) {
    const core::CountDown body{name, static_cast<std::uint32_t>(expected),
                               static_cast<std::uint32_t>(n)};
    auto written = detail::write(node, detail::unsound_count_down(name, n), body);
    if (written.why.empty())
        written.why = detail::why_refused(detail::WaitOrder::Kind::count, written.error);
    return written;
}

detail::Awaited wait_for_count(const std::shared_ptr<detail::NodeRuntime>& node,
                               const std::string& name, std::ptrdiff_t expected, Deadline deadline,
                               const WaitOptions& options) {
    return detail::await(
        node, detail::unsound_wait(name, options),
        core::AwaitLatch{name, static_cast<std::uint32_t>(expected), options.label}, deadline,
        options);
}

bool is_past(Deadline deadline) {
    return deadline <= std::chrono::steady_clock::now();
}

}  // namespace

Latch::Latch(const Node& node, std::string_view name, std::ptrdiff_t expected)
    : node_{detail::runtime_or_throw(node, name)}, name_{name}, expected_{expected} {
    auto why = detail::unsound_name(name);
    if (why.empty()) why = detail::unsound_count(expected);
    if (!why.empty()) detail::throw_if(Errc::invalid_argument, name, why);
}

Latch::Latch(const Latch&) = default;
Latch::Latch(Latch&&) noexcept = default;
Latch& Latch::operator=(const Latch&) = default;
Latch::~Latch() = default;

// A string that is assigned to itself loses its text.
Latch& Latch::operator=(Latch&& other) noexcept {
    if (this != &other) {
        node_ = std::move(other.node_);
        name_ = std::move(other.name_);
        expected_ = other.expected_;
    }
    return *this;
}

// --- counting -----------------------------------------------------------------------------------

void Latch::count_down(std::ptrdiff_t n, std::error_code& ec) {
    ec = counted(node_, name_, expected_, n).error;
}

void Latch::count_down(std::error_code& ec) {
    count_down(1, ec);
}

void Latch::count_down(std::ptrdiff_t n) {
    const auto written = counted(node_, name_, expected_, n);
    detail::throw_if(written.error, name_, written.why);
}

bool Latch::try_wait(ReadLevel level, std::error_code& ec) const {
    if (detail::is_gone(node_, ec)) return false;
    core::InspectCall call;
    call.name = name_;
    call.local = level == ReadLevel::local;
    auto outcome = detail::ask(node_->gate(), std::move(call));
    const bool is_open = detail::is_open_latch(outcome, expected_);
    ec = outcome.error;
    return is_open;
}

bool Latch::try_wait(std::error_code& ec) const {
    return try_wait(ReadLevel::linearizable, ec);
}

bool Latch::try_wait(ReadLevel level) const {
    std::error_code ec;
    const bool is_open = try_wait(level, ec);
    detail::throw_if(ec, name_);
    return is_open;
}

// --- waiting ------------------------------------------------------------------------------------

namespace {

// Without time to wait it asks once, like wait_until().
detail::Awaited waited(const Latch& latch, std::ptrdiff_t expected, const WaitOptions& options) {
    const auto deadline = detail::deadline_of(options.wait_max);
    if (!is_past(deadline)) {
        return wait_for_count(detail::runtime_of(latch), latch.name(), expected, deadline, options);
    }
    detail::Awaited end;
    const bool is_open = latch.try_wait(end.error);
    if (!end.error && !is_open) end.error = Errc::timed_out;
    return end;
}

}  // namespace

void Latch::wait(const WaitOptions& options, std::error_code& ec) const {
    ec = waited(*this, expected_, options).error;
}

void Latch::wait(std::error_code& ec) const {
    wait(WaitOptions{}, ec);
}

void Latch::wait(const WaitOptions& options) const {
    const auto end = waited(*this, expected_, options);
    detail::throw_if(end.error, name_, end.why);
}

bool Latch::wait_until(Deadline deadline, const WaitOptions& options, std::error_code& ec) const {
    if (is_past(deadline)) return try_wait(ec);
    ec = wait_for_count(node_, name_, expected_, deadline, options).error;
    return has_passed(ec);
}

bool Latch::wait_until(Deadline deadline, std::error_code& ec) const {
    return wait_until(deadline, WaitOptions{}, ec);
}

bool Latch::wait_until(Deadline deadline, const WaitOptions& options) const {
    if (is_past(deadline)) return try_wait();
    auto end = wait_for_count(node_, name_, expected_, deadline, options);
    const bool passed = has_passed(end.error);
    detail::throw_if(end.error, name_, end.why);
    return passed;
}

bool Latch::wait_for(Duration time, const WaitOptions& options, std::error_code& ec) const {
    return wait_until(detail::deadline_of(time), options, ec);
}

bool Latch::wait_for(Duration time, std::error_code& ec) const {
    return wait_for(time, WaitOptions{}, ec);
}

bool Latch::wait_for(Duration time, const WaitOptions& options) const {
    return wait_until(detail::deadline_of(time), options);
}

// --- both ---------------------------------------------------------------------------------------

void Latch::arrive_and_wait(std::ptrdiff_t n, const WaitOptions& options, std::error_code& ec) {
    count_down(n, ec);
    if (!ec) wait(options, ec);
}

void Latch::arrive_and_wait(std::ptrdiff_t n, std::error_code& ec) {
    arrive_and_wait(n, WaitOptions{}, ec);
}

void Latch::arrive_and_wait(std::error_code& ec) {
    arrive_and_wait(1, WaitOptions{}, ec);
}

void Latch::arrive_and_wait(std::ptrdiff_t n, const WaitOptions& options) {
    count_down(n);
    wait(options);
}

}  // namespace mortise
