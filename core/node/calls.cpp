// What this node's program asks for; and reads, which need no log entry (S20, S46).
#include <algorithm>
#include <utility>

#include "core/base/overloaded.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// The counter takes 40 bits: at a million reads a second a life of twelve days, and then the next
// epoch's ids begin, which no life uses before its millionth start.
ReadId read_id(BootEpoch epoch, std::uint64_t count) {
    return ReadId{(epoch.raw() << 40U) + count};
}

CallTag tag_of(const Call& call) {
    return std::visit([](const auto& c) { return c.tag; }, call);
}

}  // namespace

void NodeCore::call(AcquireCall& call, Now now) {
    // A try on a name that looks taken asks whether it is, and writes nothing if so. If it looks
    // free, or we have something under way on it, the log decides.
    const auto& request = call.request;
    const bool looks_taken = !request.wait && !machine_.would_grant(request.name, request.mode);
    if (looks_taken && agent_.may_answer_from_read(request.name)) {
        const auto gives_up = std::min(call.deadline, now.steady + options_.call_timeout);
        ask_read(std::move(call), gives_up, now);
    } else {
        agent_.on_acquire(std::move(call), now);
    }
}

void NodeCore::call(const CancelCall& call, Now now) {
    const auto reading = std::ranges::find_if(
        asked_, [&](const auto& entry) { return tag_of(entry.second.call) == call.tag; });
    if (reading != asked_.end()) {
        asked_.erase(reading);
        effects_.answers.push_back({call.tag, CallError::cancelled});
        return;
    }
    agent_.on_cancel(call, now);
}

void NodeCore::call(const ReleaseCall& call, Now now) {
    agent_.on_release(call, now);
}

void NodeCore::call(InspectCall& call, Now now) {
    if (call.local) {
        Call local{std::move(call)};
        answer_read(local, now);
        return;
    }
    ask_read(std::move(call), now.steady + options_.call_timeout, now);
}

void NodeCore::call(const CloseCall& call, Now now) {
    for (const auto& [id, read] : std::exchange(asked_, {})) {
        effects_.answers.push_back({tag_of(read.call), CallError::node_stopped});
    }
    for (const auto& [index, waiting] : std::exchange(readable_, {})) {
        effects_.answers.push_back({tag_of(waiting), CallError::node_stopped});
    }
    agent_.on_close(call, now);
}

void NodeCore::ask_read(Call call, Instant gives_up, Now now) {
    const auto id = read_id(options_.boot_epoch, ++reads_asked_);
    asked_.emplace(id,
                   PendingRead{std::move(call), now.steady + options_.election_timeout, gives_up});
    raft_.read(id, now.steady);  // without a leader: when there is one
}

// Asks again under a new id: an answer to the old one may be too old by now (etcd 20418).
void NodeCore::read_overdue(Now now) {
    std::vector<PendingRead> again;
    std::erase_if(asked_, [&](auto& entry) {
        auto& read = entry.second;
        if (now.steady >= read.gives_up) {
            effects_.answers.push_back({tag_of(read.call), CallError::no_quorum});
            return true;
        }
        if (now.steady < read.ask_again) return false;
        again.push_back(std::move(read));
        return true;
    });
    for (auto& read : again)
        ask_read(std::move(read.call), read.gives_up, now);
}

Instant NodeCore::reads_deadline() const {
    auto next = Instant::never();
    for (const auto& [id, read] : asked_)
        next = std::min({next, read.ask_again, read.gives_up});
    return next;
}

void NodeCore::on_read_granted(const ReadGrant& grant, Now /*now*/) {
    const auto asked = asked_.find(grant.id);
    if (asked == asked_.end()) return;  // given up, or asked again
    readable_.emplace(grant.index, std::move(asked->second.call));
    asked_.erase(asked);
}

void NodeCore::answer_reads(Now now) {
    while (!readable_.empty() && readable_.begin()->first <= applied_) {
        auto call = std::move(readable_.begin()->second);
        readable_.erase(readable_.begin());
        answer_read(call, now);
    }
}

void NodeCore::answer_read(Call& call, Now now) {
    if (auto* inspect = std::get_if<InspectCall>(&call)) {
        Viewed viewed;
        if (inspect->is_prefix) {
            viewed.locks = machine_.list(inspect->name, inspect->after, inspect->limit);
        } else {
            viewed.locks.push_back(machine_.inspect(inspect->name));
        }
        effects_.answers.push_back({inspect->tag, std::move(viewed)});
    } else if (auto* acquire = std::get_if<AcquireCall>(&call)) {
        const auto& request = acquire->request;
        if (machine_.would_grant(request.name, request.mode)) {
            agent_.on_acquire(std::move(*acquire), now);
        } else {
            effects_.answers.push_back({acquire->tag, Busy{machine_.inspect(request.name)}});
        }
    }
}

}  // namespace mortise::core
