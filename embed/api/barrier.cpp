// Barriers (S35).
#include <utility>

#include "core/locks/limits.hpp"
#include "embed/api/argument_errors.hpp"
#include "embed/api/await_call.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/write_call.hpp"
#include <mortise/barrier.hpp>
#include <mortise/node.hpp>

namespace mortise {

using detail::Deadline;
using detail::has_passed;

static_assert(Barrier::max() == core::barrier_parties_max);

namespace {

// The cluster gives no reasons.
template <class Ended>
Ended explained(Ended ended) {
    if (ended.why.empty())
        ended.why = detail::why_refused(detail::WaitOrder::Kind::barrier, ended.error);
    return ended;
}

core::Arrive arrival(const std::string& name, std::ptrdiff_t parties, bool drops,
                     std::string label = {}) {
    return {name, static_cast<std::uint32_t>(parties), drops, std::move(label)};
}

// A time above zero may be over before the arrival is sent: then the party gives up (S48).
struct Patience {
    Deadline deadline;
    bool has_time;
};

Patience for_a(Duration time) {
    return {detail::deadline_of(time), time > Duration::zero()};
}

Patience until(Deadline deadline) {
    return {deadline, deadline > std::chrono::steady_clock::now()};
}

detail::Awaited wait_for_phase(const std::shared_ptr<detail::NodeRuntime>& node,
                               const std::string& name, std::ptrdiff_t parties, Patience patience,
                               const WaitOptions& options) {
    return explained(detail::await(node, detail::unsound_arrival(name, patience.has_time, options),
                                   arrival(name, parties, false, options.label), patience.deadline,
                                   options));
}

// Whether all have arrived in time. Throws if the call fails.
bool passed(detail::Awaited end, const std::string& name) {
    const bool passed = has_passed(end.error);
    detail::throw_if(end.error, name, end.why);
    return passed;
}

}  // namespace

Barrier::Barrier(const Node& node, std::string_view name, std::ptrdiff_t parties)
    : node_{detail::runtime_or_throw(node, name)}, name_{name}, parties_{parties} {
    auto why = detail::unsound_name(name);
    if (why.empty() && (parties < 1 || parties > max())) why = "a barrier has 1 to 1,024 parties";
    if (!why.empty()) detail::throw_if(Errc::invalid_argument, name, why);
}

Barrier::Barrier(const Barrier&) = default;
Barrier::Barrier(Barrier&&) noexcept = default;
Barrier& Barrier::operator=(const Barrier&) = default;
Barrier::~Barrier() = default;

// A string that is assigned to itself loses its text.
Barrier& Barrier::operator=(Barrier&& other) noexcept {
    if (this != &other) {
        node_ = std::move(other.node_);
        name_ = std::move(other.name_);
        parties_ = other.parties_;
    }
    return *this;
}

void Barrier::arrive_and_wait(const WaitOptions& options, std::error_code& ec) {
    ec = wait_for_phase(node_, name_, parties_, for_a(options.wait_max), options).error;
}

void Barrier::arrive_and_wait(std::error_code& ec) {
    arrive_and_wait(WaitOptions{}, ec);
}

void Barrier::arrive_and_wait(const WaitOptions& options) {
    const auto end = wait_for_phase(node_, name_, parties_, for_a(options.wait_max), options);
    detail::throw_if(end.error, name_, end.why);
}

bool Barrier::arrive_and_wait_until(Deadline deadline, const WaitOptions& options,
                                    std::error_code& ec) {
    ec = wait_for_phase(node_, name_, parties_, until(deadline), options).error;
    return has_passed(ec);
}

bool Barrier::arrive_and_wait_until(Deadline deadline, std::error_code& ec) {
    return arrive_and_wait_until(deadline, WaitOptions{}, ec);
}

bool Barrier::arrive_and_wait_until(Deadline deadline, const WaitOptions& options) {
    return passed(wait_for_phase(node_, name_, parties_, until(deadline), options), name_);
}

bool Barrier::arrive_and_wait_for(Duration time, const WaitOptions& options, std::error_code& ec) {
    ec = wait_for_phase(node_, name_, parties_, for_a(time), options).error;
    return has_passed(ec);
}

bool Barrier::arrive_and_wait_for(Duration time, std::error_code& ec) {
    return arrive_and_wait_for(time, WaitOptions{}, ec);
}

bool Barrier::arrive_and_wait_for(Duration time, const WaitOptions& options) {
    return passed(wait_for_phase(node_, name_, parties_, for_a(time), options), name_);
}

void Barrier::arrive_and_drop(std::error_code& ec) {
    ec = detail::write(node_, detail::unsound_name(name_), arrival(name_, parties_, true)).error;
}

void Barrier::arrive_and_drop() {
    const auto written = explained(
        detail::write(node_, detail::unsound_name(name_), arrival(name_, parties_, true)));
    detail::throw_if(written.error, name_, written.why);
}

}  // namespace mortise
