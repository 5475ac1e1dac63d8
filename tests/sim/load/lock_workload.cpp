#include "tests/sim/load/lock_workload.hpp"

#include <algorithm>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/overloaded.hpp"
#include "core/leases/lease_times.hpp"
#include "tests/check/history_check.hpp"
#include "tests/sim/base/formats.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

using Batch = std::vector<core::Command>;

const char* words_of(const core::Call& call) {
    return std::visit(
        core::Overloaded{
            [](const core::CancelCall&) { return "is to cancel call {}"; },
            [](const core::ReleaseCall&) { return "is asked to release, call {}"; },
            [](const core::InspectCall&) { return "is asked what it sees, call {}"; },
            [](const core::CloseCall&) { return "is asked to close, call {}"; },
            [](const core::ChangeCall&) { return "is asked for a change, call {}"; },
            [](const core::AcquireCall& asked) {
                return asked.request.names.size() == 1
                           ? "is asked to acquire, call {}"
                           : "is asked to acquire several names, call {}";
            },
            [](const core::DowngradeCall&) { return "is asked to downgrade, call {}"; },
            [](const core::UpgradeCall&) { return "is asked to upgrade, call {}"; },
            [](const core::WriteCall&) { return "is asked to write, call {}"; },
            [](const core::ConfirmCall&) { return "is asked to confirm a hold, call {}"; },
            [](const core::AwaitCall&) { return "is asked to wait for others, call {}"; },
            [](const core::WatchCall&) { return "is asked to watch a hold"; },
            [](const core::PublishCall&) { return "publishes the user of a cached grant"; },
            [](const core::ToldCall&) { return "hears that an owner was told"; },
        },
        call);
}

const char* words_of(const core::CallAnswer& answer) {
    return std::visit(core::Overloaded{
                          [](const core::Acquired&) { return "acquired, call {}"; },
                          [](const core::Busy&) { return "found it busy, call {}"; },
                          [](const core::Released&) { return "released, call {}"; },
                          [](const core::Viewed&) { return "told what it sees, call {}"; },
                          [](const core::Closed&) { return "closed, call {}"; },
                          [](const core::Changed&) { return "changed the members, call {}"; },
                          [](core::MembershipRefusal) { return "refused a change, call {}"; },
                          [](core::CallError) { return "failed, call {}"; },
                          [](const core::Converted&) { return "converted, call {}"; },
                          [](const core::Written&) { return "wrote, call {}"; },
                          [](core::Confirmed) { return "confirmed, call {}"; },
                          [](core::Passed) { return "passed, call {}"; },
                          [](const core::Deadlocked&) { return "deadlock, call {}"; },
                          [](const core::Denied&) { return "may not do that, call {}"; },
                      },
                      answer.result);
}

}  // namespace

LockWorkload::LockWorkload(World& world, Cluster& cluster)
    : world_{world},
      cluster_{cluster},
      prng_{world.prng.next()},
      drawing_{prng_, world.swarm},
      history_{world.violations,
               world.tally,
               {[this](core::NodeId node) { return now(node).boot; },
                [this](core::NodeId node) { return clocks_out_of_bounds(node); }},
               core::holder_trust(world.swarm.session_ttl_ms, core::AgentOptions{}.rho_ppm)},
      deadlines_{world.swarm.call_timeout, world.violations},
      contentions_{world.violations, world.tally},
      closings_{world.violations, world.tally},
      tellings_{world.violations, world.tally, [this](core::NodeId node) { return steady(node); }},
      closure_times_{world.violations,
                     [this](core::OperationId hold) { return history_.book().terms_of(hold); },
                     [this] { return cluster_.clocks_too_fast(); }},
      cached_{world, *this, draw_cache_options(prng_, world.swarm), history_, prng_, newest_tag_} {
    if (world.swarm.clients != 0)
        clients_.emplace(world, cluster, ClientLoad::Judges{history_, deadlines_, tellings_},
                         newest_tag_);
}

void LockWorkload::start() {
    if (world_.swarm.judged_from_outside) outside_.emplace(world_.heap);
    if (clients_) clients_->start();
    call_later();
    close_later();
}

