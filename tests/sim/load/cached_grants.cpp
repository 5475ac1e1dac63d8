#include "tests/sim/load/cached_grants.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

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

// Most holds last for longer than the bounds of the product.
core::CacheOptions draw_cache_options(core::Prng& prng, const Swarm& swarm) {
    core::CacheOptions options;
    if (prng.one_in(2)) return options;
    options.hand_over_for = swarm.election_timeout;
    options.wait_here_max = 10 * swarm.election_timeout;
    // So that unused grants are there when a node is paused.
    options.publish_after = swarm.election_timeout;
    options.idle_max = 40 * swarm.election_timeout;
    return options;
}

CachedGrants::CachedGrants(World& world, CachingPrograms& programs, core::CacheOptions options,
                           LockHistory& history, core::Prng& prng, std::uint64_t& newest_tag)
    : world_{world},
      programs_{programs},
      options_{options},
      history_{history},
      prng_{prng},
      newest_tag_{newest_tag} {}

core::LockCache& CachedGrants::cache_of(core::NodeId node) {
    return caches_.try_emplace(node, options_).first->second;
}

void CachedGrants::node_lost(core::NodeId node) {
    caches_.erase(node);
    const auto is_there = [&](const auto& one) { return one.first.first == node; };
    std::erase_if(users_, is_there);
    std::erase_if(queued_, is_there);
    std::erase_if(asked_for_, is_there);
    looks_at_.erase(node);
    ++lives_[node];
}

void CachedGrants::acquire(core::NodeId node, core::AcquireCall call) {
    call.tag = core::CallTag{++newest_tag_};
    if (!world_.swarm.workload.caches || !may_be_cached(call))
        return programs_.begin(node, std::move(call));
    const auto& request = call.request;
    const auto& wanted = request.names.front();
    auto& cache = cache_of(node);
    const auto joined = cache.join(
        wanted.name, wanted.mode,
        {call.tag, {request.locker, request.label}, request.wait ? call.deadline : core::Instant{}},
        programs_.now(node).steady);
    cache.check_invariants();
    if (joined.waits) return wait_in_queue(node, std::move(call));
    if (joined.use && use_cached(node, *joined.use)) return;
    ask_cluster(node, std::move(call), joined.tokens);
}

void CachedGrants::ask_cluster(core::NodeId node, core::AcquireCall call, std::uint32_t tokens) {
    const Who who{node, call.tag};
    asked_for_[who] = call.request.names.front().name;
    if (tokens != 0) {  // so few that some are used up
        call.request.cached_tokens = 1 + static_cast<std::uint32_t>(prng_.below(8));
        users_[who] = {call.request.locker, call.request.label};
    }
    programs_.begin(node, std::move(call));
}

// False if the lease has ended (S42).
bool CachedGrants::use_cached(core::NodeId node, const core::LockCache::Use& use) {
    tokens_[use.grant] = use.token;
    if (programs_.now(node).boot >= leases_[use.grant.session]) {
        world_.tally.probe("cached grant without a lease");
        if (const auto back = released_cached(node, use.grant)) give_back_soon(node, *back);
        return false;
    }
    world_.tally.probe("cached grant used again");
    world_.timeline.say(node, "takes hold {} from its cache", use.grant.seq.raw());
    history_.took(node, use.grant, use.token);
    programs_.took_cached(node, use.grant);
    return true;
}

// A program that goes on before its node has noticed that leases have ended: it wants a name that
// is in the cache, and has to ask the cluster.
void CachedGrants::wakes(core::NodeId node) {
    if (!world_.swarm.workload.caches || programs_.is_stopped() || programs_.is_crowded()) return;
    for (const auto& [grant, wanted] : cached_names_) {
        if (!cache_of(node).contains(grant)) continue;
        if (programs_.now(node).boot < leases_[grant.session]) continue;
        const auto use = cache_of(node).take(wanted.name, wanted.mode, {});
        if (!use || use_cached(node, *use)) continue;
        auto call = programs_.draw(node);
        call.tag = core::CallTag{++newest_tag_};
        call.request.names = {wanted};
        const auto tag = call.tag;
        queued_.emplace(Who{node, tag}, std::move(call));
        ask_later(node, {{{tag, {}}}, 0});
    }
}

