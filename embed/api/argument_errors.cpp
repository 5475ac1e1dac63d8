#include "embed/api/argument_errors.hpp"

#include <map>
#include <string_view>
#include <vector>

#include "core/locks/kinds/semaphore.hpp"
#include "core/locks/limits.hpp"
#include "embed/values/terms.hpp"
#include <mortise/latch.hpp>

namespace mortise::detail {

namespace {

std::string_view unsound_value(const AcquireOptions& options) {
    if (const auto bad = unsound_label(options.label); !bad.empty()) return bad;
    if (!is_limit(options.max_hold)) return "max_hold is above zero, and at most 24 days";
    if (!is_term(options.min_hold)) return "min_hold is at most 24 days";
    if (!is_limit(options.progress_timeout))
        return "progress_timeout is above zero, and at most 24 days";
    if (!is_term(options.lock_delay)) return "lock_delay is at most 24 days";
    if (options.priority < 0 || options.priority > core::priority_max)
        return "a priority is from 0 to 7";
    if (options.queue_policy > QueuePolicy::prefer_writers)
        return "queue_policy is not a valid queue policy";
    if (options.on_uncertain > OnUncertain::suspend)
        return "on_uncertain is not a valid OnUncertain";
    if (options.caching > Caching::off) return "caching is not a valid Caching";
    if (options.on_suspended && options.on_uncertain != OnUncertain::suspend)
        return "on_suspended is for OnUncertain::suspend";
    return {};
}

std::string_view unsound_request(std::string_view name, LockMode mode) {
    if (const auto bad = unsound_name(name); !bad.empty()) return bad;
    return mode <= LockMode::exclusive ? "" : "mode is not a valid LockMode";
}

struct UnsoundName {
    std::string_view name;
    std::string_view why;  // empty: all of them are valid
};

// The first request that is not valid, or that an earlier one of the list contradicts (S32). A name
// that is listed twice counts once.
UnsoundName first_unsound(const std::vector<LockRequest>& requests) {
    std::map<std::string_view, LockMode> modes;
    for (const auto& one : requests) {
        if (const auto bad = unsound_request(one.name, one.mode); !bad.empty())
            return {one.name, bad};
        if (modes.emplace(one.name, one.mode).first->second != one.mode)
            return {one.name, "the list has the name in two modes"};
    }
    if (requests.empty()) return {{}, "the list of names is empty"};
    const bool are_few = modes.size() <= core::names_at_once_max;
    return {requests.front().name, are_few ? "" : "a call is for at most 64 names"};
}

std::string_view unsound_names(const AcquireOrder& order) {
    if (!order.unsound.empty()) return order.unsound;
    if (!order.several) return unsound_request(order.name, order.options.mode);
    const bool is_odd = order.several->all && order.options.priority != 0;
    return is_odd ? "a call for all names has no priority"
                  : first_unsound(order.several->requests).why;
}

// Empty for an order of a lock as well. Any holder can let a waiter in, so a locker would not be
// told of a deadlock (S33, S34).
std::string_view unsound_permits(const AcquireOrder& order) {
    if (!order.permits) return {};
    const auto [count, limit] = *order.permits;
    const auto& options = order.options;
    if (count == 0 || count > core::permits_max)
        return "an acquire takes 1 to 1,024 permits at a time";
    if (const auto bad = unsound_limit(limit, 1); !bad.empty()) return bad;
    if (options.mode != LockMode::exclusive || options.queue_policy)
        return "a semaphore has neither modes nor queue policies";
    return options.locker == Locker{} ? "" : "a locker cannot acquire permits of a semaphore";
}

}  // namespace

std::string_view unsound_limit(std::uint32_t limit, std::uint32_t least) {
    if (limit >= least && limit <= core::semaphore_limit_max) return {};
    return least == 0 ? "a limit is at most 65,536" : "a limit is 1 to 65,536";
}

std::string_view unsound_name(std::string_view name) {
    return core::is_valid_name(name) ? "" : "a name has 1 to 512 bytes";
}

std::string_view unsound_prefix(std::string_view prefix) {
    return prefix.size() <= core::name_bytes_max ? "" : "a prefix has at most 512 bytes";
}

std::string_view unsound_lock_value(std::string_view bytes) {
    return bytes.size() <= core::value_bytes_max ? "" : "a value has at most 4,096 bytes";
}

std::string_view unsound_label(std::string_view label) {
    return label.size() <= core::label_bytes_max ? "" : "a label has at most 256 bytes";
}

std::string_view unsound_count(std::ptrdiff_t n) {
    return n >= 0 && n <= Latch::max() ? "" : "a count of a latch is from 0 to Latch::max()";
}

std::string_view unsound_count_down(std::string_view name, std::ptrdiff_t n) {
    const auto bad = unsound_name(name);
    return bad.empty() ? unsound_count(n) : bad;
}

std::string_view unsound_wait(std::string_view name, const WaitOptions& options) {
    const auto bad = unsound_name(name);
    return bad.empty() ? unsound_label(options.label) : bad;
}

std::string_view unsound_resize(std::string_view name, std::uint32_t limit) {
    const auto bad = unsound_name(name);
    return bad.empty() ? unsound_limit(limit, 0) : bad;
}

std::string_view unsound_arrival(std::string_view name, bool has_time, const WaitOptions& options) {
    if (const auto bad = unsound_name(name); !bad.empty()) return bad;
    if (!has_time) return "a party that arrives waits for a time above zero";
    return unsound_label(options.label);
}

namespace {

std::string_view unsound_reason(std::string_view reason) {
    return reason.size() <= core::reason_bytes_max ? "" : "a reason has at most 256 bytes";
}

std::string_view unsound_mode(BreakMode mode) {
    return mode <= BreakMode::immediate ? "" : "mode is not a valid BreakMode";
}

}  // namespace

std::string_view unsound_eviction(SessionId session, std::string_view reason, BreakMode mode) {
    if (session == 0) return "a session is 1 or more: sessions() lists them";
    if (const auto bad = unsound_reason(reason); !bad.empty()) return bad;
    return unsound_mode(mode);
}

std::string_view unsound_reason(std::string_view name, std::string_view reason) {
    if (const auto bad = unsound_name(name); !bad.empty()) return bad;
    return unsound_reason(reason);
}

std::string_view unsound_break(std::string_view name, FencingToken expected,
                               std::string_view reason, BreakMode mode) {
    if (const auto bad = unsound_reason(name, reason); !bad.empty()) return bad;
    if (expected.raw() <= 0) return "a token is 1 or more: inspect() shows the holder's";
    return unsound_mode(mode);
}

std::string_view blamed_name(const AcquireOrder& order) {
    if (!order.several) return order.name;
    return first_unsound(order.several->requests).name;
}

std::string_view unsound_arguments(const AcquireOrder& order) {
    if (const auto bad = unsound_names(order); !bad.empty()) return bad;
    if (order.attempt == Attempt::once && order.options.wait_max.is_set())
        return "a single attempt does not wait: leave wait_max unset, or use acquire_for";
    if (const auto bad = unsound_value(order.options); !bad.empty()) return bad;
    return unsound_permits(order);
}

std::string_view unsound_part(const AcquireOrder& order) {
    if (const auto bad = unsound_arguments(order); !bad.empty()) return bad;
    if (order.options.locker == Locker{}) return {};
    return "its locker belongs to another node, or another thread is acquiring the name for it";
}

}  // namespace mortise::detail
