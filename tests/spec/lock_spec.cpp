#include "tests/spec/lock_spec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/origin.hpp"
#include "tests/spec/mode_rules.hpp"

namespace mortise::spec {

using core::Answer;
using core::Answered;
using core::AnswerKind;
using core::FencingToken;
using core::LockMode;
using core::LockView;
using core::NodeId;
using core::OperationId;
using core::Outcomes;
using core::Predecessor;
using core::Previous;
using core::QueuePolicy;
using core::Seq;
using core::SessionEnd;
using core::SessionId;
using Waiting = core::LockView::Waiting;

namespace {

// S27: a mode that conflicts with nothing that the held mode admits.
bool is_weaker_or_equal(LockMode mode, LockMode held) {
    for (const auto other : core::all_lock_modes) {
        if (!clash(held, other) && clash(mode, other)) return false;
    }
    return true;
}

bool prefers(QueuePolicy policy) {
    return policy == QueuePolicy::prefer_readers || policy == QueuePolicy::prefer_writers;
}

Predecessor left_by(SessionEnd how) {
    return how == SessionEnd::closed ? Predecessor::clean : Predecessor::expired;
}

core::ClosureId closure_of(const core::Outcome& outcome) {
    if (const auto* begun = std::get_if<core::ClosureBegun>(&outcome)) return begun->closure;
    const auto* ended = std::get_if<core::ClosureEnded>(&outcome);
    return ended == nullptr ? core::ClosureId{} : ended->closure;
}

struct ByKind {
    Outcomes grants;
    Outcomes begun;  // in the order of their numbers
    Outcomes ended;
    Outcomes others;

