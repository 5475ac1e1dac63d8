// Calls of this node's program; and reads, which need no log entry (S20, S46).
#include <algorithm>
#include <utility>

#include "core/base/overloaded.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// The counter has 40 bits: at a million reads a second they last for twelve days, and then the ids
// of the next epoch follow, which no run uses before its millionth start.
ReadId read_id(BootEpoch epoch, std::uint64_t count) {
    return ReadId{(epoch.raw() << 40U) + count};
}

constexpr std::size_t inspects_per_step_max = 8;

}  // namespace

void NodeCore::call(AcquireCall& call, Now now) {
    // A try on a name that looks taken asks whether it is, and writes nothing if so. If it looks
    // free the log decides.
    const auto& request = call.request;
    const bool looks_taken =
        !request.wait && !machine_.would_grant(request.name, request.mode, request.priority);
    const auto behind = looks_taken ? agent_.read_behind({request.name}) : std::nullopt;
    if (behind) {
        ask_try(call, *behind, now);
    } else {
        agent_.on_acquire(std::move(call), now);
    }
}

// The same for any of several names.
void NodeCore::call(AcquireSeveralCall& call, Now now) {
    const auto& request = call.request;
    const bool is_try = !request.wait && request.which == AcquireSeveral::Which::any;
    const auto names_in = [&] {
        Names names;
        for (const auto& one : request.names)
            names.push_back(one.name);
        return names;
    };
    const bool looks_taken = is_try && !would_grant(request);
    const auto behind = looks_taken ? agent_.read_behind(names_in()) : std::nullopt;
    if (behind) {
        ask_try(call, *behind, now);
    } else {
        agent_.on_acquire(std::move(call), now);
    }
}

void NodeCore::call(const DowngradeCall& call, Now now) {
    agent_.on_downgrade(call, now);
}

void NodeCore::call(const UpgradeCall& call, Now now) {
    agent_.on_upgrade(call, now);
}

void NodeCore::call(WriteCall& call, Now now) {
    agent_.on_write(std::move(call), now);
}

void NodeCore::call(const CancelCall& call, Now now) {
    if (reads_.cancel(call.tag)) {
        effects_.answers.push_back({call.tag, CallError::cancelled});
    } else {
        agent_.on_cancel(call, now);
    }
}

void NodeCore::call(const ConfirmCall& call, Now now) {
    agent_.on_confirm(call, now);
}

void NodeCore::call(const WatchCall& call, Now /*now*/) {
    if (const auto* names = agent_.names_of(call.hold)) contentions_.watch(call.hold, *names);
}

void NodeCore::call(const ReleaseCall& call, Now now) {
    contentions_.forget(call.hold);
    agent_.on_release(call, now);
}

void NodeCore::call(const ToldCall& call, Now /*now*/) {
    agent_.on_told(call.hold);
}

void NodeCore::call(InspectCall& call, Now now) {
    if (call.local) {
        Call local{std::move(call)};
        answer_read(local, now);
        return;
    }
    ask_read(std::move(call), now.steady + options_.call_timeout);
}

void NodeCore::call(const CloseCall& call, Now now) {
    for (const auto& waiting : reads_.take_all()) {
        effects_.answers.push_back({tag_of(waiting), CallError::node_stopped});
    }
    for (const auto tag : changes_.take_all())
        effects_.answers.push_back({tag, CallError::node_stopped});
    agent_.on_close(call, now);
}

// It may go through the log after that, and has the same deadline for both (S48).
template <class AnyAcquireCall>
void NodeCore::ask_try(AnyAcquireCall& call, OperationId behind, Now now) {
    const auto gives_up = std::min(call.deadline, now.steady + options_.call_timeout);
    call.deadline = gives_up;
    ask_read(std::move(call), gives_up, behind);
}

void NodeCore::ask_read(Call call, Instant gives_up, OperationId behind) {
    if (reads_.is_full()) {
        effects_.answers.push_back({tag_of(call), CallError::resource_exhausted});
        return;
    }
    reads_.add(std::move(call), gives_up, behind);
}