// The grant goes to the next caller in the local queue, or stays here unused, or is returned: then
// it goes back to the cluster.
std::optional<core::LockCache::GiveBack> CachedGrants::released_cached(core::NodeId node,
                                                                       core::OperationId hold) {
    auto& cache = cache_of(node);
    auto released = cache.released(hold, programs_.now(node).steady);
    cache.check_invariants();
    look_at_cache_later(node);
    ask_later(node, std::move(released.asking));
    timed_out_in_queue(node, released.timed_out);
    if (!released.next && !released.back) lend(node, hold);
    if (!released.next) return std::move(released.back);
    const auto& [tag, use] = *released.next;
    world_.tally.probe("cached grant handed over");
    if (recalled_.contains(hold)) {
        world_.tally.probe("cached grant handed over after a recall");
        if (++hand_overs_[hold] > options_.hand_overs_max)
            world_.violations.report(node, "cache: a recalled grant is handed over for ever");
    }
    auto call = take_from_queue(node, tag);
    if (!call || use_cached(node, use)) return std::nullopt;
    queued_.emplace(Who{node, tag}, *std::move(call));
    ask_later(node, {{{tag, {}}}, 0});
    return std::nullopt;
}

// Nobody uses it: its last user may take it again.
void CachedGrants::lend(core::NodeId node, core::OperationId hold) {
    const auto lent = lent_.find(hold);
    if (lent == lent_.end() || !cache_of(node).lend(hold, lent->second)) return;
    lent->second.begin(tokens_[hold]);
    take_lent_later(node, hold);
}

void CachedGrants::take_lent_later(core::NodeId node, core::OperationId hold) {
    if (prng_.one_in(3)) return;
    const auto life = lives_[node];
    world_.heap.after(prng_.between(0, 2 * sim_millisecond), [this, node, hold, life] {
        if (lives_[node] != life || programs_.is_stopped() || !programs_.can_call(node)) return;
        const auto token = lent_.at(hold).take();
        if (!token) return;
        world_.tally.probe("lent grant taken again");
        std::ignore = use_cached(node, {hold, *token, {}});
    });
}

bool CachedGrants::put_back(core::NodeId node, core::OperationId hold) {
    const auto lent = lent_.find(hold);
    if (lent == lent_.end() || !lent->second.put_back()) return false;
    world_.tally.probe("lent grant put back");
    take_lent_later(node, hold);
    return true;
}

// --- callers that wait for another one of their node (S41) --------------------------------------

void CachedGrants::wait_in_queue(core::NodeId node, core::AcquireCall call) {
    world_.tally.probe("caller waits for another of its node");
    const auto tag = call.tag;
    queued_.emplace(Who{node, tag}, std::move(call));
    look_at_cache_later(node);
    cancel_queued_sometimes(node, tag);
}

// A caller leaves the local queue once.
std::optional<core::AcquireCall> CachedGrants::take_from_queue(core::NodeId node,
                                                               core::CallTag tag) {
    auto call = queued_.extract({node, tag});
    if (!call.empty()) return std::move(call.mapped());
    world_.violations.report(
        node, "cache: call " + std::to_string(tag.raw()) + " does not wait in a local queue");
    return std::nullopt;
}

// If the caller is leaving the local queue for the cluster, the cancellation follows it.
void CachedGrants::cancel_queued_sometimes(core::NodeId node, core::CallTag tag) {
    if (!prng_.one_in(6)) return;
    world_.heap.after(prng_.between(0, 60 * sim_millisecond), [this, node, tag] {
        if (!programs_.can_call(node) || !queued_.contains({node, tag})) return;
        if (!cache_of(node).withdraw(tag)) {
            cancelled_in_queue_.emplace(node, tag);
            return;
        }
        world_.tally.probe("caller in the local queue cancelled");
        std::ignore = take_from_queue(node, tag);
        cache_of(node).check_invariants();
    });
}

void CachedGrants::timed_out_in_queue(core::NodeId node, const core::LockCache::Waiters& callers) {
    for (const auto& caller : callers) {
        world_.tally.probe("caller in the local queue timed out");
        std::ignore = take_from_queue(node, caller.call);
    }
}

