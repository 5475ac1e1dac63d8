#include "core/node/call_desk.hpp"

#include <algorithm>
#include <iterator>

#include "core/agent/call_denial.hpp"
#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

// The counter has 40 bits: at a million reads a second they last for twelve days, and then the ids
// of the next epoch follow, which no run uses before its millionth start.
ReadId read_id(BootEpoch epoch, std::uint64_t count) {
    return ReadId{(epoch.raw() << 40U) + count};
}

constexpr std::size_t inspects_per_step_max = 8;

}  // namespace

void CallDesk::take(Call& call, Now now) {
    const auto who = "node " + std::to_string(options_.self.raw());
    if (auto refused = denial_of(call, options_.access, who)) {
        answers_.push_back({tag_of(call), std::move(*refused)});
        return;
    }
    std::visit(Overloaded{[&](DowngradeCall& one) { agent_.on_downgrade(one, now); },
                          [&](UpgradeCall& one) { agent_.on_upgrade(one, now); },
                          [&](WriteCall& one) { agent_.on_write(std::move(one), now); },
                          [&](ConfirmCall& one) { agent_.on_confirm(one, now); },
                          [&](AwaitCall& one) { agent_.on_await(std::move(one), now); },
                          [&](PublishCall& one) { agent_.on_publish(std::move(one)); },
                          [&](ToldCall& one) { agent_.on_notified(one.hold); },
                          [&](auto& one) { on(one, now); }},
               call);
}

// A try of any one name, when all of the names look taken, first asks the leader whether they are,
// and writes nothing if so. If one looks free, the log decides.
void CallDesk::on(AcquireCall& call, Now now) {
    const auto& request = call.request;
    const bool is_try = !request.wait && request.which == Acquire::Which::any;
    const bool looks_taken = is_try && !would_grant(request) && !would_recall(request);
    const auto behind = looks_taken ? agent_.read_behind(names_of(request)) : std::nullopt;
    if (behind) {
        ask_try(call, *behind, now);
    } else {
        agent_.on_acquire(std::move(call), now);
    }
}

void CallDesk::on(const CancelCall& call, Now now) {
    if (reads_.cancel(call.tag)) {
        answers_.push_back({call.tag, CallError::cancelled});
    } else {
        agent_.on_cancel(call, now);
    }
}

void CallDesk::on(const WatchCall& call, Now /*now*/) {
    if (const auto names = agent_.names_of(call.hold)) contentions_.watch(call.hold, *names);
}

void CallDesk::on(const ReleaseCall& call, Now now) {
    contentions_.forget(call.hold);
    agent_.on_release(call, now);
}

void CallDesk::on(InspectCall& call, Now now) {
    if (call.local) {
        Call local{std::move(call)};
        answer_read(local, now);
        return;
    }
    ask_read(std::move(call), now.steady + options_.call_timeout);
}

void CallDesk::on(ChangeCall& call, Now now) {
    if (changes_.is_full()) answers_.push_back(changes_.give_way());
    changes_.add(std::move(call), now.steady);
}

void CallDesk::on(const CloseCall& call, Now now) {
    for (const auto& waiting : reads_.take_all()) {
        answers_.push_back({tag_of(waiting), CallError::node_stopped});
    }
    std::ranges::move(changes_.end_all(CallError::node_stopped), std::back_inserter(answers_));
    agent_.on_close(call, now);
}

// The try may go through the log after the read, and both share one deadline (S48).
void CallDesk::ask_try(AcquireCall& call, OperationId behind, Now now) {
    const auto gives_up = std::min(call.deadline, now.steady + options_.call_timeout);
    call.deadline = gives_up;
    ask_read(std::move(call), gives_up, behind);
}

void CallDesk::ask_read(Call call, Instant gives_up, OperationId behind) {
    if (reads_.is_full()) {
        answers_.push_back({tag_of(call), CallError::resource_exhausted});
        return;
    }
    reads_.add(std::move(call), gives_up, behind);
}

// --- reads --------------------------------------------------------------------------------------

// One question serves all reads of a step. A repeated question gets a new id, because an answer to
// the old one may be stale by now (etcd 20418).
std::optional<ReadId> CallDesk::take_question(Now now) {
    if (!reads_.is_to_ask()) return std::nullopt;
    const auto id = read_id(options_.generation.boot_epoch, ++asked_);
    reads_.ask(id, now.steady + options_.election_timeout);
    return id;
}