// One question for all reads of a step. A repeated question has a new id: an answer to the old one
// may be too old by now (etcd 20418).
void NodeCore::ask_leader(Now now) {
    if (!reads_.is_to_ask()) return;
    const auto id = read_id(options_.generation.boot_epoch, ++reads_asked_);
    reads_.ask(id, now.steady + options_.election_timeout);
    raft_.read(id, now.steady);  // without a leader: when there is one
}

void NodeCore::read_overdue(Now now) {
    for (const auto& call : reads_.take_given_up(now.steady))
        effects_.answers.push_back({tag_of(call), CallError::no_quorum});
    reads_.ask_again(now.steady, options_.election_timeout / 2);
}

// Listings take time, and the log must progress meanwhile: the next step follows at once.
void NodeCore::answer_reads(Now now) {
    const auto is_applied = [this](OperationId request) { return agent_.is_applied(request); };
    for (std::size_t inspected = 0; inspected < inspects_per_step_max;) {
        auto call = reads_.take_readable(applied_, is_applied);
        if (!call) break;
        inspected += std::holds_alternative<InspectCall>(*call) ? 1 : 0;
        answer_read(*call, now);
    }
    reads_due_ = reads_.is_readable(applied_, is_applied) ? now.steady : Instant::never();
}

void NodeCore::answer_read(Call& call, Now now) {
    if (auto* inspect = std::get_if<InspectCall>(&call)) {
        answer_read(*inspect, now);
    } else if (auto* acquire = std::get_if<AcquireCall>(&call)) {
        const auto& asked = acquire->request;
        const bool is_free = machine_.would_grant(asked.name, asked.mode, asked.priority);
        answer_try(*acquire, is_free || names_other_policy(asked, asked.name), asked.name, now);
    } else if (auto* several = std::get_if<AcquireSeveralCall>(&call)) {
        const auto& asked = several->request;
        const bool differs = std::ranges::any_of(
            asked.names, [&](const NamedMode& one) { return names_other_policy(asked, one.name); });
        answer_try(*several, differs || would_grant(asked), asked.names.front().name, now);
    }
}

void NodeCore::answer_read(InspectCall& inspect, Now now) {
    Viewed viewed;
    if (inspect.is_prefix) {
        viewed.locks =
            machine_.list(inspect.name, inspect.after, inspect.limit, inspect.parties_max);
    } else {
        viewed.locks.push_back(machine_.inspect(inspect.name, inspect.parties_max));
    }
    for (auto& lock : viewed.locks)
        tell_times(lock, now);
    effects_.answers.push_back({inspect.tag, std::move(viewed)});
}

// By this node's own countdown, which decides nothing alone: the name opens when a majority agrees.
void NodeCore::tell_times(LockView& lock, Now now) const {
    for (auto& closing : lock.closings) {
        for (const auto closure : closing.closures) {
            if (const auto left = closures_.left(closure, now.steady))
                closing.left = std::max(closing.left.value_or(*left), *left);
        }
    }
}

template <class AnyAcquireCall>
void NodeCore::answer_try(AnyAcquireCall& call, bool goes_on, const std::string& name, Now now) {
    if (goes_on) {
        agent_.on_acquire(std::move(call), now);
    } else {
        effects_.answers.push_back({call.tag, Busy{machine_.inspect(name)}});
    }
}

// It is not a busy answer: the log decides (S31).
template <class AnyAcquire>
bool NodeCore::names_other_policy(const AnyAcquire& request, const std::string& name) const {
    const auto* record = machine_.table().find(name);
    return request.policy_given && record != nullptr && record->policy() != request.policy;
}

bool NodeCore::would_grant(const AcquireSeveral& request) const {
    return std::ranges::any_of(request.names, [&](const NamedMode& one) {
        return machine_.would_grant(one.name, one.mode, request.priority);
    });
}

}  // namespace mortise::core