// Not within a step of the node; a suspended program does it when it is awake.
void CachedGrants::ask_later(core::NodeId node, core::LockCache::Asking asking) {
    if (asking.callers.empty()) return;
    const auto delay = programs_.can_call(node) ? 1 : world_.swarm.election_timeout.count();
    world_.heap.after(delay, [this, node, life = lives_[node], asking = std::move(asking)] {
        if (lives_[node] != life) return;
        if (!programs_.can_call(node)) return ask_later(node, asking);
        for (const auto& caller : asking.callers) {
            world_.tally.probe("caller leaves the local queue for the cluster");
            auto call = take_from_queue(node, caller.call);
            if (!call) return;
            ask_cluster(node, *std::move(call), asking.tokens);
            const bool is_cancelled = cancelled_in_queue_.erase({node, caller.call}) != 0;
            if (is_cancelled && programs_.can_call(node))
                programs_.call(node, core::CancelCall{caller.call});
            if (lives_[node] != life) return;
        }
    });
}

void CachedGrants::answered(core::NodeId node, core::CallTag tag) {
    users_.erase({node, tag});
    const auto name = asked_for_.extract({node, tag});
    if (name.empty()) return;
    ask_later(node, cache_of(node).answered(name.mapped(), tag, programs_.now(node).steady));
    cache_of(node).check_invariants();
}

// --- grants -------------------------------------------------------------------------------------

void CachedGrants::granted(core::NodeId node, core::CallTag tag, const core::Acquired& acquired) {
    const auto user = users_.extract({node, tag});
    if (acquired.cached_tokens == 0) return;
    const auto& part = acquired.parts.front();
    world_.tally.probe("cached grant received");
    tokens_[acquired.hold] = part.token;
    cached_names_[acquired.hold] = {part.name, part.mode};
    if (part.mode == core::LockMode::exclusive)
        lent_.emplace(acquired.hold, core::FencingToken{part.token.raw() + acquired.cached_tokens});
    cache_of(node).granted(acquired.hold, {part.name, part.mode}, part.token,
                           acquired.cached_tokens, user.mapped());
    programs_.got_cached(node, acquired.hold, part.name);
}

// True if the grant stays in the cache.
bool CachedGrants::keep(core::NodeId node, core::OperationId hold,
                        const std::vector<core::NamedMode>& names) {
    if (!world_.swarm.workload.caches) return false;
    auto& cache = cache_of(node);
    if (!cache.contains(hold)) {
        for (const auto& one : names)
            cache.released_ordinary(one.name, programs_.now(node).steady);
        return false;
    }
    history_.releasing(hold);
    ++uses_[hold];
    if (put_back(node, hold)) return true;
    const auto back = released_cached(node, hold);
    if (!back) return true;
    if (back->last) publish(node, *back->last);
    return false;
}

void CachedGrants::make_ordinary(core::NodeId node, core::OperationId hold) {
    if (!world_.swarm.workload.caches) return;
    auto ordinary = cache_of(node).make_ordinary(hold, tokens_[hold], programs_.now(node).steady);
    ask_later(node, std::move(ordinary.asking));
    if (ordinary.user) publish(node, *ordinary.user);
}

// The next caller wants the same name, mostly soon.
void CachedGrants::acquire_again(core::NodeId node, const core::NamedMode& wanted) {
    world_.heap.after(prng_.between(0, 2 * sim_millisecond), [this, node, wanted] {
        if (programs_.is_stopped() || !programs_.can_call(node) || programs_.is_crowded()) return;
        auto call = programs_.draw(node);
        call.request.names = {wanted};
        acquire(node, std::move(call));
    });
}

void CachedGrants::confirming(core::CallTag tag, core::OperationId hold) {
    confirms_[tag] = {hold, uses_[hold]};
}

