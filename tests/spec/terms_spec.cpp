// The time limits of holds (S8, S9), as the rules are written.
//
// What they leave open is decided here:
// - a hold gets numbers for its quorum timers at its grant, whether they are ever counted or not;
// - a max_hold is counted by a clock that may be slow by the session's rho, until one that may be
//   fast by rho is certainly past it; a min_hold and a lock_delay until one that may be fast is
//   past them;
// - a break ends a min_hold and a lock_delay, because it reopens the name.
#include <algorithm>

#include "tests/spec/lock_spec.hpp"

namespace mortise::spec {

using core::Closure;
using core::ClosureId;
using core::OperationId;
using core::Predecessor;

namespace {

constexpr std::uint64_t million = 1'000'000;

// The shortest time that is not too short on a clock that is fast by rho.
std::uint64_t longer(std::uint64_t ms, std::uint64_t rho) {
    auto longer = ms + ms / million * rho;
    while (longer * million < ms * (million + rho))
        ++longer;
    return longer;
}

// The shortest time that is not too short on a clock that is slow by rho.
std::uint64_t longest(std::uint64_t ms, std::uint64_t rho) {
    auto longest = ms;
    while (longest * (million - rho) < ms * million)
        ++longest;
    return longest;
}

}  // namespace

core::HoldTerms LockSpec::counted(OperationId operation, const core::HoldTerms& terms) const {
    const auto rho = live(operation.session)->opened.rho_ppm;
    const auto ms = [](std::uint64_t time) { return static_cast<std::uint32_t>(time); };
    return {ms(longest(longer(terms.max_hold_ms, rho), rho)), ms(longer(terms.min_hold_ms, rho)),
            ms(longer(terms.lock_delay_ms, rho))};
}

void LockSpec::begin_terms(Hold& hold, const core::HoldTerms& terms) {
    hold.grant.terms = terms;
    hold.grant.closures = newest_closure_.next();
    for (int times = 3; times > 0; --times)
        newest_closure_ = newest_closure_.next();
    if (terms.min_hold_ms != 0) begin(hold, Closure::Kind::min_hold);
}

void LockSpec::begin(const Hold& hold, Closure::Kind kind) {
    using enum Closure::Kind;
    const auto& terms = hold.grant.terms;
    auto id = hold.grant.closures;
    if (kind != min_hold) id = id.next();
    if (kind == lock_delay) id = id.next();
    const auto others = kind == lock_delay ? terms.lock_delay_ms : terms.max_hold_ms;
    const auto time = kind == min_hold ? terms.min_hold_ms : others;
    closing_.push_back({id, kind, hold.name, hold.grant.operation});
    outcomes_.emplace_back(
        core::ClosureBegun{id, kind, hold.name, hold.grant.operation, index_, time, 0});
}

void LockSpec::end(ClosureId closure) {
    if (std::erase_if(closing_, [&](const Closing& one) { return one.id == closure; }) != 0) {
        outcomes_.emplace_back(core::ClosureEnded{closure});
    }
}

void LockSpec::end_all(OperationId hold, const std::string& name,
                       const std::set<Closure::Kind>& kinds) {
    for (const auto& one : std::vector{closing_}) {
        if (one.hold == hold && one.name == name && kinds.contains(one.kind)) end(one.id);
    }
}

bool LockSpec::is_kept(OperationId hold, std::string_view name) const {
    return std::ranges::any_of(closing_, [&](const Closing& one) {
        const bool keeps =
            one.kind == Closure::Kind::min_hold || one.kind == Closure::Kind::lock_delay;
        return keeps && one.hold == hold && one.name == name;
    });
}

bool LockSpec::is_to_stay(const core::Grant& grant, std::string_view name) const {
    if (grant.left) return true;
    const bool is_lost = find_session(grant.operation.session)->ended != core::SessionEnd::closed;
    const bool delays = is_lost && grant.terms.lock_delay_ms != 0;
    return !grant.broken && (delays || is_kept(grant.operation, name));
}

std::set<Closure::Kind> LockSpec::closed_by(const core::Grant& grant, std::string_view name) const {
    std::set<Closure::Kind> kinds;
    for (const auto& one : closing_) {
        if (one.hold == grant.operation && one.name == name) kinds.insert(one.kind);
    }
    kinds.erase(Closure::Kind::max_hold);
    const bool ended = !grant.left && live(grant.operation.session) == nullptr;
    const bool lost =
        ended && find_session(grant.operation.session)->ended != core::SessionEnd::closed;
    if (lost && grant.terms.lock_delay_ms != 0) kinds.insert(Closure::Kind::lock_delay);
    return kinds;
}

std::optional<LockSpec::Closing> LockSpec::find_closing(ClosureId id) const {
    for (const auto& one : closing_) {
        if (one.id == id) return one;
    }
    return std::nullopt;
}

// From here on its node has known of the hold for as long as the cluster counts.
void LockSpec::count_max_holds(const Session& session, core::LogIndex received) {
    for (const auto& hold : std::vector{holds_}) {
        const auto& grant = hold.grant;
        const bool its = grant.operation.session == session.id && grant.is_held();
        if (!its || grant.terms.max_hold_ms == 0 || grant.since > received) continue;
        const auto is_it = [&](const Closing& one) {
            return one.kind == Closure::Kind::max_hold && one.name == hold.name &&
                   one.hold == grant.operation;
        };
        if (std::ranges::none_of(closing_, is_it)) begin(hold, Closure::Kind::max_hold);
    }
}

bool LockSpec::open(const std::string& name, core::FencingToken token) {
    bool opened = false;
    for (const auto& holder : holders(name)) {
        if (!holder.left || holder.token != token) continue;
        go(holder.operation, name, *holder.left);
        opened = true;
    }
    return opened;
}

void LockSpec::on(const core::EndClosure& command) {
    if (era_closure_.is_set() && command.closure == era_closure_) {
        era_closure_ = {};
        outcomes_.emplace_back(core::ClosureEnded{command.closure});
        return;
    }
    if (const auto known = find_closing(command.closure)) clear(known->name);
    const auto over = find_closing(command.closure);
    if (!over) return;  // it ended with its session
    const auto& [id, kind, name, hold] = *over;
    if (kind == Closure::Kind::broken) {
        leave(hold, name, Predecessor::broken);
    } else if (kind == Closure::Kind::max_hold) {
        broken_.insert(hold);
        cancel_upgrade_of(hold);
        leave(hold, name, Predecessor::expired);
    } else {
        end(id);
        const auto left = find_hold(hold, name).grant.left;
        if (left && !is_kept(hold, name)) go(hold, name, *left);
    }
    settle({name});
}

}  // namespace mortise::spec