    friend bool operator==(const ByKind&, const ByKind&) = default;
};

ByKind by_kind(const Outcomes& outcomes) {
    ByKind sorted;
    for (const auto& outcome : outcomes) {
        const auto* answered = std::get_if<Answered>(&outcome);
        const bool grants = answered != nullptr && answered->answer.kind == AnswerKind::granted;
        auto& others = grants ? sorted.grants : sorted.others;
        auto& begun = std::holds_alternative<core::ClosureBegun>(outcome) ? sorted.begun : others;
        (std::holds_alternative<core::ClosureEnded>(outcome) ? sorted.ended : begun)
            .push_back(outcome);
    }
    std::ranges::stable_sort(sorted.begun, {}, closure_of);
    std::ranges::stable_sort(sorted.ended, {}, closure_of);
    return sorted;
}

}  // namespace

bool same(const Outcomes& a, const Outcomes& b) {
    return a == b || by_kind(a) == by_kind(b);
}

Outcomes LockSpec::apply(core::LogIndex index, const std::vector<core::Command>& batch) {
    index_ = index;
    outcomes_.clear();
    for (const auto& command : batch) {
        std::visit([this](const auto& c) { on(c); }, command);
        end_command();
    }
    return std::move(outcomes_);
}

// What was acknowledged may be forgotten, but no session and no ceiling (docs/decisions/0095).
Outcomes LockSpec::begin_era(core::LogIndex index) {
    index_ = index;
    outcomes_.clear();
    ++eras_;
    // Nobody's token is above the ceiling, and nobody counts a timer that has got a new number.
    if (token_ceiling_ > newest_token_) newest_token_ = token_ceiling_;
    newest_closure_ = core::ClosureId{newest_closure_.raw() + (std::uint64_t{1} << 42U)};
    // How long the last of them may rely on its lease, as expiry counts it.
    const core::OpenSession* longest = nullptr;
    const auto patience = [](const core::OpenSession& one) {
        return std::uint64_t{one.ttl_ms} * 1'000'000 + std::uint64_t{one.ttl_ms} * one.rho_ppm;
    };
    for (const auto id : live_sessions()) {
        const auto& opened = find_session(id)->opened;
        if (longest == nullptr || patience(opened) > patience(*longest)) longest = &opened;
    }
    if (longest != nullptr) {
        newest_closure_ = era_closure_ = newest_closure_.next();
        outcomes_.emplace_back(core::ClosureBegun{era_closure_,
                                                  core::Closure::Kind::era,
                                                  {},
                                                  {},
                                                  index_,
                                                  longest->ttl_ms,
                                                  longest->rho_ppm});
    }
    for (const auto id : live_sessions())
        end(*live(id), SessionEnd::expired);
    end_command();
    return std::move(outcomes_);
}

void LockSpec::on(const core::RaiseCeiling& command) {
    if (command.to > token_ceiling_) token_ceiling_ = command.to;
}

// S33: a request that is refused at once is not queued.
void LockSpec::end_command() {
    const auto asked = std::exchange(asked_, {});
    refuse_deadlocks();
    if (asked.session.is_set() && !waited_names(asked).empty()) {
        outcomes_.emplace_back(core::Queued{asked});
    }
}

// --- sessions: S1-S4, S10, S11 --------------------------------------------------------------

void LockSpec::on(const core::OpenSession& command) {
    for (const auto& session : sessions_) {
        if (!session.ended && session.opened.nonce == command.nonce) {
            outcomes_.emplace_back(core::SessionOpened{session.id, command.nonce});
            return;
        }
    }
    for (const auto& session : sessions_) {
        if (session.opened.generation.incarnation != command.generation.incarnation) continue;
        const auto seen = session.opened.generation.boot_epoch;
        if (command.generation.boot_epoch < seen ||
            (command.generation.boot_epoch == seen && command.former_life_ended)) {
            outcomes_.emplace_back(
                core::OpenRefused{command.nonce, core::OpenRefusal::epoch_not_newer});
            return;
        }
    }
    if (era_closure_.is_set()) {
        outcomes_.emplace_back(core::OpenRefused{command.nonce, core::OpenRefusal::era});
        return;
    }
    if (command.former_life_ended) {
        for (auto& session : sessions_) {
            if (!session.ended &&
                session.opened.generation.incarnation == command.generation.incarnation) {
                end(session, SessionEnd::former_life);
            }
        }
    }
    const auto is_full = [&] {
        const auto live = live_sessions();
        if (live.size() >= core::sessions_max) return true;
        if (command.node.is_set() || live.size() < core::client_sessions_max) return false;
        const auto clients = std::ranges::count_if(
            live, [&](SessionId id) { return !find_session(id)->opened.node.is_set(); });
        return static_cast<std::size_t>(clients) >= core::client_sessions_max;
    };
    if (is_full()) {
        outcomes_.emplace_back(core::OpenRefused{command.nonce, core::OpenRefusal::table_full});
        return;
    }
    Session session;
    session.id = SessionId{sessions_.size() + 1};
    session.opened = command;
    session.renewed_at = index_;
    sessions_.push_back(session);
    outcomes_.emplace_back(core::SessionOpened{session.id, command.nonce});
}

void LockSpec::on(const core::Renew& command) {
    for (const auto& renewal : command.renewals) {
        auto* session = live(renewal.session);
        if (session == nullptr) {
            outcomes_.emplace_back(core::RenewalLost{renewal.session});
        } else if (renewal.number > session->renewal_number) {
            session->renewal_number = renewal.number;
            session->renewed_at = index_;
            core::SessionRenewed renewed{renewal.session, renewal.number};
            for (const auto operation : broken_) {
                if (operation.session == renewal.session) renewed.broken.push_back(operation.seq);
            }
            outcomes_.emplace_back(std::move(renewed));
        }
    }
}

void LockSpec::on(const core::Expire& command) {
    auto* session = live(command.session);
    if (session != nullptr && session->renewed_at == command.renewed_at) {
        end(*session, SessionEnd::expired);
    }
}

// One entry, in which nothing is granted: the next command that touches the names does that (S11).
void LockSpec::end(Session& session, SessionEnd how) {
    std::set<std::string> barriers;
    for (const auto& record : records_) {
        if (depends_on(record, session.id)) barriers.insert(record.name);
    }
    for (const auto& name : barriers)
        break_barrier(*find_record(name));
    session.ended = how;
    std::erase_if(broken_, [&](OperationId one) { return one.session == session.id; });
    has_dead_ = first_dead().seq.is_set();
    waited_done_ = false;
    waited_cursor_.clear();
    outcomes_.emplace_back(core::SessionEnded{session.id, how});
}

void LockSpec::on(const core::Sweep&) {
    auto traces = core::sweep_traces_max;
    for (auto names = core::sweep_names_max; needs_sweep() && names > 0; --names) {
        const auto waited = waited_done_ ? std::nullopt : next_waited(waited_cursor_);
        if (!waited) waited_done_ = true;
        const auto name = waited ? *waited : name_of(first_dead());
        const auto dead = dead_on(name);
        remove(dead, name, traces);
        if (dead.size() > traces) return;  // the next Sweep continues here
        traces -= dead.size();
        settle({name});
        if (waited) waited_cursor_ = name;
    }
}

// --- exactly once: S17 ----------------------------------------------------------------------

void LockSpec::on(const core::Acknowledge& command) {
    auto* session = live(command.session);
    if (session == nullptr) return;
    count_max_holds(*session, command.received);
    std::erase_if(session->answers,
                  [&](const KeptAnswer& kept) { return kept.at <= command.received; });
    session->answer_bytes = 0;
    for (const auto& kept : session->answers)
        session->answer_bytes += bytes_of(kept.answer);
}

// The requests of a session are applied in the order of their numbers, none twice and none left
// out.
void LockSpec::on(const core::Request& command) {
    auto* session = live(command.session);
    if (session == nullptr) return;
    const OperationId operation{command.session, command.seq};
    if (command.seq <= session->applied) {
        repeat(*session, operation);
        return;
    }
    if (command.seq.raw() > session->applied.raw() + 1) return;  // an earlier one is missing
    if (session->answers.size() >= 4 * core::operations_max) return;
    session->applied = command.seq;
    if (is_too_much(*session, command.body)) {
        answer(operation, {AnswerKind::resource_exhausted, {}, {}});
        return;
    }
    if (!is_allowed(session->opened.access, command.body)) {
        answer(operation, {AnswerKind::permission_denied, {}, {}});
        return;
    }
    std::visit([&](const auto& body) { on(operation, body); }, command.body);
}

// P11: the leader had no capacity for the request.
void LockSpec::on(OperationId operation, const core::Declined&) {
    answer(operation, {AnswerKind::resource_exhausted, {}, {}});
}

// S10.
void LockSpec::on(OperationId operation, const core::CloseSession&) {
    end(*live(operation.session), SessionEnd::closed);
}

// S50, by a table of what each role gives.
bool LockSpec::is_allowed(const core::Access& access, const core::RequestBody& body) {
    using core::AccessRole;
    using core::Right;
    static const std::map<AccessRole, std::set<Right>> given{
        {AccessRole::voter, {Right::acquire, Right::break_lock}},
        {AccessRole::learner, {Right::acquire, Right::break_lock}},
        {AccessRole::client, {Right::acquire}},
        {AccessRole::observer, {}},
        {AccessRole::admin, {Right::break_lock}}};
    const auto has = [&](Right right, const std::string& name) {
        bool by_role = false;
        for (const auto role : access.roles)
            by_role = by_role || given.at(role).contains(right);
        bool by_rule = access.rules.empty();
        for (const auto& rule : access.rules) {
            const bool begins_so = name.substr(0, rule.prefix.size()) == rule.prefix;
            by_rule = by_rule || (rule.right == right && begins_so);
        }
        return by_role && by_rule;
    };
    if (const auto* one = std::get_if<core::BreakLock>(&body))
        return has(Right::break_lock, one->name);
    if (std::holds_alternative<core::EvictSession>(body)) return has(Right::break_lock, "");
    if (const auto* one = std::get_if<core::AskRelease>(&body))
        return has(Right::acquire, one->name) || has(Right::break_lock, one->name);
    if (const auto* one = std::get_if<core::Resize>(&body)) return has(Right::acquire, one->name);
    if (const auto* one = std::get_if<core::Remove>(&body)) return has(Right::acquire, one->name);
    if (const auto* one = std::get_if<core::CountDown>(&body))
        return has(Right::acquire, one->name);
    if (const auto* one = std::get_if<core::AwaitLatch>(&body))
        return has(Right::acquire, one->name);
    if (const auto* one = std::get_if<core::Arrive>(&body)) return has(Right::acquire, one->name);
    const auto* acquire = std::get_if<core::Acquire>(&body);
    return acquire == nullptr || std::ranges::all_of(acquire->names, [&](const auto& one) {
               return has(Right::acquire, one.name);
           });
}

// P11: what a session has and did not acknowledge is bounded.
bool LockSpec::is_too_much(const Session& session, const core::RequestBody& body) const {
    const bool acquires = std::holds_alternative<core::Acquire>(body) ||
                          std::holds_alternative<core::AwaitLatch>(body) ||
                          std::holds_alternative<core::Arrive>(body);
    return acquires && (session.answers.size() >= 2 * core::operations_max ||
                        session.answer_bytes >= core::session_acquires_bytes_max ||
                        operations_of(session) >= 2 * core::holds_max);
}

// Each answer, and each name and step in it, counts 64 bytes and its text; a slot counts four.
std::size_t LockSpec::bytes_of(const core::Answer& answer) {
    std::size_t bytes = 64 + answer.previous.label.size();
    for (const auto& [name, token, previous, slots] : answer.names)
        bytes += 64 + name.size() + previous.label.size() + 4 * slots.size();
    for (const auto& step : answer.cycle)
        bytes += 64 + step.label.size() + step.waits_for.size();
    return bytes;
}

std::size_t LockSpec::operations_of(const Session& session) const {
    auto all = holds_.size();
    for (const auto& [name, places] : queues_)
        all += places.size();
    if (all < core::holds_max) return 0;  // whichever sessions have them
    const auto is_its = [&](OperationId id) { return id.session == session.id; };
    auto count = static_cast<std::size_t>(std::ranges::count_if(
        holds_, [&](const auto& hold) { return is_its(hold.grant.operation); }));
    for (const auto& [operation, names] : waited_) {
        if (is_its(operation)) count += names.size();
    }
    return count;
}

void LockSpec::repeat(const Session& session, OperationId operation) {
    if (!waited_names(operation).empty()) {
        outcomes_.emplace_back(core::Queued{operation});
        return;
    }
    for (const auto& kept : session.answers) {
        if (kept.seq == operation.seq) {
            outcomes_.emplace_back(Answered{operation, kept.answer});
            return;
        }
    }
    outcomes_.emplace_back(Answered{operation, {AnswerKind::stale_request, {}, {}}});
}

void LockSpec::answer(OperationId operation, Answer answer) {
    auto& session = *live(operation.session);
    session.answer_bytes += bytes_of(answer);
    session.answers.push_back({index_, operation.seq, answer});
    outcomes_.emplace_back(Answered{operation, std::move(answer)});
}

// --- requests: S16-S20, S37 -----------------------------------------------------------------

// False if there is no capacity for the names.
bool LockSpec::create(const Names& names, const core::Acquire& request,
                      const std::map<std::string, Previous>& last) {
    std::vector<Record> created;
    for (const auto& name : names) {
        if (find_record(name) != nullptr) continue;
        Record record;
        record.name = name;
        record.policy = request.policy;
        record.previous = last.at(name);
        if (request.permits != 0) record.limit = core::Semaphore::View{request.limit, 1};
        created.push_back(record);
    }
    if (records_.size() + created.size() > core::records_max) return false;
    records_.insert(records_.end(), created.begin(), created.end());
    return true;
}

bool LockSpec::is_left_by_too_many(const Names& names, const core::HoldTerms& terms) const {
    if (terms.min_hold_ms == 0 && terms.lock_delay_ms == 0) return false;
    return std::ranges::any_of(names, [&](const std::string& name) {
        const auto all = holders(name);
        return std::ranges::count_if(all, [](const auto& one) { return one.left.has_value(); }) >=
               4'096;
    });
}

bool LockSpec::is_mismatch(const std::string& name, const core::Acquire& request) const {
    for (const auto& record : records_) {
        if (record.name != name) continue;
        if (request.policy_given && record.policy != request.policy) return true;
        if (record.latch || record.barrier || record.limit.has_value() != (request.permits != 0))
            return true;
    }
    return false;
}

// S34: permits are for one name, and are neither shared nor cached. Who waits for them waits for
// nobody in particular, so no locker is tied to that.
bool may_be_permits(const core::Acquire& request) {
    if (request.permits == 0) return request.limit == 0;
    const bool one = request.names.size() == 1 && request.which == core::Acquire::Which::any;
    return one && request.names.front().mode == LockMode::exclusive && request.permits <= 1'024 &&
           request.limit >= 1 && request.limit <= 65'536 && request.cached_tokens == 0 &&
           request.locker.number == 0 && !request.policy_given &&
           request.policy == QueuePolicy::phase_fair;
}

// S43.
bool may_be_cached(const core::Acquire& request) {
    if (request.cached_tokens == 0) return true;
    const auto mode = request.names.front().mode;
    const bool one = request.names.size() == 1 && request.which == core::Acquire::Which::any;
    return one && (mode == LockMode::shared || mode == LockMode::exclusive) &&
           !request.terms.is_set() && request.cached_tokens <= core::cached_tokens_max;
}

// S43: a try waits, for its node to give it up, if all that is in its way is cached.
bool LockSpec::recalls(const std::string& name, LockMode mode) const {
    bool is_busy = false;
    for (const auto& holder : holders(name)) {
        if (!clash(holder.mode, mode)) continue;
        if (!holder.is_held() || holder.cached_tokens == 0) return false;
        is_busy = true;
    }
    return is_busy && places_on(name).empty();
}

// One name, or several: S32. The queue places of several are reported by name.
void LockSpec::on(OperationId operation, const core::Acquire& request) {
    const bool all = request.which == core::Acquire::Which::all;
    Names names;
    bool in_order = true;
    for (const auto& one : request.names) {
        if (all && !names.empty() && one.name <= *names.rbegin()) in_order = false;
        names.insert(one.name);
    }
    const bool distinct = names.size() == request.names.size();
    const bool is_sound = in_order && distinct && !names.empty() && names.size() <= 64;
    if (!is_sound || !may_be_cached(request) || !may_be_permits(request)) {
        answer(operation, {AnswerKind::invalid_argument, {}, {}});
        return;
    }
    std::map<std::string, Previous> last;
    for (const auto& one : request.names)
        last[one.name] = clear(one.name);
    for (const auto& name : names) {
        if (!is_mismatch(name, request)) continue;
        answer(operation, {AnswerKind::kind_mismatch, {}, {}});
        return;
    }
    // All at once, or the first one that is free.
    auto wanted = request.names;
    for (const auto& one : request.names) {
        if (all || !would_grant(one.name, one.mode, request.priority)) continue;
        wanted = {one};
        break;
    }
    Names queues;
    for (const auto& one : wanted)
        queues.insert(one.name);
    if (is_left_by_too_many(names, request.terms) || !create(all ? names : queues, request, last)) {
        answer(operation, {AnswerKind::resource_exhausted, {}, {}});
        return;
    }
    bool waits = request.wait;
    bool all_give_way = all;
    for (const auto& one : wanted) {
        const bool recalled = recalls(one.name, one.mode);
        const bool is_free = places_on(one.name).empty() && admits(one.name, one.mode);
        if (!all && recalled) waits = true;
        if (!recalled && !is_free) all_give_way = false;
    }
    if (all_give_way) waits = true;
    ++waits_ever_;
    const auto part_of_any = request.names.size() == 1 ? Part::alone : Part::one_of;
    for (const auto& [name, mode] : wanted) {
        const auto priority = all ? core::Priority{0} : request.priority;
        stand({name,
               {operation,
                mode,
                index_,
                request.label,
                priority,
                {},
                request.locker,
                !request.wait,
                request.permits},
               waits_ever_,
               0,
               all ? Part::all_of : part_of_any,
               counted(operation, request.terms),
               request.cached_tokens});
    }
    settle(queues);
    if (waited_names(operation).empty()) return;
    if (waits) {
        asked_ = operation;
    } else {
        withdraw(operation);
        answer(operation, {AnswerKind::busy, {}, {}});
        settle(queues);
    }
}

// --- several names: S32 ---------------------------------------------------------------------

// S32: no earlier request, and no conflicting holder, on any of its names.
bool LockSpec::serve_barrier(OperationId operation) {
    for (const auto& name : waited_names(operation)) {
        const auto& front = front_of(name)->waiting;
        if (upgrade_on(name) != nullptr || front.operation != operation) return false;
        if (!admits(name, front.mode)) return false;
    }
    grant_all(operation);
    return true;
}

void LockSpec::grant_all(OperationId operation) {
    Answer given{AnswerKind::granted, {}, {}};
    for (const auto& name : waited_names(operation)) {
        const auto wait = *front_of(name);
        withdraw(operation, name);
        given.names.push_back(hold(*find_record(name), wait));
        moved_.insert(name);
    }
    if (operation.session.is_set()) answer(operation, given);
}

// --- releases: S18, S19 ---------------------------------------------------------------------

void LockSpec::on(OperationId operation, const core::Release& release) {
    const OperationId target{operation.session, release.operation};
    clear_name_of(target);
    const bool confirms = broken_.erase(target) > 0;
    if (!held_names(target).empty()) {
        give_back(operation, target, confirms ? AnswerKind::lost : AnswerKind::released,
                  release.lost ? Predecessor::expired : Predecessor::clean);
    } else {
        answer(operation, {confirms ? AnswerKind::lost : AnswerKind::not_held, {}, {}});
    }
}

// S27: the upgrade that waits for the hold ends with it.
void LockSpec::give_back(OperationId operation, OperationId hold, AnswerKind kind,
                         Predecessor how) {
    const auto names = held_names(hold);
    const auto upgrade = upgrade_of(hold);
    for (const auto& name : names)
        leave(hold, name, how);
    answer(operation, {kind, {}, {}});
    if (upgrade) {
        withdraw(*upgrade);
        answer(*upgrade, {AnswerKind::cancelled, {}, {}});
    }
    settle(names);
}

void LockSpec::on(OperationId operation, const core::Cancel& cancel) {
    const OperationId target{operation.session, cancel.operation};
    for (const auto& name : waited_names(target)) {  // S35: an arrival that is given up
        if (find_record(name)->barrier) return on(operation, core::Quit{cancel.operation, name});
    }
    clear_name_of(target);
    const bool confirms = broken_.erase(target) > 0;
    if (const auto waited = waited_names(target); !waited.empty()) {
        withdraw(target);
        answer(target, {AnswerKind::cancelled, {}, {}});
        answer(operation, {AnswerKind::cancelled, {}, {}});
        settle(waited);
    } else if (!held_names(target).empty()) {
        give_back(operation, target, confirms ? AnswerKind::lost : AnswerKind::released,
                  Predecessor::clean);
    } else {
        answer(operation, {confirms ? AnswerKind::lost : AnswerKind::not_held, {}, {}});
    }
}

// --- values: S36 ----------------------------------------------------------------------------

// The exclusive holder of the name may write; then this returns `stored`. A semaphore has no value.
AnswerKind LockSpec::may_write(OperationId hold, const std::string& name) {
    clear_name_of(hold);
    if (find_hold(hold) == nullptr) return AnswerKind::not_held;
    if (!held_names(hold).contains(name)) return AnswerKind::invalid_argument;
    const bool exclusive =
        find_hold(hold, name).grant.mode == LockMode::exclusive && !find_record(name)->limit;
    return exclusive ? AnswerKind::stored : AnswerKind::invalid_argument;
}

void LockSpec::on(OperationId operation, const core::SetValue& request) {
    auto kind = may_write({operation.session, request.operation}, request.name);
    if (kind == AnswerKind::stored) {
        std::size_t all = request.bytes.size();
        for (const auto& record : records_) {
            if (record.value && record.name != request.name) all += record.value->bytes.size();
        }
        auto& value = find_record(request.name)->value;
        if (all > core::values_bytes_max) {
            kind = AnswerKind::resource_exhausted;
        } else if (request.bytes.empty()) {
            value.reset();
        } else {
            if (!value) value.emplace();
            value->bytes = request.bytes;
            ++value->version;
        }
    }
    answer(operation, {kind, {}, {}});
}

void LockSpec::on(OperationId operation, const core::MarkConsistent& request) {
    const auto kind = may_write({operation.session, request.operation}, request.name);
    if (kind == AnswerKind::stored) {
        auto& value = find_record(request.name)->value;
        if (value) value->dirty = false;
    }
    answer(operation, {kind, {}, {}});
}

// --- semaphores: S34, S37 -------------------------------------------------------------------

void LockSpec::on(OperationId operation, const core::Resize& request) {
    if (request.limit > 65'536) return answer(operation, {AnswerKind::invalid_argument, {}, {}});
    const auto last = clear(request.name);
    const auto* known = find_record(request.name);
    if (known != nullptr && !known->limit)
        return answer(operation, {AnswerKind::kind_mismatch, {}, {}});
    const auto version = known == nullptr ? 1 : known->limit->version;
    if (request.expected_version != 0 && request.expected_version != version)
        return answer(operation, {AnswerKind::busy, {}, {}});
    core::Acquire created;
    created.permits = created.limit = 1;
    if (!create({request.name}, created, {{request.name, last}}))
        return answer(operation, {AnswerKind::resource_exhausted, {}, {}});
    find_record(request.name)->limit = core::Semaphore::View{request.limit, version + 1};
    answer(operation, {AnswerKind::stored, {}, {}});
    settle({request.name});
}

void LockSpec::on(OperationId operation, const core::Remove& request) {
    clear(request.name);
    const bool is_used = !holders(request.name).empty() || !places_on(request.name).empty();
    if (!is_used)
        std::erase_if(records_, [&](const Record& one) { return one.name == request.name; });
    answer(operation, {is_used ? AnswerKind::busy : AnswerKind::stored, {}, {}});
}

// --- latches: S35, S37 ----------------------------------------------------------------------

// A latch that does not exist has everything to count that the request expects.
std::optional<AnswerKind> LockSpec::make_latch(const std::string& name, std::uint32_t expected,
                                               std::uint32_t count) {
    if (expected > 0x7fff'ffff) return AnswerKind::invalid_argument;
    clear(name);
    const auto* known = find_record(name);
    if (known != nullptr && !known->latch) return AnswerKind::kind_mismatch;
    if (count > (known == nullptr ? expected : known->latch->remaining))
        return AnswerKind::invalid_argument;
    if (!create({name}, core::Acquire{}, {{name, Previous{}}}))
        return AnswerKind::resource_exhausted;
    auto& latch = find_record(name)->latch;
    if (!latch) latch = core::Latch::View{expected};
    return std::nullopt;
}

void LockSpec::on(OperationId operation, const core::CountDown& request) {
    if (const auto refused = make_latch(request.name, request.expected, request.count))
        return answer(operation, {*refused, {}, {}});
    find_record(request.name)->latch->remaining -= request.count;
    answer(operation, {AnswerKind::stored, {}, {}});
    settle({request.name});
}

void LockSpec::on(OperationId operation, const core::AwaitLatch& request) {
    if (const auto refused = make_latch(request.name, request.expected, 0))
        return answer(operation, {*refused, {}, {}});
    stand({request.name, {operation, LockMode::exclusive, index_, request.label}, ++waits_ever_});
    asked_ = operation;
    settle({request.name});
}

// Who waits passes when nothing is left to count, and has nothing from it.
bool LockSpec::pass(const std::string& name) {
    const auto* first = front_of(name);
    if (first == nullptr || find_record(name)->latch->remaining > 0) return false;
    const auto operation = first->waiting.operation;
    withdraw(operation);
    answer(operation, {AnswerKind::passed, {}, {}});
    return true;
}

// --- barriers: S35, S37 ---------------------------------------------------------------------

// A party of the session has not dropped.
bool LockSpec::depends_on(const Record& record, SessionId session) {
    return record.barrier && std::ranges::any_of(record.barrier->known, [&](const Party& party) {
               return party.session == session && !party.drops;
           });
}

std::size_t LockSpec::barriers_of(SessionId session) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        records_, [&](const Record& record) { return depends_on(record, session); }));
}

