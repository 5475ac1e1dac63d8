#include "embed/capi/options.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/structs.hpp"

namespace mortise::capi {
namespace {

// The sizes of the structs in their first version. They do not change when the structs grow.
constexpr std::size_t oldest_options = 88;
static_assert(sizeof(mortise_acquire_options) >= oldest_options);
constexpr std::size_t oldest_wait_options = 32;
static_assert(sizeof(mortise_wait_options) >= oldest_wait_options);

constexpr std::array modes = {
    std::pair{MORTISE_MODE_EXCLUSIVE, LockMode::exclusive},
    std::pair{MORTISE_MODE_SHARED, LockMode::shared},
    std::pair{MORTISE_MODE_UPDATE, LockMode::update},
    std::pair{MORTISE_MODE_INTENT_SHARED, LockMode::intent_shared},
    std::pair{MORTISE_MODE_INTENT_EXCLUSIVE, LockMode::intent_exclusive},
    std::pair{MORTISE_MODE_SHARED_INTENT_EXCLUSIVE, LockMode::shared_intent_exclusive},
};

std::optional<QueuePolicy> queue_policy(mortise_queue_policy policy) {
    switch (policy) {
        case MORTISE_QUEUE_POLICY_DEFAULT: return std::nullopt;
        case MORTISE_QUEUE_POLICY_PHASE_FAIR: return QueuePolicy::phase_fair;
        case MORTISE_QUEUE_POLICY_FIFO: return QueuePolicy::fifo;
        case MORTISE_QUEUE_POLICY_PREFER_READERS: return QueuePolicy::prefer_readers;
        case MORTISE_QUEUE_POLICY_PREFER_WRITERS: return QueuePolicy::prefer_writers;
        default: throw Misuse{"options->queue_policy is no queue policy"};
    }
}

OnUncertain on_uncertain(mortise_on_uncertain choice) {
    switch (choice) {
        case MORTISE_ON_UNCERTAIN_LOSE: return OnUncertain::lose;
        case MORTISE_ON_UNCERTAIN_SUSPEND: return OnUncertain::suspend;
        default: throw Misuse{"options->on_uncertain is none of its values"};
    }
}

Caching caching(mortise_caching choice) {
    switch (choice) {
        case MORTISE_CACHING_ADAPTIVE: return Caching::adaptive;
        case MORTISE_CACHING_OFF: return Caching::off;
        default: throw Misuse{"options->caching is none of its values"};
    }
}

// The longest Duration would mean none to the library, as zero does here.
Duration term_of(std::int64_t ns, const char* what) {
    const auto term = time_of(ns, what);
    require(term.is_set(), what);
    return term;
}

// A limit that zero leaves out.
Duration limit_of(std::int64_t ns, const char* what) {
    const auto limit = term_of(ns, what);
    return limit == Duration::zero() ? Duration::max() : limit;
}

// Shares what the object has, and may outlive it.
std::function<void(LockMode, std::size_t, std::string_view)> hearing(
    const mortise_contended& given) {
    return [call = given.call, context = given.context](LockMode mode, std::size_t waiters,
                                                        std::string_view reason) {
        call(context->get(), mode_of(mode), waiters, reason.data(), reason.size());
    };
}

}  // namespace

Duration time_of(std::int64_t ns, const char* what) {
    require(ns >= 0, what);
    return std::chrono::nanoseconds{ns};
}

detail::Deadline deadline_of(std::int64_t wait_max_ns) {
    return detail::Deadline::clock::now() + time_of(wait_max_ns, "wait_max_ns is negative");
}

LockMode lock_mode(mortise_mode mode, const char* what) {
    for (const auto& [c_mode, lock_mode] : modes) {
        if (c_mode == mode) return lock_mode;
    }
    throw Misuse{what};
}

mortise_mode mode_of(LockMode mode) noexcept {
    const auto* found = std::ranges::find(modes, mode, &decltype(modes)::value_type::second);
    return found != modes.end() ? found->first : MORTISE_MODE_EXCLUSIVE;
}

AcquireOptions options_of(const mortise_acquire_options* given) {
    AcquireOptions options;
    if (given == nullptr) return options;
    const auto known = read_struct(*given, oldest_options);
    require(known.reserved == 0, "options->reserved is not 0");
    options.mode = lock_mode(known.mode, "options->mode is no mode");
    options.label = text(known.label, known.label_length, "options->label is NULL");
    options.max_hold = limit_of(known.max_hold_ns, "options->max_hold_ns is 0 to 24 days");
    options.min_hold = term_of(known.min_hold_ns, "options->min_hold_ns is 0 to 24 days");
    options.progress_timeout =
        limit_of(known.progress_timeout_ns, "options->progress_timeout_ns is 0 to 24 days");
    options.lock_delay = term_of(known.lock_delay_ns, "options->lock_delay_ns is 0 to 24 days");
    options.priority = known.priority;
    options.queue_policy = queue_policy(known.queue_policy);
    options.on_uncertain = on_uncertain(known.on_uncertain);
    options.caching = caching(known.caching);
    if (known.canceller != nullptr) options.cancel = known.canceller->source.get_token();
    if (known.contended != nullptr) options.on_contended = hearing(*known.contended);
    if (known.locker != nullptr) options.locker = known.locker->locker;
    return options;
}

WaitOptions wait_options_of(const mortise_wait_options* given) {
    WaitOptions options;
    if (given == nullptr) return options;
    const auto known = read_struct(*given, oldest_wait_options);
    options.label = text(known.label, known.label_length, "options->label is NULL");
    if (known.canceller != nullptr) options.cancel = known.canceller->source.get_token();
    return options;
}

}  // namespace mortise::capi

int mortise_contended_new(mortise_contended_callback contended, void* context,
                          void (*destroy)(void* context), mortise_contended** object,
                          mortise_error** error) {
    using namespace mortise::capi;
    CallbackContext owned{context, destroy};
    clear(object);
    return guarded(error, [&] {
        require(contended != nullptr, "contended is NULL");
        require(object != nullptr, "object is NULL");
        *object =
            new mortise_contended{contended, std::make_shared<CallbackContext>(std::move(owned))};
    });
}

void mortise_contended_free(mortise_contended* object) {
    delete object;
}