void LockWorkload::stop() {
    stopped_ = true;
    if (clients_) clients_->stop();
}

void LockWorkload::call_later() {
    world_.heap.after(prng_.between(1, 2 * world_.swarm.workload.pace), [this] {
        if (stopped_) return;
        call_somewhere();
        call_later();
    });
}

void LockWorkload::call_somewhere() {
    const auto node = cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
    // A suspended program makes no calls.
    if (!can_call(node)) return;
    if (prng_.below(1'000) < world_.swarm.workload.transfer_permille) {
        transfer();
    } else if (world_.swarm.workload.burst != 0 && prng_.one_in(4)) {
        acquire_many();
    } else if (prng_.below(100) < world_.swarm.workload.read_percent / 2) {
        inspect(node);
    } else {
        acquire(node);
    }
}

core::Now LockWorkload::now(core::NodeId node) const {
    return is_client(node) ? clients_->now(node) : cluster_.at(node).now();
}

// Clients have clocks within the bounds.
bool LockWorkload::clocks_out_of_bounds(core::NodeId holder) const {
    return is_client(holder) ? cluster_.clocks_too_fast() : cluster_.clocks_out_of_bounds(holder);
}

void LockWorkload::call(core::NodeId node, core::Call call) {
    world_.timeline.say(node, words_of(call), tag_of(call).raw());
    if (!cluster_.at(node).is_catching_up()) deadlines_.asked(node, call, steady(node));
    core::Calls calls;
    calls.calls.push_back(std::move(call));
    cluster_.call(node, std::move(calls));
}

// Acquires one name after the other on one node, which has used thousands in the end.
void LockWorkload::acquire_many() {
    const auto node = cluster_.ids().front();
    if (!can_call(node) || is_crowded()) return;
    const auto& options = world_.swarm.workload;
    const auto deadline = steady(node) + 4 * world_.swarm.election_timeout;
    world_.tally.probe("many names at once");
    core::Calls calls;
    for (auto left = options.burst; left > 0; --left) {
        core::AcquireCall call;
        call.tag = core::CallTag{++newest_tag_};
        call.request.names.push_back({"name" + std::to_string(next_name_++ % options.names)});
        call.deadline = deadline;
        waiting_.emplace(node, call.tag);
        history_.asked(node, call);
        if (outside_) outside_->asked(node, call);
        calls.calls.emplace_back(std::move(call));
    }
    cluster_.call(node, std::move(calls));
}

// The specification examines every waiter for each command. And it finds each wait cycle, while the
// search of the product is limited: in a longer queue it may find another one, or none (S33).
bool LockWorkload::is_crowded() const {
    constexpr std::size_t crowd_max = 150;
    return waiting_.size() + holds_.size() > crowd_max;
}

void LockWorkload::acquire(core::NodeId node) {
    if (is_crowded()) return;
    // Requests that may wait for ever, for more permits than there are or for counts that never
    // come: no progress is owed to them.
    const bool is_owed = !core_.empty();
    const auto semaphores = is_owed ? 0 : world_.swarm.workload.semaphore_percent;
    const auto latches = is_owed ? 0 : world_.swarm.workload.latch_percent;
    if (semaphores != 0 && prng_.below(100) < semaphores) {
        use_semaphore(node);
    } else if (latches != 0 && prng_.below(100) < latches) {
        wait_for_others(node);
    } else if (prng_.below(100) < world_.swarm.workload.several_percent) {
        ask(node, drawing_.acquire_several(steady(node)));
    } else {
        auto call = drawing_.acquire(steady(node));
        // A name that no other node wants stays cached for a while, also unused.
        const auto own_percent = is_owed ? 0 : world_.swarm.workload.own_percent;
        const bool is_own = own_percent != 0 && prng_.below(100) < own_percent;
        if (is_own) call.request.names = {{"own" + in_words(node)}};
        cached_.acquire(node, std::move(call));
    }
}

void LockWorkload::use_semaphore(core::NodeId node) {
    if (!prng_.one_in(6)) return ask(node, drawing_.acquire_permits(steady(node)));
    call_write(node, drawing_.resize_or_remove(core::CallTag{++newest_tag_}));
}

void LockWorkload::wait_for_others(core::NodeId node) {
    const core::CallTag tag{++newest_tag_};
    const bool meets = prng_.one_in(2);
    if (prng_.one_in(meets ? 4 : 2))
        return call_write(node,
                          meets ? drawing_.drop_or_remove(tag) : drawing_.count_or_remove(tag));
    auto wait =
        meets ? drawing_.arrive(steady(node), tag) : drawing_.await_latch(steady(node), tag);
    waiting_.emplace(node, tag);
    history_.asked(node, wait);
    call(node, std::move(wait));
    cancel_sometimes(node, tag);
}

// A waiting caller may lose patience and cancel.
template <class WaitingCall>
void LockWorkload::ask(core::NodeId node, WaitingCall call) {
    call.tag = core::CallTag{++newest_tag_};
    begin_waiting(node, std::move(call));
}

void LockWorkload::begin(core::NodeId node, core::AcquireCall call) {
    begin_waiting(node, std::move(call));
}

template <class WaitingCall>
void LockWorkload::begin_waiting(core::NodeId node, WaitingCall call) {
    waiting_.emplace(node, call.tag);
    history_.asked(node, call);
    if (outside_) outside_->asked(node, call);
    const auto tag = call.tag;
    this->call(node, std::move(call));
    cancel_sometimes(node, tag);
}

core::AcquireCall LockWorkload::draw(core::NodeId node) {
    return drawing_.acquire(steady(node));
}

void LockWorkload::got_cached(core::NodeId node, core::OperationId grant, const std::string& name) {
    if (cluster_.at(node).is_catching_up()) {
        contentions_.not_judged(grant);
    } else {
        contentions_.watched(node, grant, {name});
    }
}

void LockWorkload::wakes(core::NodeId node) {
    cached_.wakes(node);
}

void LockWorkload::cancel_sometimes(core::NodeId node, core::CallTag tag) {
    if (!prng_.one_in(6) || owed_.contains({node, tag})) return;
    const auto patience = prng_.between(0, 3 * world_.swarm.election_timeout.count());
    world_.heap.after(patience, [this, node, tag] {
        if (!waiting_.contains({node, tag}) || owed_.contains({node, tag})) return;
        if (!can_call(node)) return;
        world_.tally.probe("call cancelled");
        call(node, core::CancelCall{tag});
    });
}

void LockWorkload::inspect(core::NodeId node) {
    auto inspect = drawing_.inspect();
    inspect.tag = core::CallTag{++newest_tag_};
    waiting_.emplace(node, inspect.tag);
    history_.inspected(node, inspect);
    call(node, std::move(inspect));
}

void LockWorkload::transfer() {
    const auto leader = cluster_.leader();
    if (!leader.is_set() || !can_call(leader)) return;
    const auto target = cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
    cluster_.call(leader, core::TransferLeadership{target});
}

// --- holding ------------------------------------------------------------------------------------

void LockWorkload::hold_for_a_while(core::NodeId node, core::OperationId hold) {
    const auto* given = history_.book().find(hold);
    if (given == nullptr) return;  // the judge has reported that
    auto& held = holds_[hold];
    held.node = node;
    for (const auto& one : given->names)
        held.names.push_back({one.name, one.mode});
    if (held.names.size() > 1) world_.tally.probe("several names held");
    const auto timeout = world_.swarm.election_timeout.count();
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    // Most holds are short, some are longer than a lease, a few last until the session ends.
    auto length = prng_.between(0, prng_.one_in(3) ? 2 * ttl : timeout / 2);
    const bool outlives = world_.swarm.workload.suspend_percent != 0 && prng_.one_in(2);
    if (outlives) length = prng_.between(0, 6 * ttl);
    if (prng_.one_in(30)) length = 20 * ttl;
    if (!core_.empty()) length = prng_.between(0, timeout / 10);
    world_.heap.after(length, [this, node, hold] { release(node, hold); });
    convert_sometimes(node, hold, length);
    confirm_sometimes(node, hold, length);
    write_sometimes(node, hold, length);
    break_sometimes(hold, length);
    watch_sometimes(node, hold);
}

void LockWorkload::release(core::NodeId node, core::OperationId hold) {
    const auto held = holds_.find(hold);
    if (held == holds_.end()) return;
    if (core_.empty() && held->second.keep_until > world_.heap.now()) {
        world_.heap.at(held->second.keep_until, [this, node, hold] { release(node, hold); });
        return;
    }
    if (!can_call(node)) {  // suspended: when it is awake
        world_.heap.after(world_.swarm.election_timeout.count(),
                          [this, node, hold] { release(node, hold); });
        return;
    }
    const auto ended = std::move(holds_.extract(held).mapped());
    if (cached_.keep(node, hold, ended.names)) {
        if (!prng_.one_in(3)) cached_.acquire_again(node, ended.names.front());
        return;
    }
    if (!can_call(node)) return;  // it died as it published the last user
    history_.releasing(hold);
    contentions_.released(hold);
    const auto tag = prng_.one_in(2) ? core::CallTag{++newest_tag_} : core::CallTag{};
    if (outside_) outside_->releasing(node, tag, hold);
    if (tag.is_set()) waiting_.emplace(node, tag);
    call(node, core::ReleaseCall{tag, hold});
    // unlock(), then try_lock(), succeeds (S20), unless another session wants the name.
    if (prng_.one_in(8) && can_call(node)) acquire(node);
}

// --- converting ---------------------------------------------------------------------------------

void LockWorkload::convert_sometimes(core::NodeId node, core::OperationId hold, SimTime within) {
    if (!core_.empty() || prng_.below(100) >= world_.swarm.workload.conversion_percent) return;
    world_.heap.after(prng_.between(0, within), [this, node, hold] { convert(node, hold); });
}

// Mostly when no other conversion of it is in progress. A hold of several names is not converted.
void LockWorkload::convert(core::NodeId node, core::OperationId hold) {
    const auto held = holds_.find(hold);
    if (held == holds_.end() || !core_.empty() || !can_call(node)) return;
    const bool under_way =
        std::ranges::any_of(conversions_, [&](const auto& one) { return one.second.hold == hold; });
    if ((under_way || held->second.names.size() > 1) && !prng_.one_in(8)) return;
    const auto mode = held->second.names.front().mode;
    auto call = drawing_.conversion(hold, mode, steady(node));
    cached_.make_ordinary(node, hold);
    if (!can_call(node)) return;  // it died of that
    const core::CallTag tag{newest_tag_ + 1};
    if (auto* upgrade = std::get_if<core::UpgradeCall>(&call)) {
        conversions_[tag] = {hold, core::LockMode::exclusive};
        ask(node, std::move(*upgrade));
    } else if (auto* downgrade = std::get_if<core::DowngradeCall>(&call)) {
        conversions_[tag] = {hold, downgrade->mode};
        ask(node, std::move(*downgrade));
    }
}

void LockWorkload::conversion_answered(const core::CallAnswer& answer) {
    const auto found = conversions_.extract(answer.tag);
    if (found.empty()) return;
    const auto [hold, mode] = found.mapped();
    const auto held = holds_.find(hold);
    if (held == holds_.end()) return;
    if (std::holds_alternative<core::Converted>(answer.result)) {
        held->second.names.front().mode = mode;
    }
    convert_sometimes(held->second.node, hold, world_.swarm.election_timeout.count());
}

// --- publications of nodes ----------------------------------------------------------------------

void LockWorkload::node_started(core::NodeId node) {
    if (outside_) outside_->node_started(node);
    if (!core_.contains(node)) return;
    ask_again();
}

void LockWorkload::notified(core::NodeId /*node*/, core::ClientId client,
                            core::ClientNotice&& notice) {
    if (clients_) clients_->notified(client, notice);
}

void LockWorkload::hung_up(core::NodeId /*node*/, core::ClientId client) {
    if (clients_) clients_->hung_up(client);
}

void LockWorkload::node_lost(core::NodeId node) {
    if (clients_) clients_->node_lost(node);
    history_.node_lost(node);
    contentions_.node_lost(node);
    closings_.node_lost(node);
    tellings_.node_lost(node);
    deadlines_.node_lost(node);
    if (outside_) outside_->node_lost(node);
    std::erase_if(conversions_, [&](const auto& one) {
        return waiting_.contains({node, one.first});
    });
    std::erase_if(waiting_, [&](const auto& who) { return who.first == node; });
    std::erase_if(holds_, [&](const auto& hold) { return hold.second.node == node; });
    cached_.node_lost(node);
    for (const auto& [who, name] : owed_) {
        if (who.first == node) to_ask_.emplace(node, name);
    }
    std::erase_if(owed_, [&](const auto& owed) { return owed.first.first == node; });
}

void LockWorkload::lease_changed(core::NodeId node, const core::LeaseChanged& lease) {
    cached_.lease_changed(lease);
    history_.lease_changed(node, lease);
    closings_.has_session(node, lease.session);
    if (outside_) outside_->lease_changed(lease, cluster_.at(node).now().boot);
}

void LockWorkload::applied(core::NodeId node, const core::Applied& applied) {
    history_.applied(node, applied);
    judge_openings(node, applied);
    tellings_.applied(history_.book());
    closure_times_.applied(node, applied, world_.heap.now());
    for (const auto& outcome : applied.outcomes) {
        if (const auto* asked = std::get_if<core::ReleaseAsked>(&outcome))
            contentions_.applied(node, *asked);
        if (const auto* ended = std::get_if<core::SessionEnded>(&outcome))
            closings_.ended(ended->session, ended->how);
    }
}

// S50: the specification judges the requests of a session by the access in its opening. While one
// member is too old, or the opener's node leads and lies, that access is unrestricted.
void LockWorkload::judge_openings(core::NodeId node, const core::Applied& applied) {
    const auto& swarm = world_.swarm;
    if (swarm.restricted.empty() || !core::has_commands(applied.entry.kind)) return;
    for (const auto& command : commands_in(applied.entry.payload).value_or(Batch{})) {
        const auto* opening = std::get_if<core::OpenSession>(&command);
        if (opening == nullptr) continue;
        const bool may_be_all = swarm.upgrade || swarm.lies;
        const bool is_all = opening->access == core::Access::all();
        if (opening->access == swarm.access_of(opening->node)) continue;
        if (!is_all || !may_be_all)
            world_.violations.report(node, "rights: a session has others than its node");
    }
}

void LockWorkload::answered(core::NodeId node, const core::CallAnswer& given) {
    const auto answer = cached_.as_told(given);
    world_.timeline.say(node, words_of(answer), answer.tag.raw());
    const Who who{node, answer.tag};
    if (waiting_.erase(who) == 0) {
        world_.violations.report(node, "call " + in_words(answer.tag) + " was answered twice");
        return;
    }
    history_.answered(node, answer, cluster_.at(node).driver().core().applied_index());
    deadlines_.answered(node, answer.tag);
    if (outside_) outside_->answered(node, answer);
    conversion_answered(answer);
    closings_.answered(node, answer);
    if (std::holds_alternative<core::Closed>(answer.result)) closed(node, answer.tag);
    if (std::holds_alternative<core::Denied>(answer.result))
        world_.tally.probe(world_.swarm.lies ? "denied by apply" : "denied by its own node");
    const auto* acquired = std::get_if<core::Acquired>(&answer.result);
    if (acquired != nullptr) {
        cached_.granted(node, answer.tag, *acquired);
        hold_for_a_while(node, acquired->hold);
    }
    cached_.answered(node, answer.tag);
    const auto owed = owed_.find(who);
    if (owed == owed_.end()) return;
    // Requested again until it succeeds, because a session may just have ended.
    if (acquired == nullptr) to_ask_.emplace(node, owed->second);
    owed_.erase(owed);
    if (acquired == nullptr) ask_again_later(answer);
}

// A refusal comes at once, and a repeated request contains all names: one of them is enough.
void LockWorkload::ask_again_later(const core::CallAnswer& failed) {
    const auto* error = std::get_if<core::CallError>(&failed.result);
    const bool refused = error != nullptr && *error == core::CallError::resource_exhausted;
    if (refused && std::exchange(asks_again_, true)) return;
    world_.heap.after(world_.swarm.election_timeout.count() / 4, [this, refused] {
        if (refused) asks_again_ = false;
        ask_again();
    });
}

// The newest hold, which is most likely to last.
core::NodeId LockWorkload::holder(core::NodeId other_than) const {
    const auto found = std::find_if(holds_.rbegin(), holds_.rend(), [&](const auto& hold) {
        return hold.second.node != other_than;
    });
    return found == holds_.rend() ? core::NodeId{} : found->second.node;
}

void LockWorkload::contest(core::NodeId holder, SimTime length) {
    if (!core_.empty()) return;
    std::set<std::string> names;
    for (auto& [hold, held] : holds_) {
        if (held.node != holder) continue;
        held.keep_until = world_.heap.now() + length;
        for (const auto& one : held.names)
            names.insert(one.name);
    }
    for (const auto& name : names) {
        for (const auto node : cluster_.ids()) {
            if (node == holder || !can_call(node)) continue;
            core::AcquireCall call;
            call.request.names.push_back({name});
            ask(node, std::move(call));
        }
    }
}

// --- liveness -----------------------------------------------------------------------------------

void LockWorkload::begin_liveness(const std::vector<core::NodeId>& core) {
    stopped_ = true;
    core_.insert(core.begin(), core.end());
    const auto hears = [&](core::NodeId node) {
        return core_.contains(node) || node == world_.never_flushes;
    };
    // Earlier requests must not be ahead in the queues.
    for (const auto& [node, tag] : std::set{waiting_}) {
        if (hears(node) && can_call(node)) call(node, core::CancelCall{tag});
    }
    // Holds that were to last long are released, so that all nodes can get the names.
    for (const auto& [hold, held] : std::map{holds_}) {
        if (hears(held.node)) release(held.node, hold);
    }
    constexpr std::uint64_t asked_max = 5;
    for (const auto node : core) {
        for (std::uint64_t i = 0; i < std::min(world_.swarm.workload.names, asked_max); ++i) {
            const auto name = "name" + std::to_string(i);
            if (world_.swarm.access_of(node).may(core::Right::acquire, name))
                to_ask_.emplace(node, name);
        }
    }
    ask_again();
    if (clients_) clients_->begin_liveness(core);
}

void LockWorkload::ask_again() {
    for (const auto& [node, name] : std::set{to_ask_}) {
        if (!can_call(node)) continue;
        to_ask_.erase({node, name});
        core::AcquireCall call;
        call.request.names.push_back({name});
        owed_[{node, core::CallTag{newest_tag_ + 1}}] = name;
        ask(node, std::move(call));
    }
}

std::string LockWorkload::still_owed() const {
    if (!owed_.empty()) {
        const auto& [who, name] = *owed_.begin();
        return "node " + in_words(who.first) + " still waits for " + name;
    }
    if (!to_ask_.empty()) return "a name is still to be asked for";
    for (const auto& [who, call] : cached_.queued()) {
        if (core_.contains(who.first)) {
            return "call " + in_words(who.second) + " of node " + in_words(who.first) +
                   " waits for another caller";
        }
    }
    for (const auto node : core_) {
        if (closings_.is_closing(node)) return "node " + in_words(node) + " is being closed";
    }
    for (const auto& who : waiting_) {
        if (core_.contains(who.first)) {
            return "call " + in_words(who.second) + " of node " + in_words(who.first) +
                   " is not answered";
        }
    }
    return clients_ ? clients_->still_owed() : std::string{};
}

void LockWorkload::end() {
    if (!outside_) return;
    outside_->end();
    // For a few histories the search would not end; the witness has judged each of them already.
    constexpr std::size_t states_max = 500'000;
    const auto verdict = check::check(outside_->calls(), states_max);
    if (verdict.given_up == 0) world_.tally.probe("history judged from outside");
    if (verdict.explained) return;
    world_.violations.report({}, "from outside: " + verdict.name + ": " + verdict.why);
}

}  // namespace mortise::sim