// A confirmation says nothing to a caller that has released the hold meanwhile.
core::CallAnswer CachedGrants::as_told(const core::CallAnswer& answer) {
    const auto confirm = confirms_.extract(answer.tag);
    const bool is_late = !confirm.empty() &&
                         std::holds_alternative<core::Confirmed>(answer.result) &&
                         uses_[confirm.mapped().first] != confirm.mapped().second;
    return is_late ? core::CallAnswer{answer.tag, core::CallError::cancelled} : answer;
}

bool CachedGrants::is_unused(core::NodeId node, core::OperationId hold) {
    return world_.swarm.workload.caches && cache_of(node).contains(hold) &&
           !cache_of(node).is_in_use(hold);
}

void CachedGrants::publish(core::NodeId node, const core::LockCache::Publication& user) {
    world_.tally.probe("user of a cached grant published");
    programs_.publishes(user.grant);
    programs_.call(node,
                   core::PublishCall{
                       {}, user.grant, user.token, user.user.locker, user.user.label, user.ended});
}

void CachedGrants::give_back(core::NodeId node, const core::LockCache::GiveBack& back) {
    if (back.last) publish(node, *back.last);
    if (!programs_.can_call(node)) return;  // it died of that
    programs_.gives_back(back.grant);
    programs_.call(node, core::ReleaseCall{{}, back.grant});
}

// A recall. True if the hold is cached.
bool CachedGrants::recalled(core::NodeId node, core::OperationId hold) {
    if (!world_.swarm.workload.caches || !cache_of(node).contains(hold)) return false;
    const auto back = cache_of(node).recalled(hold, programs_.now(node).steady);
    if (!back) recalled_.insert(hold);
    world_.tally.probe(back ? "unused grant recalled" : "used grant recalled");
    if (back) give_back_soon(node, *back);
    look_at_cache_later(node);
    return true;
}

// Not within a step of the node; a suspended program does it when it is awake.
void CachedGrants::give_back_soon(core::NodeId node, const core::LockCache::GiveBack& back) {
    world_.heap.after(1, [this, node, back] {
        if (programs_.can_call(node)) return give_back(node, back);
        const auto later = world_.swarm.election_timeout.count();
        world_.heap.after(later, [this, node, back] { give_back_soon(node, back); });
    });
}

// A hold was lost. Nobody has to be notified of an unused one.
void CachedGrants::lost(core::NodeId node, core::OperationId hold) {
    if (!world_.swarm.workload.caches) return;
    auto lost = cache_of(node).lost(hold, programs_.now(node).steady);
    ask_later(node, std::move(lost.asking));
    if (!lost.was_unused) return;
    world_.tally.probe("unused grant lost");
    world_.heap.after(1, [this, node, hold] {
        if (programs_.can_call(node)) programs_.call(node, core::ToldCall{{}, hold});
    });
}

// The clocks of nodes differ from true time: a little later is late enough.
void CachedGrants::look_at_cache_later(core::NodeId node) {
    const auto next = cache_of(node).deadline();
    if (next == core::Instant::never()) return;
    const auto delay = std::max<SimTime>((next - programs_.now(node).steady).count(), 0);
    const auto at = world_.heap.now() + delay + delay / 8 + sim_millisecond;
    const auto [known, is_new] = looks_at_.try_emplace(node, at);
    if (!is_new && known->second <= at) return;
    known->second = at;
    world_.heap.at(at, [this, node, at] {
        if (looks_at_[node] == at) look_at_cache(node);
    });
}

void CachedGrants::look_at_cache(core::NodeId node) {
    looks_at_.erase(node);
    if (!programs_.can_call(node)) {
        const auto later = world_.swarm.election_timeout.count();
        world_.heap.after(later, [this, node] { look_at_cache_later(node); });
        return;
    }
    const auto life = lives_[node];
    auto due = cache_of(node).take_due(programs_.now(node).steady);
    cache_of(node).check_invariants();
    for (const auto& user : due.publish)
        publish(node, user);
    for (const auto& back : due.give_back) {
        world_.tally.probe("unused grant given back");
        give_back(node, back);
    }
    if (lives_[node] != life) return;  // it died of that, and its callers with it
    for (auto& some : due.asking)
        ask_later(node, std::move(some));
    timed_out_in_queue(node, due.timed_out);
    look_at_cache_later(node);
}

}  // namespace mortise::sim
