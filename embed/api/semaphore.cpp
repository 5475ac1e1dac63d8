// Semaphores (S15, S34), and the removal of a name (S37).
#include <utility>

#include "core/locks/limits.hpp"
#include "embed/api/argument_errors.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/write_call.hpp"
#include <mortise/node.hpp>
#include <mortise/semaphore.hpp>

namespace mortise {

using detail::attempt;
using detail::Attempt;
using detail::Deadline;
using detail::order_of;

namespace detail {

const std::shared_ptr<NodeRuntime>& runtime_of(const Semaphore& semaphore) {
    return semaphore.node_;
}

AcquireOrder order_of(const Semaphore& semaphore, std::uint32_t n, AcquireOptions options,
                      Attempt attempt, Deadline deadline) {
    AcquireOrder order{semaphore.name_, std::move(options), attempt, deadline};
    order.permits = Permits{n, semaphore.limit_};
    return order;
}

}  // namespace detail

namespace {

constexpr std::string_view in_use = "somebody holds the name, waits for it, or keeps it closed";

detail::AcquireOrder order_until(const Semaphore& semaphore, std::uint32_t n, Deadline deadline,
                                 AcquireOptions options) {
    options.wait_max = Duration::max();
    return order_of(semaphore, n, std::move(options), Attempt::until, deadline);
}

detail::Written change(const Semaphore& semaphore, std::uint32_t limit) {
    return detail::write(detail::runtime_of(semaphore),
                         detail::unsound_resize(semaphore.name(), limit),
                         core::Resize{semaphore.name(), limit, 0});
}

// For the cluster, zero means any version.
detail::Written change(const Semaphore& semaphore, std::uint32_t limit,
                       std::uint64_t expected_version) {
    auto why = detail::unsound_resize(semaphore.name(), limit);
    if (why.empty() && expected_version == 0) why = "versions of a limit begin with 1";
    return detail::write(detail::runtime_of(semaphore), why,
                         core::Resize{semaphore.name(), limit, expected_version});
}

detail::Written removal(const std::shared_ptr<detail::NodeRuntime>& runtime,
                        std::string_view name) {
    auto written =
        detail::write(runtime, detail::unsound_name(name), core::Remove{std::string{name}});
    if (!written.error && written.is_busy) return {Errc::invalid_argument, std::string{in_use}};
    return written;
}

}  // namespace

Semaphore::Semaphore(const Node& node, std::string_view name, std::uint32_t limit)
    : node_{detail::runtime_or_throw(node, name)}, name_{name}, limit_{limit} {
    auto why = detail::unsound_name(name);
    if (why.empty()) why = detail::unsound_limit(limit, 1);
    if (!why.empty()) detail::throw_if(Errc::invalid_argument, name, why);
}

Semaphore::Semaphore(const Semaphore&) = default;
Semaphore::Semaphore(Semaphore&&) noexcept = default;
Semaphore& Semaphore::operator=(const Semaphore&) = default;
Semaphore::~Semaphore() = default;

// A string that is assigned to itself loses its text.
Semaphore& Semaphore::operator=(Semaphore&& other) noexcept {
    if (this != &other) {
        node_ = std::move(other.node_);
        name_ = std::move(other.name_);
        limit_ = other.limit_;
    }
    return *this;
}

// --- acquire ------------------------------------------------------------------------------------

Hold Semaphore::acquire(std::uint32_t n, const AcquireOptions& options, std::error_code& ec) {
    return attempt(node_, order_of(*this, n, options, Attempt::wait, {}), ec).value_or(Hold{});
}

Hold Semaphore::acquire(std::uint32_t n, std::error_code& ec) {
    return acquire(n, AcquireOptions{}, ec);
}

Hold Semaphore::acquire(std::error_code& ec) {
    return acquire(1, AcquireOptions{}, ec);
}

Hold Semaphore::acquire(std::uint32_t n, const AcquireOptions& options) {
    return attempt(node_, order_of(*this, n, options, Attempt::wait, {})).value_or(Hold{});
}

std::optional<Hold> Semaphore::try_acquire(std::uint32_t n, const AcquireOptions& options,
                                           std::error_code& ec) {
    return attempt(node_, order_of(*this, n, options, Attempt::once, {}), ec);
}

std::optional<Hold> Semaphore::try_acquire(std::uint32_t n, std::error_code& ec) {
    return try_acquire(n, AcquireOptions{}, ec);
}

std::optional<Hold> Semaphore::try_acquire(std::error_code& ec) {
    return try_acquire(1, AcquireOptions{}, ec);
}

std::optional<Hold> Semaphore::try_acquire(std::uint32_t n, const AcquireOptions& options) {
    return attempt(node_, order_of(*this, n, options, Attempt::once, {}));
}

std::optional<Hold> Semaphore::acquire_until(std::uint32_t n, Deadline deadline,
                                             const AcquireOptions& options, std::error_code& ec) {
    return attempt(node_, order_until(*this, n, deadline, options), ec);
}

std::optional<Hold> Semaphore::acquire_until(std::uint32_t n, Deadline deadline,
                                             std::error_code& ec) {
    return acquire_until(n, deadline, AcquireOptions{}, ec);
}

std::optional<Hold> Semaphore::acquire_until(std::uint32_t n, Deadline deadline,
                                             const AcquireOptions& options) {
    return attempt(node_, order_until(*this, n, deadline, options));
}

std::optional<Hold> Semaphore::acquire_for(std::uint32_t n, Duration wait_max,
                                           const AcquireOptions& options, std::error_code& ec) {
    return acquire_until(n, std::chrono::steady_clock::now() + wait_max, options, ec);
}

std::optional<Hold> Semaphore::acquire_for(std::uint32_t n, Duration wait_max,
                                           std::error_code& ec) {
    return acquire_for(n, wait_max, AcquireOptions{}, ec);
}

std::optional<Hold> Semaphore::acquire_for(std::uint32_t n, Duration wait_max,
                                           const AcquireOptions& options) {
    return acquire_until(n, std::chrono::steady_clock::now() + wait_max, options);
}

// --- the limit ----------------------------------------------------------------------------------

bool Semaphore::resize(std::uint32_t limit, std::uint64_t expected_version, std::error_code& ec) {
    const auto written = change(*this, limit, expected_version);
    ec = written.error;
    return !ec && !written.is_busy;
}

bool Semaphore::resize(std::uint32_t limit, std::uint64_t expected_version) {
    const auto written = change(*this, limit, expected_version);
    detail::throw_if(written.error, name_, written.why);
    return !written.is_busy;
}

void Semaphore::resize(std::uint32_t limit, std::error_code& ec) {
    ec = change(*this, limit).error;
}

void Semaphore::resize(std::uint32_t limit) {
    const auto written = change(*this, limit);
    detail::throw_if(written.error, name_, written.why);
}

std::uint32_t Semaphore::limit(std::error_code& ec) const {
    if (detail::is_gone(node_, ec)) return 0;
    core::InspectCall call;
    call.name = name_;
    const auto outcome = detail::ask(node_->gate(), std::move(call));
    ec = outcome.error;
    if (ec) return 0;
    const bool is_known = !outcome.locks.empty() && outcome.locks.front().is_used();
    if (!is_known) return limit_;
    const auto& limit = outcome.locks.front().limit;
    if (!limit) ec = Errc::kind_mismatch;
    return limit ? limit->permits : 0;
}

std::uint32_t Semaphore::limit() const {
    std::error_code ec;
    const auto limit = this->limit(ec);
    detail::throw_if(ec, name_);
    return limit;
}

// --- the removal of a name ----------------------------------------------------------------------

void Node::remove(std::string_view name, std::error_code& ec) {
    ec = removal(runtime_, name).error;
}

void Node::remove(std::string_view name) {
    const auto written = removal(runtime_, name);
    detail::throw_if(written.error, name, written.why);
}

}  // namespace mortise
