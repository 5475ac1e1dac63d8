#include "tests/sim/judges/outside_history.hpp"

#include <algorithm>

#include "core/base/overloaded.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

check::Outcome outcome_of(core::CallError error) {
    switch (error) {
        case core::CallError::deadlock:
        case core::CallError::invalid_argument:
        case core::CallError::kind_mismatch: return check::Outcome::refused;
        case core::CallError::cancelled: return check::Outcome::cancelled;
        case core::CallError::lock_lost: return check::Outcome::lost;
        case core::CallError::not_held: return check::Outcome::not_held;
        // If the leader did not take the request in time, its Cancel follows, and until that is
        // applied the request may still be granted.
        case core::CallError::resource_exhausted:
        case core::CallError::timed_out:
        case core::CallError::no_quorum:
        case core::CallError::session_expired: return check::Outcome::timed_out;
        case core::CallError::outcome_unknown:
        case core::CallError::node_stopped: break;
    }
    return check::Outcome::unknown;
}

}  // namespace

std::string OutsideHistory::process(core::NodeId node) const {
    const auto life = lives_.find(node);
    return "node" + in_words(node) + "." + std::to_string(life == lives_.end() ? 0 : life->second);
}

check::Time OutsideHistory::trusted(core::SessionId session) const {
    const auto known = trusted_.find(session);
    return known == trusted_.end() ? heap_.now() : known->second;
}

std::size_t OutsideHistory::say(check::Call call) {
    calls_.push_back(std::move(call));
    return calls_.size() - 1;
}

std::size_t OutsideHistory::ask(core::NodeId node, const core::NamedMode& wanted, bool waits) {
    check::Call said;
    said.process = process(node);
    said.operation = waits ? check::Operation::acquire : check::Operation::try_acquire;
    said.name = wanted.name;
    said.mode = wanted.mode;
    said.invoked = heap_.now();
    said.outcome = check::Outcome::unknown;
    return say(std::move(said));
}

// If not all of several names were free at once, that says nothing about any of them, so it is not
// reported as a try.
void OutsideHistory::asked(core::NodeId node, const core::AcquireCall& call) {
    const bool all = call.request.which == core::Acquire::Which::all;
    auto& places = open_[{node, call.tag}];
    for (const auto& wanted : call.request.names)
        places.push_back(ask(node, wanted, call.request.wait || all));
}

// A suspended hold was not used since its lease ended.
OutsideHistory::Held OutsideHistory::let_go(core::OperationId hold) {
    auto held = holds_.extract(hold);
    if (held.empty()) return {};
    const auto until = trusted(hold.session);
    if (until < heap_.now()) over(held.mapped(), until);
    return std::move(held.mapped());
}

void OutsideHistory::converting(core::NodeId node, core::OperationId hold) {
    const auto held = let_go(hold);
    for (auto said : held.said) {
        said.operation = check::Operation::release;
        said.invoked = heap_.now();
        said.outcome = check::Outcome::unknown;
        const auto name = said.name;
        say(std::move(said));
        ask(node, {name, core::LockMode::exclusive}, true);
    }
}

void OutsideHistory::releasing(core::NodeId node, core::CallTag tag, core::OperationId hold) {
    const auto held = let_go(hold);
    for (auto said : held.said) {
        said.operation = check::Operation::release;
        said.invoked = heap_.now();
        said.outcome = check::Outcome::unknown;
        const auto place = say(std::move(said));
        if (tag.is_set()) open_[{node, tag}].push_back(place);
    }
}

void OutsideHistory::answered(core::NodeId node, const core::CallAnswer& answer) {
    const auto open = open_.extract({node, answer.tag});
    if (open.empty()) return;
    const auto& places = open.mapped();
    auto outcome = check::Outcome::unknown;
    std::visit(core::Overloaded{
                   [&](const core::Busy&) { outcome = check::Outcome::busy; },
                   [&](const core::Released&) { outcome = check::Outcome::released; },
                   [&](core::CallError error) { outcome = outcome_of(error); },
                   [&](const core::Deadlocked&) { outcome = check::Outcome::refused; },
                   // The other names of a request for any are not held.
                   [&](const core::Acquired&) { outcome = check::Outcome::cancelled; },
                   [](const auto&) {},
               },
               answer.result);
    for (const auto place : places) {
        calls_[place].returned = heap_.now();
        calls_[place].outcome = outcome;
    }
    if (const auto* acquired = std::get_if<core::Acquired>(&answer.result)) {
        std::map<std::string, core::FencingToken> tokens;
        for (const auto& part : acquired->parts)
            tokens.emplace(part.name, part.token);
        granted(places, node, acquired->hold, tokens);
    }
}

void OutsideHistory::granted(const Places& places, core::NodeId node, core::OperationId hold,
                             const std::map<std::string, core::FencingToken>& tokens) {
    auto& held = holds_[hold];
    held.node = node;
    for (const auto place : places) {
        auto& call = calls_[place];
        const auto token = tokens.find(call.name);
        if (token == tokens.end()) continue;
        call.outcome = check::Outcome::granted;
        call.token = token->second.raw();
        call.valid_until = trusted(hold.session);
        call.hold = place + 1;
        check::Call said;
        said.process = call.process;
        said.name = call.name;
        said.mode = call.mode;
        said.token = call.token;
        said.hold = call.hold;
        held.said.push_back(std::move(said));
    }
}

void OutsideHistory::lease_changed(const core::LeaseChanged& lease, core::Instant boot) {
    const auto left = (lease.valid_until - boot).count();
    const auto until = heap_.now() + left * 100 / 101;
    auto& known = trusted_[lease.session];
    known = std::max(known, until);
    if (left <= 0) return;
    for (const auto& [hold, held] : holds_) {
        if (hold.session != lease.session) continue;
        for (auto said : held.said) {
            said.operation = check::Operation::valid;
            said.invoked = heap_.now();
            said.returned = heap_.now();
            said.valid_until = known;
            say(std::move(said));
        }
    }
}

void OutsideHistory::over(const Held& held, check::Time at) {
    for (auto said : held.said) {
        said.operation = check::Operation::lost;
        said.invoked = at;
        said.returned = at;
        say(std::move(said));
    }
}

void OutsideHistory::lost(const core::HoldLost& lost) {
    const auto held = holds_.extract(lost.hold);
    if (held.empty()) return;
    over(held.mapped(), std::min(heap_.now(), trusted(lost.hold.session)));
}

void OutsideHistory::node_lost(core::NodeId node) {
    check::Call said;
    said.process = process(node);
    said.operation = check::Operation::died;
    said.invoked = heap_.now();
    said.returned = heap_.now();
    say(std::move(said));
    ++lives_[node];
    std::erase_if(open_, [&](const auto& call) { return call.first.first == node; });
    for (auto at = holds_.begin(); at != holds_.end();) {
        const auto next = std::next(at);
        if (at->second.node == node) orphans_.insert(holds_.extract(at));
        at = next;
    }
}

// It may end its former session at once (S10).
void OutsideHistory::node_started(core::NodeId node) {
    std::erase_if(orphans_, [&](const auto& orphan) {
        if (orphan.second.node != node) return false;
        over(orphan.second, std::min(heap_.now(), trusted(orphan.first.session)));
        return true;
    });
}

// A suspended machine has not noticed the end of its lease. The hold is not used any more
// nevertheless.
void OutsideHistory::end() {
    for (const auto& [hold, held] : holds_) {
        const auto until = trusted(hold.session);
        if (until <= heap_.now()) over(held, until);
    }
}

}  // namespace mortise::sim
