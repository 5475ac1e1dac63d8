#include "embed/api/named_mutex.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "embed/api/argument_errors.hpp"
#include <mortise/detail/passing_error.hpp>
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

namespace {

// Blocking calls wait for the cluster. This pause only keeps an immediate error from being retried
// in a busy loop.
constexpr std::chrono::milliseconds pause{20};

// After this time a wait looks again whether the thread waits for itself.
constexpr std::chrono::milliseconds until_next_look{200};

// Errors for which a try returns false.
bool is_no(std::error_code ec) {
    return is_passing(ec) || ec == Errc::deadlock || ec == Errc::cancelled;
}

std::shared_ptr<NodeRuntime> runtime_or_throw(const Node& node, std::string_view name) {
    auto runtime = runtime_of(node);
    if (runtime && !thread_owners(*runtime).is_forked()) return runtime;
    throw LockError{runtime ? Errc::forked : Errc::node_stopped, {std::string{name}, {}, {}}};
}

}  // namespace

NamedMutex::NamedMutex(const Node& node, std::string_view name, AcquireOptions options,
                       Recursion recursion)
    : node_{runtime_or_throw(node, name)},
      name_{name},
      options_{std::move(options)},
      recursion_{recursion} {
    const bool is_plain = options_.locker == Locker{} && !options_.wait_max.is_set() &&
                          options_.mode == LockMode::exclusive;
    if (!is_plain)
        throw LockError{
            Errc::invalid_argument,
            {name_, {}, {}, "the options of a mutex must not set locker, wait_max or mode"}};
    owners().belong_to(node_);
}

NamedMutex::~NamedMutex() {
    if (!owners().is_forked()) owners().forget(number_, name_);
}

void NamedMutex::lock(LockMode mode) {
    if (lock_again(mode) || recurse()) return;
    for (;;) {
        // A hold of this thread through another mutex may be lost during the wait.
        if (const auto ec = obstacle()) fail(ec);
        std::error_code ec;
        ErrorDetail detail;
        bool is_sure = true;
        if (has_it_through_another_node(mode, is_sure)) {
            detail.reason = "this thread has locked it through another node of this process";
            fail(Errc::deadlock, std::move(detail));
        }
        auto asked = is_sure
                         ? order(mode, Attempt::wait, Deadline::max())
                         : order(mode, Attempt::until, Deadline::clock::now() + until_next_look);
        asked.detail = &detail;
        if (try_once(std::move(asked), ec)) return;
        if (ec && !is_passing(ec)) fail(ec, std::move(detail));
        // Waiting is pointless: the node may never be added again.
        if (is_removed(*node_)) {
            detail.reason = "this node is not a member of its cluster: it was removed";
            fail(Errc::not_ready, std::move(detail));
        }
        std::this_thread::sleep_for(pause);
    }
}

bool NamedMutex::try_lock(LockMode mode) {
    if (lock_again(mode) || recurse()) return true;
    if (obstacle()) return false;
    std::error_code ec;
    ErrorDetail detail;
    auto asked = order(mode, Attempt::once, Deadline::max());
    asked.detail = &detail;
    const bool locked = try_once(std::move(asked), ec);
    if (ec && !is_no(ec)) fail(ec, std::move(detail));
    return locked;
}

bool NamedMutex::try_lock_until(LockMode mode, Deadline deadline) {
    if (lock_again(mode) || recurse()) return true;
    bool is_sure = true;
    if (has_it_through_another_node(mode, is_sure)) return false;
    for (;;) {
        if (obstacle()) return false;
        const bool is_over = deadline <= Deadline::clock::now();
        std::error_code ec;
        ErrorDetail detail;
        auto asked = order(mode, is_over ? Attempt::once : Attempt::until, deadline);
        asked.detail = &detail;
        if (try_once(std::move(asked), ec)) return true;
        if (ec && !is_no(ec)) fail(ec, std::move(detail));
        if (!is_passing(ec) || deadline <= Deadline::clock::now() + pause) return false;
        std::this_thread::sleep_for(pause);
    }
}

void NamedMutex::unlock(LockMode mode) noexcept {
    if (owners().is_forked() || ThreadOwners::unlock_again(number_, mode)) return;
    try {
        if (!owners().unlock(number_, name_, mode)) report_not_held(*node_, name_);
        // without memory the event is not reported; only a thread without a hold gets here
    } catch (const std::bad_alloc&) {
    }
}

const Hold& NamedMutex::hold() const {
    if (owners().is_forked()) return none_;
    const auto* hold = owners().find(number_, name_);
    return hold != nullptr ? *hold : none_;
}

// True if the caller has locked it again, as it did before.
bool NamedMutex::lock_again(LockMode mode) const {
    return !options_.cancel.stop_requested() && ThreadOwners::lock_again(number_, mode);
}

// True if the caller had locked it already, and has locked it once more now.
bool NamedMutex::recurse() const {
    if (owners().is_forked()) fail(Errc::forked);
    if (recursion_ == Recursion::no) return false;
    const auto deeper = owners().deepen(number_, name_);
    if (deeper && *deeper) fail(*deeper);
    return deeper.has_value();
}

// The error for the caller's hold of that name, through this mutex or another one. A recursive
// mutex that was lost and is not unlocked yet is reported by tries as well.
std::error_code NamedMutex::obstacle() const {
    const auto ec = owners().obstacle(name_, recursion_);
    if (ec == Errc::lock_lost) fail(ec);
    return ec;
}

// True if the caller would wait for itself: other nodes of the process are other sessions of the
// cluster, which does not know that they have a thread in common. Not sure as long as this node
// does not know its cluster: then the name may be another one there.
bool NamedMutex::has_it_through_another_node(LockMode mode, bool& is_sure) const {
    const auto others = owners().others_with(name_, mode);
    if (others.empty()) return false;
    const auto cluster = cluster_id(*node_);
    is_sure = !cluster.empty();
    return std::any_of(others.begin(), others.end(),
                       [&](const auto& other) { return is_sure && cluster_id(*other) == cluster; });
}

AcquireOrder NamedMutex::order(LockMode mode, Attempt attempt, Deadline deadline) const {
    AcquireOrder order{name_, options_, attempt, deadline};
    order.options.mode = mode;
    order.options.locker = owners().locker([this] { return new_locker(*node_); });
    order.is_shared = recursion_ == Recursion::yes;
    return order;
}

// The caller holds nothing of that name, except perhaps a lost hold.
bool NamedMutex::try_once(AcquireOrder order, std::error_code& ec) {
    owners().drop_lost(number_, name_);
    Hold hold = acquire(node_, std::move(order), ec);
    if (ec || !hold) return false;
    owners().add(number_, name_, std::move(hold), recursion_);
    return true;
}

void NamedMutex::fail(std::error_code ec, ErrorDetail detail) const {
    detail.name = name_;
    if (ec == Errc::invalid_argument) {
        detail.reason = unsound_part({name_, options_, Attempt::wait, {}});
    }
    throw LockError{ec, std::move(detail)};
}

}  // namespace mortise::detail
