// Programs whose node keeps grants that their owner released, for the next caller (S39-S45). The
// cache decides; the workload does what the embedding of a node does around it: it checks the lease
// after a use was taken, and carries out what is due.
#include "tests/sim/load/lock_workload.hpp"

namespace mortise::sim {

namespace {

bool may_be_cached(const core::AcquireCall& call) {
    const auto& request = call.request;
    const auto mode = request.names.front().mode;
    return request.names.size() == 1 && request.which == core::Acquire::Which::any &&
           (mode == core::LockMode::shared || mode == core::LockMode::exclusive) &&
           !request.terms.is_set() && !call.suspends;
}

}  // namespace

core::LockCache& LockWorkload::cache_of(core::NodeId node) {
    return caches_.try_emplace(node, cache_options_).first->second;
}

// True if a cached grant is used. It is not, if the lease has ended (S42).
bool LockWorkload::take_cached(core::NodeId node, const core::AcquireCall& call) {
    if (!world_.swarm.workload.caches || !may_be_cached(call)) return false;
    const auto& [name, mode] = call.request.names.front();
    auto& cache = cache_of(node);
    const auto use = cache.take(name, mode, {call.request.locker, call.request.label});
    cache.check_invariants();
    if (!use) return false;
    if (cluster_.at(node).now().boot >= leases_[use->grant.session]) {
        world_.tally.probe("cached grant without a lease");
        if (const auto back = cache.released(use->grant, steady(node))) give_back(node, *back);
        look_at_cache_later(node);
        return false;
    }
    world_.tally.probe("cached grant used again");
    world_.timeline.say(node, "takes hold {} from its cache", use->grant.seq.raw());
    history_.took(node, use->grant, use->token);
    hold_for_a_while(node, use->grant);
    return true;
}

void LockWorkload::ask_cached(core::NodeId node, core::AcquireCall& call) {
    if (!world_.swarm.workload.caches || !may_be_cached(call)) return;
    call.request.cached_tokens =
        cache_of(node).tokens_to_reserve(call.request.names.front().name, steady(node));
    if (call.request.cached_tokens == 0) return;
    // So few that some are used up.
    call.request.cached_tokens = 1 + static_cast<std::uint32_t>(prng_.below(8));
    users_[{node, core::CallTag{newest_tag_ + 1}}] = {call.request.locker, call.request.label};
}

void LockWorkload::cached(core::NodeId node, core::CallTag tag, const core::Acquired& acquired) {
    const auto user = users_.extract({node, tag});
    if (acquired.cached_tokens == 0) return;
    const auto& part = acquired.parts.front();
    world_.tally.probe("cached grant received");
    cache_of(node).granted(acquired.hold, {part.name, part.mode}, part.token,
                           acquired.cached_tokens, user.mapped());
    if (cluster_.at(node).is_catching_up()) {
        contentions_.not_judged(acquired.hold);
    } else {
        contentions_.watched(node, acquired.hold, {part.name});
    }
}

// True if the grant stays in the cache.
bool LockWorkload::keep_cached(core::NodeId node, core::OperationId hold, const Held& held) {
    if (!world_.swarm.workload.caches) return false;
    auto& cache = cache_of(node);
    if (!cache.contains(hold)) {
        for (const auto& one : held.names)
            cache.released_ordinary(one.name, steady(node));
        return false;
    }
    const auto back = cache.released(hold, steady(node));
    cache.check_invariants();
    history_.releasing(hold);
    ++uses_[hold];
    look_at_cache_later(node);
    if (!back) return true;
    if (back->last) publish(node, *back->last);
    return false;
}

void LockWorkload::make_ordinary(core::NodeId node, core::OperationId hold) {
    if (!world_.swarm.workload.caches) return;
    if (const auto user = cache_of(node).make_ordinary(hold)) publish(node, *user);
}

// The next caller wants the same name, mostly soon.
void LockWorkload::acquire_again(core::NodeId node, const core::NamedMode& wanted) {
    world_.heap.after(prng_.between(0, 2 * sim_millisecond), [this, node, wanted] {
        if (stopped_ || !can_call(node) || is_crowded()) return;
        auto call = drawing_.acquire(steady(node));
        call.request.names = {wanted};
        if (take_cached(node, call)) return;
        ask_cached(node, call);
        ask(node, std::move(call));
    });
}

// A confirmation says nothing to a caller that has released the hold meanwhile.
core::CallAnswer LockWorkload::as_told(const core::CallAnswer& answer) {
    const auto confirm = confirms_.extract(answer.tag);
    const bool is_late = !confirm.empty() &&
                         std::holds_alternative<core::Confirmed>(answer.result) &&
                         uses_[confirm.mapped().first] != confirm.mapped().second;
    return is_late ? core::CallAnswer{answer.tag, core::CallError::cancelled} : answer;
}

bool LockWorkload::is_unused(core::NodeId node, core::OperationId hold) {
    return world_.swarm.workload.caches && cache_of(node).contains(hold) &&
           !cache_of(node).is_in_use(hold);
}

void LockWorkload::publish(core::NodeId node, const core::LockCache::Publication& user) {
    world_.tally.probe("user of a cached grant published");
    call(node, core::PublishCall{{}, user.grant, user.token, user.user.locker, user.user.label});
}

void LockWorkload::give_back(core::NodeId node, const core::LockCache::GiveBack& back) {
    if (back.last) publish(node, *back.last);
    if (!can_call(node)) return;  // it died of that
    contentions_.released(back.grant);
    call(node, core::ReleaseCall{{}, back.grant});
}

// A recall. True if the hold is cached.
bool LockWorkload::recalled(core::NodeId node, core::OperationId hold) {
    if (!world_.swarm.workload.caches || !cache_of(node).contains(hold)) return false;
    const auto back = cache_of(node).recalled(hold, steady(node));
    world_.tally.probe(back ? "unused grant recalled" : "used grant recalled");
    if (back) give_back_soon(node, *back);
    look_at_cache_later(node);
    return true;
}

// Not within a step of the node; a suspended program does it when it is awake.
void LockWorkload::give_back_soon(core::NodeId node, const core::LockCache::GiveBack& back) {
    world_.heap.after(1, [this, node, back] {
        if (can_call(node)) return give_back(node, back);
        const auto later = world_.swarm.election_timeout.count();
        world_.heap.after(later, [this, node, back] { give_back_soon(node, back); });
    });
}

// A hold was lost. Nobody has to be notified of an unused one.
void LockWorkload::lost_cached(core::NodeId node, core::OperationId hold) {
    if (!world_.swarm.workload.caches || !cache_of(node).lost(hold).was_unused) return;
    world_.tally.probe("unused grant lost");
    world_.heap.after(1, [this, node, hold] {
        if (can_call(node)) call(node, core::ToldCall{{}, hold});
    });
}

// The clocks of nodes differ from true time: a little later is late enough.
void LockWorkload::look_at_cache_later(core::NodeId node) {
    const auto next = cache_of(node).deadline();
    if (next == core::Instant::never()) return;
    const auto delay = std::max<SimTime>((next - steady(node)).count(), 0);
    world_.heap.after(delay + delay / 8 + sim_millisecond, [this, node] { look_at_cache(node); });
}

void LockWorkload::look_at_cache(core::NodeId node) {
    if (!can_call(node)) return;
    const auto due = cache_of(node).take_due(steady(node));
    cache_of(node).check_invariants();
    for (const auto& user : due.publish)
        publish(node, user);
    for (const auto& back : due.give_back) {
        world_.tally.probe("unused grant given back");
        give_back(node, back);
    }
}

}  // namespace mortise::sim
