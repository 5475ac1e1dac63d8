#include "embed/api/argument_errors.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/locks/limits.hpp"
#include "embed/values/terms.hpp"
#include <mortise/latch.hpp>

namespace mortise::detail {

namespace {

constexpr std::string_view unknown_mode = "mode is not a valid LockMode";

std::string_view unsound_value(const AcquireOptions& options) {
    if (options.mode > LockMode::exclusive) return unknown_mode;
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

std::string_view unsound_request(const LockRequest& one) {
    if (const auto bad = unsound_name(one.name); !bad.empty()) return bad;
    return one.mode <= LockMode::exclusive ? "" : unknown_mode;
}

// The first request that is not valid, or that an earlier one of the list contradicts.
const LockRequest* first_unsound(const std::vector<LockRequest>& requests) {
    for (auto one = requests.begin(); one != requests.end(); ++one) {
        const auto before = std::find_if(requests.begin(), one, [&](const LockRequest& other) {
            return other.name == one->name && other.mode != one->mode;
        });
        if (before != one || !unsound_request(*one).empty()) return &*one;
    }
    return nullptr;
}

// Why the names of an order for several names are invalid. A name that is listed twice counts once.
std::string_view unsound_names(const AcquireOrder& order) {
    const auto& [requests, all] = *order.several;
    if (requests.empty()) return "the list of names is empty";
    if (all && order.options.priority != 0) return "a call for all names has no priority";
    if (const auto* one = first_unsound(requests)) {
        const auto bad = unsound_request(*one);
        return bad.empty() ? "the list has the name in two modes" : bad;
    }
    std::set<std::string_view> names;
    for (const auto& one : requests)
        names.insert(one.name);
    return names.size() <= core::names_at_once_max ? "" : "a call is for at most 64 names";
}

// Empty for an order of a lock as well.
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

std::string_view unsound_reason(std::string_view name, std::string_view reason) {
    if (const auto bad = unsound_name(name); !bad.empty()) return bad;
    return reason.size() <= core::reason_bytes_max ? "" : "a reason has at most 256 bytes";
}

std::string_view unsound_break(std::string_view name, FencingToken expected,
                               std::string_view reason, BreakMode mode) {
    if (const auto bad = unsound_reason(name, reason); !bad.empty()) return bad;
    if (expected.raw() <= 0) return "a token is 1 or more: inspect() shows the holder's";
    return mode <= BreakMode::immediate ? "" : "mode is not a valid BreakMode";
}

std::string_view blamed_name(const AcquireOrder& order) {
    if (!order.several) return order.name;
    const auto& requests = order.several->requests;
    if (const auto* one = first_unsound(requests)) return one->name;
    return requests.empty() ? std::string_view{} : requests.front().name;
}

std::string_view unsound_part(const AcquireOrder& order) {
    const auto& options = order.options;
    if (order.several) {
        if (const auto bad = unsound_names(order); !bad.empty()) return bad;
    } else if (const auto bad = unsound_name(order.name); !bad.empty()) {
        return bad;
    }
    if (order.attempt == Attempt::once && options.wait_max.is_set())
        return "a single attempt does not wait: leave wait_max unset, or use acquire_for";
    if (options.label.size() > core::label_bytes_max) return "a label has at most 256 bytes";
    if (const auto bad = unsound_value(options); !bad.empty()) return bad;
    if (const auto bad = unsound_permits(order); !bad.empty()) return bad;
    // The remaining cause is known only to the lockers.
    if (options.locker != Locker{})
        return "its locker belongs to another node, or another thread is acquiring the name for it";
    return {};
}

}  // namespace mortise::detail
