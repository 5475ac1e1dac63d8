#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/agent/call.hpp"
#include "embed/api/argument_errors.hpp"
#include "embed/api/node_calls.hpp"
#include "embed/api/why_refused.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/threads/blocking_call.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/node.hpp>

namespace mortise {

using detail::AcquireOrder;
using detail::attempt;
using detail::Attempt;
using detail::Deadline;
using detail::fail;
using detail::is_gone;
using detail::NodeRuntime;
using detail::take_again;

namespace {

AcquireOrder until(std::string_view name, Deadline deadline, const AcquireOptions& options) {
    AcquireOrder order{std::string{name}, options, Attempt::until, deadline};
    order.options.wait_max = Duration::max();
    return order;
}

struct Failure {
    std::error_code error;
    ErrorDetail detail{};
};

std::vector<LockInfo> look(const std::shared_ptr<NodeRuntime>& runtime, core::InspectCall call,
                           Failure& failure) {
    auto& ec = failure.error;
    if (is_gone(runtime, ec)) return {};
    // keeps the gate alive if the node is destroyed during the wait
    const auto gate = runtime->gate();
    auto outcome = detail::ask(gate, std::move(call));
    ec = outcome.error;
    failure.detail.reason = std::move(outcome.reason);
    return std::move(outcome.locks);
}

LockInfo look_at(const std::shared_ptr<NodeRuntime>& runtime, std::string_view name,
                 ReadLevel level, Failure& failure, std::size_t parties_max = SIZE_MAX) {
    LockInfo unknown;
    unknown.name = name;
    if (const auto bad = detail::unsound_name(name); !bad.empty()) {
        failure.error = Errc::invalid_argument;
        failure.detail.reason = bad;
        return unknown;
    }
    core::InspectCall call;
    call.name = name;
    call.local = level == ReadLevel::local;
    call.parties_max = parties_max;
    auto locks = look(runtime, std::move(call), failure);
    return locks.empty() ? unknown : std::move(locks.front());
}

struct Range {
    std::string_view prefix;
    std::string_view after;
    std::size_t limit = 0;
    std::size_t parties_max = SIZE_MAX;
};

std::vector<LockInfo> look_at(const std::shared_ptr<NodeRuntime>& runtime, const Range& range,
                              ReadLevel level, Failure& failure) {
    std::vector<LockInfo> locks;
    const auto longer =
        std::max(range.prefix, range.after, [](auto a, auto b) { return a.size() < b.size(); });
    const auto bad = detail::unsound_prefix(longer);
    if (!bad.empty()) {
        failure.error = Errc::invalid_argument;
        failure.detail.reason = bad;
    }
    while (bad.empty()) {
        core::InspectCall call;
        call.name = range.prefix;
        call.is_prefix = true;
        call.local = level == ReadLevel::local;
        call.after = locks.empty() ? range.after : locks.back().name;
        call.limit = std::min(range.limit - locks.size(), detail::list_page_max);
        call.parties_max = range.parties_max;
        const auto wanted = call.limit;
        auto page = look(runtime, std::move(call), failure);
        if (failure.error) return {};
        std::ranges::move(page, std::back_inserter(locks));
        if (page.size() < wanted || locks.size() == range.limit) return locks;
    }
    return locks;
}

}  // namespace

Node::Node(Config config) : runtime_{NodeRuntime::open(std::move(config))} {}

Node::Node(std::shared_ptr<NodeRuntime> runtime) noexcept : runtime_{std::move(runtime)} {}

Node::~Node() {
    if (runtime_) runtime_->close_in_time();
}

Node::Node(Node&&) noexcept = default;

Node& Node::operator=(Node&& other) noexcept {
    if (this != &other) {
        if (runtime_) runtime_->close_in_time();
        runtime_ = std::move(other.runtime_);
    }
    return *this;
}

bool Node::wait_ready(Deadline deadline, std::error_code& ec) {
    const auto runtime = runtime_;  // the node may be destroyed during the wait
    if (is_gone(runtime, ec)) return false;
    const bool ready = runtime->readiness().wait_until(deadline);
    if (!ready && runtime->readiness().why_stopped()) ec = Errc::node_stopped;
    return ready;
}

bool Node::wait_ready(Deadline deadline) {
    std::error_code ec;
    const auto runtime = runtime_;
    const bool ready = wait_ready(deadline, ec);
    if (!ec) return ready;
    ErrorDetail detail;
    // In the child of a fork nothing of the node is touched.
    if (runtime && ec == Errc::node_stopped)
        detail.reason = runtime->readiness().why_stopped().value_or("");
    fail(ec, {}, std::move(detail));
}

NodeId Node::id() const noexcept {
    return runtime_ ? runtime_->config().own_id() : 0;
}

Status Node::status() const {
    const auto runtime = runtime_;
    return runtime ? runtime->status() : Status{};
}

Metrics Node::metrics() const {
    const auto runtime = runtime_;
    return runtime ? runtime->metrics() : Metrics{};
}

void Node::reload_tls() {
    const auto runtime = runtime_;
    if (!runtime) throw std::system_error{Errc::node_stopped};
    runtime->reload_tls();
}

void Node::close() {
    if (const auto runtime = runtime_) runtime->close();
}

Subscription Node::on_event(NodeEventSink sink) {
    if (!runtime_ || runtime_->is_forked()) return {};
    return runtime_->events().subscribe(std::move(sink));
}

Subscription Node::on_metrics(Duration interval, MetricsSink sink) {
    if (!runtime_ || runtime_->is_forked()) return {};
    return runtime_->metrics_hub().subscribe(interval, std::move(sink));
}

// --- acquire -----------------------------------------------------------------------------------

Hold Node::acquire(std::string_view name, const AcquireOptions& options, std::error_code& ec) {
    if (is_gone(runtime_, ec)) return {};
    if (auto again = take_again(runtime_, name, options)) return again;
    return detail::acquire(runtime_, {std::string{name}, options, Attempt::wait, {}}, ec);
}

Hold Node::acquire(std::string_view name, std::error_code& ec) {
    return acquire(name, {}, ec);
}

Hold Node::acquire(std::string_view name, const AcquireOptions& options) {
    if (auto again = take_again(runtime_, name, options)) return again;
    return detail::acquire_or_throw(runtime_, {std::string{name}, options, Attempt::wait, {}});
}

std::optional<Hold> Node::try_acquire(std::string_view name, const AcquireOptions& options,
                                      std::error_code& ec) {
    if (is_gone(runtime_, ec)) return std::nullopt;
    if (auto again = take_again(runtime_, name, options)) return again;
    return attempt(runtime_, {std::string{name}, options, Attempt::once, {}}, ec);
}

std::optional<Hold> Node::try_acquire(std::string_view name, std::error_code& ec) {
    return try_acquire(name, AcquireOptions{}, ec);
}

std::optional<Hold> Node::try_acquire(std::string_view name, const AcquireOptions& options) {
    if (auto again = take_again(runtime_, name, options)) return again;
    return attempt(runtime_, {std::string{name}, options, Attempt::once, {}});
}

std::optional<Hold> Node::try_acquire(std::string_view name, const AcquireOptions& options,
                                      LockInfo& busy) {
    return attempt(runtime_, {std::string{name}, options, Attempt::once, {}}, &busy);
}

std::optional<Hold> Node::try_acquire(std::string_view name, LockInfo& busy) {
    return try_acquire(name, AcquireOptions{}, busy);
}

std::optional<Hold> Node::acquire_until(std::string_view name, Deadline deadline,
                                        const AcquireOptions& options, std::error_code& ec) {
    return attempt(runtime_, until(name, deadline, options), ec);
}

std::optional<Hold> Node::acquire_until(std::string_view name, Deadline deadline,
                                        std::error_code& ec) {
    return acquire_until(name, deadline, AcquireOptions{}, ec);
}

std::optional<Hold> Node::acquire_until(std::string_view name, Deadline deadline,
                                        const AcquireOptions& options) {
    return attempt(runtime_, until(name, deadline, options));
}

std::optional<Hold> Node::acquire_for(std::string_view name, Duration wait_max,
                                      const AcquireOptions& options, std::error_code& ec) {
    return acquire_until(name, std::chrono::steady_clock::now() + wait_max, options, ec);
}

std::optional<Hold> Node::acquire_for(std::string_view name, Duration wait_max,
                                      std::error_code& ec) {
    return acquire_for(name, wait_max, AcquireOptions{}, ec);
}

std::optional<Hold> Node::acquire_for(std::string_view name, Duration wait_max,
                                      const AcquireOptions& options) {
    return acquire_until(name, std::chrono::steady_clock::now() + wait_max, options);
}

// --- look --------------------------------------------------------------------------------------

LockInfo Node::inspect(std::string_view name, ReadLevel level, std::error_code& ec) {
    Failure failure;
    auto info = look_at(runtime_, name, level, failure);
    ec = failure.error;
    return info;
}

LockInfo Node::inspect(std::string_view name, ReadLevel level, std::size_t parties_max,
                       std::error_code& ec) {
    Failure failure;
    auto info = look_at(runtime_, name, level, failure, parties_max);
    ec = failure.error;
    return info;
}

LockInfo Node::inspect(std::string_view name, std::error_code& ec) {
    return inspect(name, ReadLevel::linearizable, ec);
}

LockInfo Node::inspect(std::string_view name, ReadLevel level) {
    Failure failure;
    auto info = look_at(runtime_, name, level, failure);
    if (failure.error) {
        detail::refuse(runtime_, failure.error, {std::string{name}, {}, Attempt::once, {}},
                       std::move(failure.detail));
    }
    return info;
}

std::vector<LockInfo> Node::list(std::string_view prefix, std::string_view after, std::size_t limit,
                                 ReadLevel level, std::error_code& ec) {
    Failure failure;
    auto locks = look_at(runtime_, Range{prefix, after, limit}, level, failure);
    ec = failure.error;
    return locks;
}

// NOLINTNEXTLINE(readability-function-size): the parameters of list(), and one more
std::vector<LockInfo> Node::list(std::string_view prefix, std::string_view after, std::size_t limit,
                                 ReadLevel level, std::size_t parties_max, std::error_code& ec) {
    Failure failure;
    auto locks =
        look_at(runtime_, Range{prefix, after, std::min(limit, detail::list_page_max), parties_max},
                level, failure);
    ec = failure.error;
    return locks;
}

namespace {

std::vector<SessionInfo> look_at_sessions(const std::shared_ptr<NodeRuntime>& runtime,
                                          ReadLevel level, Failure& failure) {
    if (is_gone(runtime, failure.error)) return {};
    if (runtime->config().role == Role::client) {
        failure.error = Errc::invalid_argument;
        failure.detail.reason = "a client node keeps no sessions: ask a member";
        return {};
    }
    look(runtime, detail::listing_of_all_names(level == ReadLevel::local), failure);
    if (failure.error) return {};
    auto sessions = runtime->sessions();
    if (!sessions) failure.error = Errc::no_quorum;
    return std::move(sessions).value_or(std::vector<SessionInfo>{});
}

}  // namespace

std::vector<SessionInfo> Node::sessions(ReadLevel level, std::error_code& ec) {
    Failure failure;
    auto sessions = look_at_sessions(runtime_, level, failure);
    ec = failure.error;
    return sessions;
}

std::vector<SessionInfo> Node::sessions(ReadLevel level) {
    Failure failure;
    auto sessions = look_at_sessions(runtime_, level, failure);
    if (runtime_) detail::add_why_not_ready(*runtime_, failure.error, failure.detail);
    if (failure.error) fail(failure.error, {}, std::move(failure.detail));
    return sessions;
}

std::vector<LockInfo> Node::list(std::string_view prefix, std::error_code& ec) {
    return list(prefix, {}, 1000, ReadLevel::linearizable, ec);
}

std::vector<LockInfo> Node::list(std::string_view prefix, std::string_view after, std::size_t limit,
                                 ReadLevel level) {
    Failure failure;
    auto locks = look_at(runtime_, Range{prefix, after, limit}, level, failure);
    if (runtime_) detail::add_why_not_ready(*runtime_, failure.error, failure.detail);
    if (failure.error) fail(failure.error, prefix, std::move(failure.detail));
    return locks;
}

}  // namespace mortise