void CallDesk::on_timer(Now now) {
    for (const auto& call : reads_.take_given_up(now.steady))
        answers_.push_back({tag_of(call), CallError::no_quorum});
    reads_.ask_again(now.steady, options_.election_timeout / 2);
}

// Listings take time, and the log must progress meanwhile: the next step follows at once.
void CallDesk::answer_reads(LogIndex applied, Now now) {
    const auto is_applied = [this](OperationId request) { return agent_.is_applied(request); };
    for (std::size_t inspected = 0; inspected < inspects_per_step_max;) {
        auto call = reads_.take_readable(applied, is_applied);
        if (!call) break;
        inspected += std::holds_alternative<InspectCall>(*call) ? 1 : 0;
        answer_read(*call, now);
    }
    due_ = reads_.is_readable(applied, is_applied) ? now.steady : Instant::never();
}

void CallDesk::on_leader(Instant now) {
    reads_.ask_all_again();
    changes_.ask_all_again(now);
}

Instant CallDesk::deadline(bool has_leader) const {
    return std::min({reads_.deadline(), due_, changes_.deadline(has_leader)});
}

void CallDesk::answer_read(Call& call, Now now) {
    if (auto* inspect = std::get_if<InspectCall>(&call)) {
        answer_read(*inspect, now);
    } else if (auto* acquire = std::get_if<AcquireCall>(&call)) {
        answer_try(*acquire, now);
    }
}

void CallDesk::answer_read(InspectCall& inspect, Now now) {
    Viewed viewed;
    if (inspect.is_prefix) {
        viewed.locks =
            machine_.list(inspect.name, inspect.after, inspect.limit, inspect.parties_max);
    } else {
        viewed.locks.push_back(machine_.inspect(inspect.name, inspect.parties_max));
    }
    for (auto& lock : viewed.locks)
        tell_times(lock, now);
    answers_.push_back({inspect.tag, std::move(viewed)});
}

// The remaining times by this node's own countdown, which decides nothing alone: the name opens
// when a majority agrees.
void CallDesk::tell_times(LockView& lock, Now now) const {
    for (auto& closing : lock.closings) {
        for (const auto closure : closing.closures) {
            if (const auto left = timers_.left(closure, now.steady))
                closing.left = std::max(closing.left.value_or(*left), *left);
        }
    }
    const auto tell_age = [&](LogIndex since) {
        if (const auto age = clock_.age_of(since, now)) lock.ages.emplace(since, *age);
    };
    for (const auto& waiter : lock.waiters)
        tell_age(waiter.since);
    for (const auto& holder : lock.holders) {
        tell_age(holder.since);
        const auto session = holder.operation.session;
        if (lock.leases_left.contains(session)) continue;
        if (const auto left = timers_.left(session, now.steady))
            lock.leases_left.emplace(session, *left);
    }
}

void CallDesk::answer_try(AcquireCall& call, Now now) {
    const auto& request = call.request;
    if (would_grant(request) || would_recall(request) || names_other_policy(request)) {
        agent_.on_acquire(std::move(call), now);
    } else {
        auto view = machine_.inspect(request.names.front().name);
        tell_times(view, now);
        answers_.push_back({call.tag, Busy{std::move(view)}});
    }
}

// The request names another policy, so the log decides instead of a busy answer (S31).
bool CallDesk::names_other_policy(const Acquire& request) const {
    return request.policy_given && std::ranges::any_of(request.names, [&](const NamedMode& one) {
               const auto* record = machine_.table().find(one.name);
               return record != nullptr && record->policy() != request.policy;
           });
}

bool CallDesk::would_recall(const Acquire& request) const {
    return std::ranges::any_of(request.names, [&](const NamedMode& one) {
        return machine_.views().would_recall(one.name, one.mode);
    });
}

bool CallDesk::would_grant(const Acquire& request) const {
    if (request.permits != 0) return machine_.views().would_grant_permits(request);
    return std::ranges::any_of(request.names, [&](const NamedMode& one) {
        return machine_.would_grant(one.name, one.mode, request.priority);
    });
}

}  // namespace mortise::core