void LockSpec::on(OperationId operation, const core::Arrive& request) {
    const auto refuse = [&](AnswerKind kind) { answer(operation, {kind, {}, {}}); };
    if (request.parties == 0 || request.parties > 1'024)
        return refuse(AnswerKind::invalid_argument);
    clear(request.name);
    const auto session = operation.session;
    auto* record = find_record(request.name);
    const bool takes_part = record != nullptr && depends_on(*record, session);
    if (!takes_part && barriers_of(session) >= 64) return refuse(AnswerKind::resource_exhausted);
    if (record != nullptr && !record->barrier) return refuse(AnswerKind::kind_mismatch);
    if (record == nullptr) {
        if (!create({request.name}, core::Acquire{}, {{request.name, Previous{}}}))
            return refuse(AnswerKind::resource_exhausted);
        record = find_record(request.name);
        record->barrier = Meeting{request.parties, 0, false, {}};
    }
    auto& meeting = *record->barrier;
    if (meeting.is_broken) return refuse(AnswerKind::barrier_broken);
    const auto is_its = [&](const Party& one) {
        return one.session == session && !one.has_arrived;
    };
    auto party = std::ranges::find_if(meeting.known, is_its);
    if (party == meeting.known.end()) {
        if (meeting.known.size() == meeting.parties) return refuse(AnswerKind::invalid_argument);
        party = meeting.known.insert(party, {session});
    }
    party->has_arrived = true;
    party->drops = request.drops;
    const auto have_arrived = std::ranges::count(meeting.known, true, &Party::has_arrived);
    const bool is_last = have_arrived == meeting.parties;
    if (request.drops || is_last) {
        refuse(request.drops ? AnswerKind::stored : AnswerKind::passed);
    } else {
        stand(
            {request.name, {operation, LockMode::exclusive, index_, request.label}, ++waits_ever_});
        asked_ = operation;
    }
    if (!is_last) return;
    meeting.parties -= static_cast<std::uint32_t>(
        std::erase_if(meeting.known, [](const Party& one) { return one.drops; }));
    for (auto& one : meeting.known)
        one.has_arrived = false;
    ++meeting.phase;
    answer_waiters(request.name, AnswerKind::passed);
}

// Whether it waits still, or has passed, or was never there.
void LockSpec::on(OperationId operation, const core::Quit& request) {
    auto* record = find_record(request.name);
    const bool takes_part = record != nullptr && depends_on(*record, operation.session);
    answer(operation, {takes_part ? AnswerKind::cancelled : AnswerKind::not_held, {}, {}});
    if (takes_part) break_barrier(*record);
}

void LockSpec::break_barrier(Record& record) {
    record.barrier->known.clear();
    record.barrier->is_broken = true;
    answer_waiters(record.name, AnswerKind::barrier_broken);
}

void LockSpec::answer_waiters(const std::string& name, AnswerKind kind) {
    while (const auto* front = front_of(name)) {
        const auto operation = front->waiting.operation;
        withdraw(operation);
        answer(operation, {kind, {}, {}});
    }
}

// --- cached grants: S45 ---------------------------------------------------------------------

void LockSpec::on(OperationId operation, const core::Publish& request) {
    const OperationId target{operation.session, request.operation};
    clear_name_of(target);
    auto* hold = find_hold(target);
    if (hold == nullptr) return answer(operation, {AnswerKind::not_held, {}, {}});
    auto& grant = hold->grant;
    if (grant.cached_tokens == 0 || !grant.has_token(request.token) || upgrade_of(target))
        return answer(operation, {AnswerKind::invalid_argument, {}, {}});
    grant.cached_tokens = 0;
    grant.token = request.token;
    grant.label = request.label;
    grant.locker = request.locker;
    has_lockers_ = has_lockers_ || request.locker.is_set();
    answer(operation, {AnswerKind::stored, {}, {}});
    if (request.ended) return;  // it is about to be released
    refuse_reader_that_upgrades(hold->name);
    refuse_tries(hold->name);
}

// S27: a reader that upgrades has another reader beside it.
void LockSpec::refuse_reader_that_upgrades(std::string name) {
    const auto* wait = upgrade_on(name);
    if (wait == nullptr) return;
    const auto upgrade = wait->waiting;
    const OperationId upgraded{upgrade.operation.session, upgrade.upgrades};
    if (find_hold(upgraded, name).grant.mode != LockMode::shared) return;
    withdraw(upgrade.operation);
    answer(upgrade.operation, {AnswerKind::deadlock, {}, {}});
    settle({name});
}

// S43: what the tries wait for is in use.
void LockSpec::refuse_tries(std::string name) {
    std::vector<OperationId> tries;
    for (const auto& wait : places_on(name)) {
        if (wait.waiting.is_try) tries.push_back(wait.waiting.operation);
    }
    for (const auto one : tries) {
        const auto waited = waited_names(one);
        if (waited.empty()) continue;
        withdraw(one);
        answer(one, {AnswerKind::busy, {}, {}});
        settle(waited);
    }
}

// --- breaks: S24 ----------------------------------------------------------------------------

void LockSpec::on(OperationId operation, const core::BreakLock& request) {
    clear(request.name);
    std::vector<OperationId> all;
    std::vector<OperationId> fresh;
    for (const auto& holder : holders(request.name)) {
        if (!holder.has_token(request.expected) || holder.left) continue;
        all.push_back(holder.operation);
        if (!holder.broken) fresh.push_back(holder.operation);
    }
    const bool opens = open(request.name, request.expected);
    if (all.empty() && !opens) return answer(operation, {AnswerKind::not_held, {}, {}});
    answer(operation, {AnswerKind::broken, {}, {}});
    if (opens || !fresh.empty() || request.immediate) {
        outcomes_.emplace_back(core::LockBroken{operation, request.name, request.expected, fresh,
                                                request.reason, request.immediate,
                                                request.asked_by});
    }
    for (const auto hold : fresh) {
        broken_.insert(hold);
        cancel_upgrade_of(hold);
        if (!request.immediate) close(request.name, hold);
    }
    if (request.immediate) {
        for (const auto hold : all)
            leave(hold, request.name, Predecessor::broken);
    }
    settle({request.name});
}

// No renewal has a greater number.
void LockSpec::on(OperationId operation, const core::EvictSession& request) {
    auto* session = live(request.session);
    answer(operation, {session != nullptr ? AnswerKind::broken : AnswerKind::not_held, {}, {}});
    if (session == nullptr) return;
    outcomes_.emplace_back(core::SessionEvicted{operation, request.session, session->opened.node,
                                                request.reason, request.immediate,
                                                request.asked_by});
    session->renewal_number = UINT64_MAX;
    if (request.immediate) end(*session, SessionEnd::expired);
}

void LockSpec::on(OperationId operation, const core::AskRelease& request) {
    clear(request.name);
    core::ReleaseAsked asked{operation, request.name, {}, request.reason};
    for (const auto& holder : holders(request.name)) {
        if (holder.is_held()) asked.holds.push_back(holder.operation);
    }
    const bool is_held = !asked.holds.empty();
    answer(operation, {is_held ? AnswerKind::asked : AnswerKind::not_held, {}, {}});
    if (is_held) outcomes_.emplace_back(std::move(asked));
}

// Of this name; if several names are held together, each is broken separately.
void LockSpec::cancel_upgrade_of(OperationId hold) {
    const auto upgrade = upgrade_of(hold);
    if (!upgrade) return;
    withdraw(*upgrade);
    answer(*upgrade, {AnswerKind::cancelled, {}, {}});
}

void LockSpec::close(const std::string& name, OperationId hold) {
    auto& grant = find_hold(hold, name).grant;
    grant.broken = true;
    set_label_if_none(grant);
    auto& value = find_record(name)->value;
    if (value && grant.mode == LockMode::exclusive) value->dirty = true;
    using enum core::Closure::Kind;
    end_all(hold, name, {min_hold, max_hold});
    newest_closure_ = newest_closure_.next();
    closing_.push_back({newest_closure_, broken, name, hold});
    const auto& session = *live(hold.session);
    outcomes_.emplace_back(core::ClosureBegun{newest_closure_, broken, name, hold,
                                              session.renewed_at, session.opened.ttl_ms,
                                              session.opened.rho_ppm});
}

// --- conversions: S27, S28 ------------------------------------------------------------------

void LockSpec::on(OperationId operation, const core::Downgrade& downgrade) {
    const OperationId target{operation.session, downgrade.operation};
    clear_name_of(target);
    auto* hold = find_hold(target);
    if (hold == nullptr) {
        answer(operation, {AnswerKind::not_held, {}, {}});
    } else if (held_names(target).size() > 1) {
        // S32: these names stay together
        answer(operation, {AnswerKind::invalid_argument, {}, {}});
    } else if (!is_weaker_or_equal(downgrade.mode, hold->grant.mode) || upgrade_of(target) ||
               find_record(hold->name)->limit) {
        answer(operation, {AnswerKind::invalid_argument, {}, {}});
    } else {
        hold->grant.mode = downgrade.mode;
        hold->grant.cached_tokens = 0;
        answer(operation, {AnswerKind::converted, hold->grant.token, {}});
        settle({hold->name});
    }
}

void LockSpec::on(OperationId operation, const core::Upgrade& upgrade) {
    const OperationId target{operation.session, upgrade.operation};
    clear_name_of(target);
    auto* hold = find_hold(target);
    if (hold == nullptr) return answer(operation, {AnswerKind::not_held, {}, {}});
    const auto mode = hold->grant.mode;
    const bool may = mode == LockMode::shared || mode == LockMode::update;
    if (!may || upgrade_of(target) || held_names(target).size() > 1) {
        answer(operation, {AnswerKind::invalid_argument, {}, {}});
    } else if (holders(hold->name).size() == 1) {
        make_exclusive(*hold);
        answer(operation, {AnswerKind::converted, hold->grant.token, {}});
    } else if (!upgrade.wait) {
        answer(operation, {AnswerKind::busy, {}, {}});
    } else if (mode == LockMode::shared && !recalls_others(*hold)) {
        answer(operation, {AnswerKind::deadlock, {}, {}});
    } else {
        stand(
            {hold->name,
             {operation, LockMode::exclusive, index_, {}, 0, upgrade.operation, hold->grant.locker},
             ++waits_ever_});
        asked_ = operation;
    }
}

// S43: all other grants of the name are cached, and no other upgrade waits for them.
bool LockSpec::recalls_others(const Hold& hold) const {
    for (const auto& other : holders(hold.name)) {
        if (other.operation == hold.grant.operation) continue;
        if (!other.is_held() || other.cached_tokens == 0) return false;
    }
    return upgrade_on(hold.name) == nullptr;
}

// S13: with a new token. S31: this does not turn the phase.
void LockSpec::make_exclusive(Hold& hold) {
    auto* record = find_record(hold.name);
    newest_token_ = newest_token_.next();
    record->newest_token = hold.grant.token = newest_token_;
    record->newest_mode = hold.grant.mode = LockMode::exclusive;
    hold.grant.cached_tokens = 0;
}

// S28: before all others, as soon as there is no other holder.
bool LockSpec::serve_upgrade(Record& record) {
    const auto* wait = upgrade_on(record.name);
    if (wait == nullptr || holders(record.name).size() > 1) return false;
    const auto upgrade = wait->waiting;
    withdraw(upgrade.operation);
    auto* hold = find_hold({upgrade.operation.session, upgrade.upgrades});
    make_exclusive(*hold);
    if (upgrade.operation.session.is_set()) {
        answer(upgrade.operation, {AnswerKind::converted, hold->grant.token, {}});
    }
    return true;
}

// This may grant the operation itself, if only dead sessions were in its way.
void LockSpec::clear_name_of(OperationId operation) {
    auto names = waited_names(operation);
    if (names.empty()) names = held_names(operation);
    for (const auto& name : names)
        clear(name);
}

// --- one name: S11-S13, S23, S26, S29-S31, S37 ----------------------------------------------

FencingToken LockSpec::token_for(Record& record, LockMode mode) {
    bool joins = false;
    for (const auto& [name, holder] : holds_) {
        const bool is_newest =
            holder.mode == mode && holder.token == record.newest_token && holder.is_held();
        if (is_newest && name == record.name) joins = true;
    }
    if (is_a_writer(mode) || record.newest_mode != mode || !joins) {
        newest_token_ = newest_token_.next();
        record.newest_token = newest_token_;
        record.newest_mode = mode;
    }
    return record.newest_token;
}

core::NamedGrant LockSpec::hold(Record& record, const Wait& wait) {
    const auto& waiting = wait.waiting;
    const auto& terms = wait.terms;
    const auto token = token_for(record, waiting.mode);
    core::Slots slots;  // S15: the lowest that nobody has
    const auto taken = slots_of(record.name);
    for (std::uint32_t slot = 0; slots.size() < waiting.permits; ++slot) {
        if (std::ranges::find(taken, slot) == taken.end()) slots.push_back(slot);
    }
    holds_.push_back(
        {record.name,
         {waiting.operation, waiting.mode, token, index_, waiting.label, waiting.locker}});
    holds_.back().grant.slots = slots;
    if (terms.is_set()) begin_terms(holds_.back(), terms);
    if (wait.cached_tokens != 0 && !record.value) {
        auto& grant = holds_.back().grant;
        const bool alone = waiting.mode == LockMode::exclusive;  // S39
        grant.cached_tokens = alone ? wait.cached_tokens : 1;
        grant.locker = {};  // S43, S45: nobody knows who uses it
        for (auto more = grant.cached_tokens; alone && more > 1; --more)
            newest_token_ = newest_token_.next();
        if (alone) record.newest_token = newest_token_;
    }
    if (is_a_writer(waiting.mode)) record.turn = Turn::readers;
    return {record.name, token, record.previous, slots};
}

// S32: a request for any of several names leaves all its queues.
void LockSpec::enter(Record& record, const Wait& wait) {
    const auto waiting = wait.waiting;
    const auto part = wait.part;
    const auto its = wait;
    moved_.merge(waited_names(waiting.operation));
    withdraw(waiting.operation);
    const auto given = hold(record, its);
    // would_grant() tries a request without a session, which gets no answer.
    if (!waiting.operation.session.is_set()) return;
    if (part == Part::alone && given.slots.empty()) {
        Answer granted{AnswerKind::granted, given.token, given.previous};
        granted.cached_tokens = holds_.back().grant.cached_tokens;
        answer(waiting.operation, granted);
    } else {
        answer(waiting.operation, {AnswerKind::granted, {}, {}, {given}});
    }
}

// S29: an earlier request that still waits was overtaken.
void LockSpec::count_overtaking(std::string_view name, std::uint64_t number) {
    const auto found = queues_.find(name);
    if (found == queues_.end()) return;
    for (auto& wait : found->second) {
        if (wait.number < number && !wait.waiting.upgrades.is_set()) ++wait.overtaken;
    }
}

// Counted when all are granted. Without priorities and preferences only batches overtake, which
// have their own bounds.
void LockSpec::enter_all(Record& record, const Queue& entering) {
    std::vector<std::uint64_t> overtaking;
    for (const auto* one : entering) {
        if (!fits(record, *one)) continue;
        const bool counts = one->waiting.priority != 0 || prefers(record.policy);
        if (counts) overtaking.push_back(one->number);
        enter(record, *one);
    }
    for (const auto number : overtaking)
        count_overtaking(record.name, number);
}

// S29, S31: by class, then preference, then arrival. In the highest class, which only overtaken
// requests reach, none is preferred.
LockSpec::Queue LockSpec::as_served(const Record& record, Queue all) {
    constexpr std::uint64_t highest = core::priority_max + 1;
    const auto class_of = [&](const Wait* wait) {
        return std::min(highest, wait->waiting.priority + wait->overtaken / 8);
    };
    const auto is_preferred = [&](const Wait* wait) {
        const bool writer = is_a_writer(wait->waiting.mode);
        return class_of(wait) < highest && record.policy == (writer ? QueuePolicy::prefer_writers
                                                                    : QueuePolicy::prefer_readers);
    };
    const auto goes_before = [&](const Wait* a, const Wait* b) {
        if (class_of(a) != class_of(b)) return class_of(a) > class_of(b);
        return is_preferred(a) && !is_preferred(b);
    };
    // Mostly sorted already.
    if (!std::ranges::is_sorted(all, goes_before)) std::ranges::stable_sort(all, goes_before);
    return all;
}

// S32: only requests in front of the first barrier are served.
LockSpec::Queue LockSpec::ranked(const Record& record) const {
    auto all = queue(record.name);
    const auto barrier = std::ranges::find(all, Part::all_of, &Wait::part);
    all.erase(barrier, all.end());
    return as_served(record, std::move(all));
}

// S31: grants the next writer, or the next batch of readers, when it is their turn.
bool LockSpec::take_turn(Record& record, const Queue& waiting) {
    Queue readers;
    Queue writers;
    for (const auto* one : waiting)
        (is_a_writer(one->waiting.mode) ? writers : readers).push_back(one);

    if (!writer_holds(record.name) && readers.empty()) record.turn = Turn::writers;
    if (waiting.empty()) return false;
    if (record.turn == Turn::readers && writer_holds(record.name)) return false;
    if (record.turn == Turn::writers && !admits(record.name, waiting.front()->waiting.mode)) {
        return false;
    }
    if (record.turn == Turn::writers && !writers.empty()) {
        if (!admits(record.name, writers.front()->waiting.mode)) return false;
        enter_all(record, {writers.front()});
        return true;
    }
    if (!admits(record.name, readers.front()->waiting.mode)) return false;
    enter_all(record, readers);
    record.turn = Turn::writers;
    return true;
}

// S31: a request that conflicts with no holder and no earlier waiter is granted at any time.
bool LockSpec::enter_unhindered(Record& record, const Queue& waiting) {
    std::set<LockMode> earlier;
    for (const auto* one : waiting) {
        const auto mode = one->waiting.mode;
        const bool hindered =
            std::ranges::any_of(earlier, [&](LockMode other) { return clash(other, mode); });
        if (!hindered && fits(record, *one)) {
            enter_all(record, {one});
            return true;
        }
        earlier.insert(mode);
    }
    return false;
}

// Executes one change of a name. Returns the names on which something changed.
LockSpec::Names LockSpec::step(const std::string& name) {
    moved_.clear();
    if (const auto dead = dead_on(name); !dead.empty()) {
        remove(dead, name, dead.size());
        return {name};
    }
    auto* record = find_record(name);
    if (record == nullptr) return {};
    if (record->latch) return pass(name) ? Names{name} : Names{};
    if (record->barrier) return {};
    bool moved = serve_upgrade(*record);
    if (upgrade_on(name) != nullptr) return {};  // S28: nothing else is granted meanwhile
    if (!moved) {
        const auto waiting = ranked(*record);
        const bool has_turns = record->policy == QueuePolicy::phase_fair && !record->limit;
        moved = (has_turns && take_turn(*record, waiting)) || enter_unhindered(*record, waiting);
    }
    const auto* front = moved ? nullptr : front_of(name);
    if (front != nullptr && front->part == Part::all_of) {
        const auto barrier = front->waiting.operation;
        for (const auto& other : waited_names(barrier)) {
            const auto dead = dead_on(other);
            remove(dead, other, dead.size());
            if (!dead.empty()) moved_.insert(other);
        }
        moved = !moved_.empty() || serve_barrier(barrier);
    }
    if (moved) moved_.insert(name);
    return moved_;
}

// Repeats until nothing changes any more, the first name in byte order first. A request at the head
// of a changed name may have waited for that on other names.
void LockSpec::settle(Names names) {
    while (!names.empty()) {
        const auto name = *names.begin();
        const auto moved = step(name);
        if (moved.empty()) {
            names.erase(name);
            if (is_unused(name)) {
                std::erase_if(records_, [&](const Record& one) { return one.name == name; });
            }
        }
        for (const auto& one : moved) {
            names.insert(one);
            const auto* front = front_of(one);
            if (front != nullptr) names.merge(waited_names(front->waiting.operation));
        }
    }
}

// Returns how the last holder left; nothing if none left.
Previous LockSpec::clear(const std::string& name) {
    const auto dead = dead_on(name);
    if (dead.empty()) {
        // A request for several names at the head of this queue is granted past dead sessions on
        // the others (S32).
        if (find_record(name) != nullptr) settle({name});
        return {};
    }
    remove(dead, name, dead.size());
    const auto last = find_record(name)->previous;
    settle({name});
    return last;
}

bool LockSpec::is_dead(OperationId operation) const {
    return operation.session.is_set() && live(operation.session) == nullptr;
}

// The upgrade, the waiters, then the holders, in the order of arrival.
std::vector<OperationId> LockSpec::dead_on(std::string_view name) const {
    std::vector<OperationId> dead;
    if (!has_dead_) return dead;
    for (const auto& wait : places_on(name)) {
        if (is_dead(wait.waiting.operation)) dead.push_back(wait.waiting.operation);
    }
    for (const auto& hold : holds_) {
        if (is_dead(hold.grant.operation) && hold.name == name && !hold.grant.left) {
            dead.push_back(hold.grant.operation);
        }
    }
    return dead;
}

OperationId LockSpec::first_dead() const {
    std::vector<OperationId> dead;
    for (const auto& hold : holds_) {
        if (is_dead(hold.grant.operation) && !hold.grant.left) dead.push_back(hold.grant.operation);
    }
    for (const auto& [operation, names] : waited_) {
        if (is_dead(operation)) dead.push_back(operation);
    }
    return dead.empty() ? OperationId{} : *std::min_element(dead.begin(), dead.end());
}

std::string LockSpec::name_of(OperationId operation) const {
    auto names = held_names(operation);
    names.merge(waited_names(operation));
    return *names.begin();
}

void LockSpec::remove(const std::vector<OperationId>& dead, const std::string& name,
                      std::size_t max) {
    for (std::size_t i = 0; i < std::min(max, dead.size()); ++i) {
        withdraw(dead[i], name);
        leave(dead[i], name, left_by(*find_session(dead[i].session)->ended));
    }
    if (!dead.empty()) has_dead_ = first_dead().seq.is_set();
}

// S23: the next holder is told at least where the session came from.
void LockSpec::set_label_if_none(core::Grant& grant) {
    const auto& opened = find_session(grant.operation.session)->opened;
    if (grant.label.empty()) grant.label = core::default_label(opened.origin);
}

// S8, S9: a former hold may keep the name closed.
void LockSpec::leave(OperationId operation, const std::string& name, Predecessor how) {
    using enum core::Closure::Kind;
    for (auto& hold : holds_) {
        auto& grant = hold.grant;
        if (grant.operation != operation || hold.name != name || grant.left) continue;
        if (grant.broken) how = Predecessor::broken;
        if (how != Predecessor::clean) set_label_if_none(grant);
        auto& value = find_record(name)->value;
        const bool half_done = how != Predecessor::clean && grant.mode == LockMode::exclusive;
        if (value && half_done) value->dirty = true;
        const bool delays = how == Predecessor::expired && grant.terms.lock_delay_ms != 0;
        if (delays) begin(hold, lock_delay);
        if (how == Predecessor::broken || !is_kept(operation, name)) {
            return go(operation, name, how);
        }
        grant.left = how;
        return end_all(operation, name, {max_hold, core::Closure::Kind::broken});
    }
}

void LockSpec::go(OperationId operation, const std::string& name, Predecessor how) {
    using enum core::Closure::Kind;
    const auto& grant = find_hold(operation, name).grant;
    find_record(name)->previous = {how, grant.label, grant.token};
    std::erase_if(holds_, [&](const Hold& hold) {
        return hold.grant.operation == operation && hold.name == name;
    });
    end_all(operation, name, {broken, min_hold, max_hold, lock_delay});
}

// An upgrade goes before all others (S28).
void LockSpec::stand(Wait wait) {
    has_lockers_ = has_lockers_ || wait.waiting.locker.is_set();
    waited_[wait.waiting.operation].insert(wait.name);
    auto& places = queues_[wait.name];
    const auto at = wait.waiting.upgrades.is_set() ? places.begin() : places.end();
    places.insert(at, std::move(wait));
}

void LockSpec::withdraw(OperationId operation) {
    for (const auto& name : waited_names(operation))
        withdraw(operation, name);
}

void LockSpec::withdraw(OperationId operation, const std::string& name) {
    const auto names = waited_.find(operation);
    if (names == waited_.end() || names->second.erase(name) == 0) return;
    if (names->second.empty()) waited_.erase(names);
    const auto queue = queues_.find(name);
    std::erase_if(queue->second,
                  [&](const Wait& wait) { return wait.waiting.operation == operation; });
    if (queue->second.empty()) queues_.erase(queue);
}

// --- queries --------------------------------------------------------------------------------

// All sessions that ever existed, numbered from one.
const LockSpec::Session* LockSpec::find_session(SessionId id) const {
    const bool is_known = id.is_set() && id.raw() <= sessions_.size();
    return is_known ? &sessions_[static_cast<std::size_t>(id.raw() - 1)] : nullptr;
}

const LockSpec::Session* LockSpec::live(SessionId id) const {
    const auto* session = find_session(id);
    return session != nullptr && !session->ended ? session : nullptr;
}

LockSpec::Session* LockSpec::live(SessionId id) {
    const bool lives = std::as_const(*this).live(id) != nullptr;
    return lives ? &sessions_[static_cast<std::size_t>(id.raw() - 1)] : nullptr;
}

LockSpec::Record* LockSpec::find_record(std::string_view name) {
    for (auto& record : records_) {
        if (record.name == name) return &record;
    }
    return nullptr;
}

LockSpec::Names LockSpec::held_names(OperationId operation) const {
    Names found;
    for (const auto& hold : holds_) {
        if (hold.grant.operation == operation && !hold.grant.left) found.insert(hold.name);
    }
    return found;
}

LockSpec::Names LockSpec::waited_names(OperationId operation) const {
    const auto found = waited_.find(operation);
    return found == waited_.end() ? Names{} : found->second;
}

std::vector<core::Grant> LockSpec::holders(std::string_view name) const {
    std::vector<core::Grant> found;
    for (const auto& hold : holds_) {
        if (hold.name == name) found.push_back(hold.grant);
    }
    return found;
}

bool LockSpec::is_unused(std::string_view name) const {
    const bool is_held = std::ranges::find(holds_, name, &Hold::name) != holds_.end();
    const auto rests = [&](const Record& one) {
        const bool was_resized = one.limit && one.limit->version > 1;
        return one.name == name && (one.value || was_resized || one.latch || one.barrier);
    };
    return !is_held && front_of(name) == nullptr && std::ranges::none_of(records_, rests);
}

const LockSpec::Places& LockSpec::places_on(std::string_view name) const {
    static const Places none;
    const auto found = queues_.find(name);
    return found == queues_.end() ? none : found->second;
}

LockSpec::Queue LockSpec::queue(std::string_view name) const {
    const auto& places = places_on(name);
    Queue found;
    found.reserve(places.size());
    for (const auto& wait : places) {
        if (!wait.waiting.upgrades.is_set()) found.push_back(&wait);
    }
    return found;
}

const LockSpec::Wait* LockSpec::front_of(std::string_view name) const {
    for (const auto& wait : places_on(name)) {
        if (!wait.waiting.upgrades.is_set()) return &wait;
    }
    return nullptr;
}

LockSpec::Hold* LockSpec::find_hold(OperationId operation) {
    if (broken_.contains(operation)) return nullptr;
    for (auto& hold : holds_) {
        if (hold.grant.operation == operation && !hold.grant.left) return &hold;
    }
    return nullptr;
}

LockSpec::Hold& LockSpec::find_hold(OperationId operation, std::string_view name) {
    return *std::ranges::find_if(holds_, [&](const Hold& hold) {
        return hold.grant.operation == operation && hold.name == name;
    });
}

const LockSpec::Wait* LockSpec::upgrade_on(std::string_view name) const {
    const auto& places = places_on(name);
    const bool waits = !places.empty() && places.front().waiting.upgrades.is_set();
    return waits ? &places.front() : nullptr;
}

std::optional<OperationId> LockSpec::upgrade_of(OperationId hold) const {
    for (const auto& name : held_names(hold)) {
        const auto* wait = upgrade_on(name);
        if (wait == nullptr || wait->waiting.upgrades != hold.seq) continue;
        if (wait->waiting.operation.session == hold.session) return wait->waiting.operation;
    }
    return std::nullopt;
}

bool LockSpec::admits(std::string_view name, LockMode mode) const {
    for (const auto& hold : holds_) {
        if (clash(hold.grant.mode, mode) && hold.name == name) return false;
    }
    return true;
}

core::Slots LockSpec::slots_of(std::string_view name) const {
    core::Slots taken;
    for (const auto& hold : holds_) {
        if (hold.name == name)
            taken.insert(taken.end(), hold.grant.slots.begin(), hold.grant.slots.end());
    }
    return taken;
}

// S34: permits are taken by whoever still blocks them.
bool LockSpec::fits(const Record& record, const Wait& wait) const {
    if (!record.limit) return admits(record.name, wait.waiting.mode);
    return slots_of(record.name).size() + wait.waiting.permits <= record.limit->permits;
}

bool LockSpec::writer_holds(std::string_view name) const {
    for (const auto& hold : holds_) {
        if (is_a_writer(hold.grant.mode) && hold.name == name) return true;
    }
    return false;
}

std::optional<std::string> LockSpec::next_waited(std::string_view after) const {
    const auto next = queues_.upper_bound(after);
    return next == queues_.end() ? std::nullopt : std::optional{next->first};
}

// --- reads: S11, S20, S46 -------------------------------------------------------------------

// Sessions, holds and waiters. Earlier requests and answers do not matter there.
LockSpec LockSpec::for_trial() const {
    LockSpec trial;
    for (const auto& [id, opened, renewed_at, number, seen, answers, bytes, ended] : sessions_)
        trial.sessions_.push_back({id, opened, renewed_at, number, {}, {}, 0, ended});
    trial.records_ = records_;
    trial.holds_ = holds_;
    trial.queues_ = queues_;
    trial.waited_ = waited_;
    trial.has_dead_ = has_dead_;
    trial.waits_ever_ = waits_ever_;
    trial.closing_ = closing_;
    return trial;
}

bool LockSpec::would_grant(std::string_view name, LockMode mode, core::Priority priority) const {
    const auto record = std::ranges::find(records_, name, &Record::name);
    const bool is_lock =
        record != records_.end() && !record->limit && !record->latch && !record->barrier;
    if (!is_lock) return true;  // of another kind: the log refuses it
    auto trial = for_trial();
    const std::string wanted{name};
    trial.clear(wanted);
    if (trial.find_record(wanted) == nullptr) return true;
    trial.stand({wanted, {{}, mode, {}, {}, priority, {}}, ++trial.waits_ever_});
    trial.settle({wanted});
    return trial.waited_names({}).empty();
}

bool LockSpec::would_grant_permits(const core::Acquire& request) const {
    const auto& [name, mode] = request.names.front();
    auto trial = for_trial();
    trial.clear(name);
    const auto* record = trial.find_record(name);
    if (record == nullptr) return request.permits <= request.limit;
    if (!record->limit) return true;  // the log refuses it
    trial.stand({name,
                 {{}, mode, {}, {}, request.priority, {}, {}, false, request.permits},
                 ++trial.waits_ever_});
    trial.settle({name});
    return trial.waited_names({}).empty();
}

LockView LockSpec::inspect(std::string_view name) const {
    LockView view;
    view.name = name;
    std::set<std::pair<core::FencingToken, core::Closure::Kind>> closings;
    for (const auto& holder : holders(name)) {
        const auto* session = live(holder.operation.session);
        const bool is_gone = session == nullptr && !is_to_stay(holder, name);
        if (is_gone) continue;
        if (session == nullptr || !holder.is_held()) {
            view.is_closed = true;
            view.closed_under = std::max(view.closed_under, holder.token);
            for (const auto kind : closed_by(holder, name))
                closings.insert({holder.token, kind});
            continue;
        }
        view.holders.push_back(holder);
        view.nodes[session->id] = session->opened.node;
    }
    const auto& places = places_on(name);
    view.waiters.reserve(places.size());
    for (const auto& wait : places) {
        const auto* session = live(wait.waiting.operation.session);
        if (session == nullptr) continue;
        view.waiters.push_back(wait.waiting);
        view.nodes[session->id] = session->opened.node;
    }
    for (const auto& [token, kind] : closings)
        view.closings.insert(view.closings.begin(), LockView::Closing{kind, token});
    view.holders_total = view.holders.size();
    view.waiters_total = view.waiters.size();
    view.closings_total = view.closings.size();
    for (const auto& record : records_) {
        if (record.name != name) continue;
        view.value = record.value;
        const bool was_resized = record.limit && record.limit->version > 1;
        const bool is_there = !view.holders.empty() || !view.waiters.empty() || view.value ||
                              view.is_closed || was_resized || record.latch || record.barrier;
        if (!is_there) continue;
        view.policy = record.policy;
        if (record.limit) view.become(*record.limit);
        if (record.latch) view.become(*record.latch);
        if (const auto& met = record.barrier) {
            const auto arrived = std::ranges::count(met->known, true, &Party::has_arrived);
            core::Barrier::View barrier{met->parties, static_cast<std::uint32_t>(arrived),
                                        met->phase, met->is_broken};
            std::map<core::SessionId, core::Barrier::MemberView> members;
            for (const auto& party : met->known) {
                auto& member = members[party.session];
                member.session = party.session;
                if (const auto* session = live(party.session)) member.node = session->opened.node;
                ++member.parties;
                if (party.has_arrived) ++member.arrived;
            }
            for (const auto& [session, member] : members)
                barrier.members.push_back(member);
            view.become(std::move(barrier));
        }
    }
    return view;
}

std::vector<LockView> LockSpec::list(std::string_view prefix, std::string_view after,
                                     std::size_t limit) const {
    std::vector<LockView> found;
    for (const auto& record : records_) {
        if (!record.name.starts_with(prefix) || record.name <= after) continue;
        auto view = inspect(record.name);
        if (view.value) view.value->bytes.clear();
        const bool is_there = !view.holders.empty() || !view.waiters.empty() || view.value ||
                              view.is_closed || !view.is_lock();
        if (is_there) found.push_back(std::move(view));
    }
    std::sort(found.begin(), found.end(),
              [](const LockView& a, const LockView& b) { return a.name < b.name; });
    if (found.size() > limit) found.resize(limit);
    return found;
}

QueuePolicy LockSpec::policy_of(std::string_view name) const {
    const auto found = std::ranges::find(records_, name, &Record::name);
    return found == records_.end() ? QueuePolicy{} : found->policy;
}

std::size_t LockSpec::waiters() const {
    std::size_t count = 0;
    for (const auto& [name, places] : queues_)
        count += places.size();
    return count;
}

NodeId LockSpec::node_of(SessionId session) const {
    const auto* found = live(session);
    return found == nullptr ? NodeId{} : found->opened.node;
}

std::vector<SessionId> LockSpec::live_sessions() const {
    std::vector<SessionId> found;
    for (const auto& session : sessions_) {
        if (!session.ended) found.push_back(session.id);
    }
    return found;
}

core::LogIndex LockSpec::renewed_at(SessionId session) const {
    return live(session)->renewed_at;
}

std::uint64_t LockSpec::renewal_number(SessionId session) const {
    return live(session)->renewal_number;
}

Seq LockSpec::applied(SessionId session) const {
    return live(session)->applied;
}

}  // namespace mortise::spec
