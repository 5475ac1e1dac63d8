#include "tests/sim/judges/log_book.hpp"

#include <algorithm>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

bool ends(const core::Outcomes& outcomes, core::ClosureId closure) {
    return std::ranges::find(outcomes, core::Outcome{core::ClosureEnded{closure}}) !=
           outcomes.end();
}

}  // namespace

void LogBook::begin_era(core::LogId entry, const core::Outcomes& outcomes) {
    tally_.probe("era begun");
    era_ceiling_ = ceiling_;
    read(entry, {}, outcomes);
}

// While a quorum counts the leases of an era, no session opens (P3).
void LogBook::read_era(const core::Outcome& outcome) {
    const auto* begun = std::get_if<core::ClosureBegun>(&outcome);
    if (begun != nullptr && begun->kind == core::Closure::Kind::era) era_closure_ = begun->closure;
    const auto* ended = std::get_if<core::ClosureEnded>(&outcome);
    if (ended != nullptr && ended->closure == era_closure_) era_closure_ = {};
    const bool opens = std::holds_alternative<core::SessionOpened>(outcome);
    if (opens && era_closure_.is_set())
        report("era: a session opened while others may be forgotten");
}

void LogBook::read(core::LogId entry, const std::vector<core::Command>& batch,
                   const core::Outcomes& outcomes) {
    index_ = entry.index;
    for (const auto& command : batch) {
        const auto* request = std::get_if<core::Request>(&command);
        const auto* closure = std::get_if<core::EndClosure>(&command);
        if (closure != nullptr && ends(outcomes, closure->closure)) probe_end(closure->closure);
        if (const auto* raise = std::get_if<core::RaiseCeiling>(&command))
            ceiling_ = std::max(ceiling_, raise->to);
        if (request == nullptr) continue;
        repeats_.read(entry.term, *request, ended_.contains(request->session));
        auto& taken = taken_[request->session];
        if (request->seq != taken.next()) continue;  // it has no effect
        taken = request->seq;
        const core::OperationId operation{request->session, request->seq};
        requests_.emplace(operation, request->body);
        has_lockers_ = has_lockers_ || locker_of(operation) != 0;
        if (const auto* acquire = body_of<core::Acquire>(operation); acquire && acquire->permits)
            note_limit(acquire->names.front().name, acquire->limit);
        if (const auto* resize = body_of<core::Resize>(operation))
            note_limit(resize->name, resize->limit);
    }
    for (const auto& outcome : outcomes) {
        read_era(outcome);
        if (const auto* queued = std::get_if<core::Queued>(&outcome)) on_queued(queued->operation);
        if (const auto* answered = std::get_if<core::Answered>(&outcome)) {
            on_answered(answered->operation, answered->answer);
        }
        if (const auto* broken = std::get_if<core::LockBroken>(&outcome)) on_broken(*broken);
        if (const auto* begun = std::get_if<core::ClosureBegun>(&outcome)) {
            closures_.emplace(begun->closure, begun->kind);
        }
        if (const auto* ended = std::get_if<core::SessionEnded>(&outcome)) {
            fairness_.ended(ended->session);
            ended_.emplace(ended->session, index_);
            if (ended->how == core::SessionEnd::closed) closed_.insert(ended->session);
        }
    }
}

const LogBook::Given* LogBook::find(core::OperationId hold) const {
    const auto found = given_.find(hold);
    return found == given_.end() ? nullptr : &found->second;
}

core::LogIndex LogBook::converted_at(core::OperationId hold, core::FencingToken token) const {
    core::LogIndex last;
    const auto first = conversions_.lower_bound({hold.session, {}});
    for (auto one = first; one != conversions_.end(); ++one) {
        if (one->first.session != hold.session) break;
        const auto& conversion = one->second;
        if (conversion.hold == hold && conversion.token == token) {
            last = std::max(last, conversion.at);
        }
    }
    return last;
}

core::LogIndex LogBook::ended_at(core::SessionId session) const {
    const auto found = ended_.find(session);
    return found == ended_.end() ? core::LogIndex{} : found->second;
}

core::LogIndex LogBook::ended_at(core::OperationId hold) const {
    const auto found = released_.find(hold);
    return found == released_.end() ? ended_at(hold.session) : found->second;
}

core::LogIndex LogBook::refused_at(const std::vector<core::CycleStep>& cycle) const {
    core::LogIndex last;
    const auto session = cycle.front().session;
    auto one = deadlocks_.lower_bound({session, {}});
    for (; one != deadlocks_.end() && one->first.session == session; ++one) {
        if (one->second.cycle == cycle) last = std::max(last, one->second.at);
    }
    return last;
}

template <class Body>
const Body* LogBook::body_of(core::OperationId operation) const {
    const auto found = requests_.find(operation);
    return found == requests_.end() ? nullptr : std::get_if<Body>(&found->second);
}

bool LogBook::takes_any(core::OperationId operation) const {
    const auto* acquire = body_of<core::Acquire>(operation);
    return acquire != nullptr && acquire->which == core::Acquire::Which::any &&
           acquire->names.size() > 1;
}

std::uint64_t LogBook::locker_of(core::OperationId operation) const {
    const auto* acquire = body_of<core::Acquire>(operation);
    return acquire == nullptr ? 0 : acquire->locker.number;
}

core::HoldTerms LogBook::terms_of(core::OperationId hold) const {
    const auto* acquire = body_of<core::Acquire>(hold);
    return acquire == nullptr ? core::HoldTerms{} : acquire->terms;
}

std::map<std::string, Fairness::Wish> LogBook::wishes_of(core::OperationId operation) const {
    std::map<std::string, Fairness::Wish> wishes;
    const auto* acquire = body_of<core::Acquire>(operation);
    if (acquire == nullptr) return wishes;
    const bool all = acquire->which == core::Acquire::Which::all;
    const auto priority = all ? core::Priority{0} : acquire->priority;
    for (const auto& [name, mode] : acquire->names)
        wishes[name] = {operation, mode, priority, all};
    return wishes;
}

// --- outcomes -----------------------------------------------------------------------------------

void LogBook::on_queued(core::OperationId operation) {
    if (!placed_.emplace(operation, index_).second) return;  // a duplicate
    if (const auto* wait = body_of<core::AwaitLatch>(operation))
        return latches_.queued(operation, *wait);
    if (const auto* arrival = body_of<core::Arrive>(operation))
        return barriers_.queued(operation, *arrival);
    const auto wishes = wishes_of(operation);
    if (wishes.empty()) return tally_.probe("upgrade waited");
    for (const auto& [name, wish] : wishes)
        fairness_.queued(name, wish);
    const bool all = wishes.begin()->second.is_barrier;
    if (!all && wishes.size() == 1) return tally_.probe("acquire queued");
    tally_.probe(all ? "all of several names waited for" : "any of several names waited for");
}

void LogBook::on_answered(core::OperationId operation, const core::Answer& answer) {
    switch (answer.kind) {
        case core::AnswerKind::granted: return on_granted(operation, answer);
        case core::AnswerKind::converted: return on_converted(operation, answer);
        case core::AnswerKind::stale_request: return;
        case core::AnswerKind::passed: return on_passed(operation);
        case core::AnswerKind::barrier_broken:
            if (const auto* arrival = body_of<core::Arrive>(operation))
                return barriers_.broken(operation, *arrival);
            return report("witness: " + in_words(operation) + " was no arrival");
        case core::AnswerKind::busy:  // also of a try that was queued (S43)
        case core::AnswerKind::cancelled: fairness_.left(operation); break;
        case core::AnswerKind::deadlock: on_deadlock(operation, answer); break;
        case core::AnswerKind::lost: tally_.probe("break confirmed"); [[fallthrough]];
        case core::AnswerKind::released: on_released(operation); break;
        case core::AnswerKind::stored:
        case core::AnswerKind::asked:
        case core::AnswerKind::broken: on_written(operation); break;
        default: break;
    }
    if (refused_.insert(operation).second) probe_refusal(operation, answer.kind);
}

void LogBook::on_passed(core::OperationId operation) {
    if (const auto* arrival = body_of<core::Arrive>(operation))
        return barriers_.passed(operation, *arrival, index_);
    const auto* wait = body_of<core::AwaitLatch>(operation);
    if (wait == nullptr) return report("witness: " + in_words(operation) + " passed nothing");
    latches_.passed(operation, *wait, index_);
}

void LogBook::on_deadlock(core::OperationId operation, const core::Answer& answer) {
    fairness_.left(operation);
    const bool is_new = deadlocks_.emplace(operation, Refused{index_, answer.cycle}).second;
    if (!is_new || answer.cycle.empty()) return;  // of two readers that upgrade
    tally_.probe("deadlock refused");
    if (placed_.contains(operation)) tally_.probe("cycle closed by a grant");
}

// By a Release, or by a Cancel that came after the grant.
void LogBook::on_released(core::OperationId operation) {
    const auto* release = body_of<core::Release>(operation);
    const auto* cancel = body_of<core::Cancel>(operation);
    const auto target = release != nullptr  ? release->operation
                        : cancel != nullptr ? cancel->operation
                                            : core::Seq{};
    const core::OperationId hold{operation.session, target};
    const bool is_first = released_.emplace(hold, index_).second;
    if (release != nullptr) let_go_.insert(hold);
    const bool gives_up = is_first && release != nullptr && release->lost;
    if (gives_up && terms_of(hold).max_hold_ms == 0) given_up_.insert(hold);
}

// A second break of a name, or the removal of an absent value, changes nothing.
std::string LogBook::written_by(const core::RequestBody& body) {
    if (const auto* value = std::get_if<core::SetValue>(&body)) return value->bytes;
    if (const auto* asked = std::get_if<core::AskRelease>(&body)) return asked->reason;
    const auto* broken = std::get_if<core::BreakLock>(&body);
    return broken == nullptr ? std::string{} : broken->reason;
}

core::LogIndex LogBook::written_at(const std::string& what) const {
    const auto found = written_.find(what);
    return found == written_.end() ? core::LogIndex{} : found->second.second;
}

void LogBook::on_published(core::OperationId operation, const core::Publish& as) {
    const auto given = given_.find({operation.session, as.operation});
    if (given == given_.end() || given->second.names.size() != 1)
        return report("witness: " + in_words(operation) + " published what is not held");
    auto& held = given->second.names.front();
    held.token = as.token;
    held.cached_tokens = 0;
}

// A write takes effect once (S17).
void LogBook::on_written(core::OperationId operation) {
    if (const auto* as = body_of<core::Publish>(operation)) return on_published(operation, *as);
    if (body_of<core::Resize>(operation)) return tally_.probe("semaphore resized");
    if (body_of<core::EvictSession>(operation)) return tally_.probe("session evicted");
    if (const auto* count = body_of<core::CountDown>(operation))
        return latches_.counted(operation, *count);
    if (const auto* arrival = body_of<core::Arrive>(operation))
        return barriers_.dropped(operation, *arrival);
    if (const auto* removal = body_of<core::Remove>(operation)) {
        if (removed_.insert(operation).second) {
            latches_.removed(removal->name);
            barriers_.removed(removal->name);
        }
        return tally_.probe("name removed");
    }
    const auto what = written_by(requests_.at(operation));
    const auto* breaks = body_of<core::BreakLock>(operation);
    const bool asks = body_of<core::AskRelease>(operation) != nullptr;
    tally_.probe(breaks != nullptr ? "lock broken" : asks ? "lock asked for" : "value written");
    if (breaks != nullptr && breaks->immediate) on_broken_at_once(*breaks);
    if (what.empty()) return;
    const auto known = written_.emplace(what, std::pair{operation, index_}).first;
    if (known->second.first == operation) return;  // the first answer, or a duplicate
    report("witness: written twice: " + what);
}

void LogBook::probe_end(core::ClosureId closure) {
    const auto found = closures_.find(closure);
    if (found == closures_.end()) return;  // begun in the same entry
    switch (found->second) {
        case core::Closure::Kind::broken: return tally_.probe("broken name opened by a quorum");
        case core::Closure::Kind::min_hold: return tally_.probe("min_hold over");
        case core::Closure::Kind::max_hold: return tally_.probe("hold ended by the cluster");
        case core::Closure::Kind::lock_delay: return tally_.probe("lock delay over");
        case core::Closure::Kind::era: return tally_.probe("sessions open again after an era");
    }
}

// Counts as a release: the grant is not reported to its owner any more.
void LogBook::on_broken(const core::LockBroken& broken) {
    for (const auto hold : broken.holds)
        released_.emplace(hold, index_);
}

// Also those that had been broken with patience before.
void LogBook::on_broken_at_once(const core::BreakLock& request) {
    tally_.probe("lock broken at once");
    for (const auto& [hold, given] : given_) {
        const bool is_it = std::ranges::any_of(given.names, [&](const GivenName& one) {
            return one.name == request.name && one.has_token(request.expected);
        });
        if (is_it) opened_.emplace(hold, request.name);
    }
}

void LogBook::probe_refusal(core::OperationId operation, core::AnswerKind kind) {
    using enum core::AnswerKind;
    const bool upgrades = body_of<core::Upgrade>(operation) != nullptr;
    if (kind == kind_mismatch) tally_.probe("policy is another");
    const bool of_semaphore = body_of<core::Resize>(operation) || body_of<core::Remove>(operation);
    if (kind == busy && of_semaphore) tally_.probe("resize or removal without an effect");
    if (kind == deadlock && upgrades) tally_.probe("deadlock answer on shared");
    if (kind == busy && upgrades) tally_.probe("try to upgrade met others");
    if (kind == cancelled && upgrades) tally_.probe("upgrade cancelled");
    const auto* cancel = body_of<core::Cancel>(operation);
    const bool too_late = cancel != nullptr && kind == not_held &&
                          conversions_.contains({operation.session, cancel->operation});
    if (too_late) tally_.probe("upgrade granted before its cancel");
    if (kind == invalid_argument) tally_.probe("asked for what is not legal");
}

void LogBook::on_granted(core::OperationId operation, const core::Answer& answer) {
    if (given_.contains(operation)) return;  // a duplicate
    const auto wishes = wishes_of(operation);
    if (wishes.empty()) {
        return report("witness: " + in_words(operation) + " was granted, not asked for");
    }
    auto& given = given_[operation];
    given.asked_at = placed_.emplace(operation, index_).first->second;
    given.given_at = index_;
    if (answer.names.empty()) {
        grant(given, operation, {wishes.begin()->first, answer.token, {}}, answer.cached_tokens);
    }
    for (const auto& one : answer.names)
        grant(given, operation, one);
    fairness_.left(operation);
    probe_locker(operation, given);
}

void LogBook::probe_locker(core::OperationId operation, const Given& given) {
    const auto locker = locker_of(operation);
    if (locker == 0) return;
    auto names = given.names.size();
    auto other = given_.lower_bound({operation.session, {}});
    for (; other != given_.end() && other->first.session == operation.session; ++other) {
        const bool counts = other->first != operation && !ended_at(other->first).is_set();
        if (counts && locker_of(other->first) == locker) names += other->second.names.size();
    }
    if (names > 1) tally_.probe("locker with several names");
}

void LogBook::grant(Given& given, core::OperationId operation, const core::NamedGrant& grant,
                    std::uint32_t cached_tokens) {
    const auto wishes = wishes_of(operation);
    const auto wish = wishes.find(grant.name);
    if (wish == wishes.end()) {
        return report("witness: " + in_words(operation) + " got " + grant.name +
                      ", which it did not ask for");
    }
    given.names.push_back({grant.name, wish->second.mode, grant.token, cached_tokens, grant.slots});
    check_token(given.names.back());
    check_slots(given.names.back());
    fairness_.granted(grant.name, wish->second, index_);
}

// S27: a downgrade keeps the token, an upgrade takes a new one.
void LogBook::on_converted(core::OperationId operation, const core::Answer& answer) {
    const auto* upgrade = body_of<core::Upgrade>(operation);
    const auto* downgrade = body_of<core::Downgrade>(operation);
    const auto target = upgrade != nullptr     ? upgrade->operation
                        : downgrade != nullptr ? downgrade->operation
                                               : core::Seq{};
    const core::OperationId hold{operation.session, target};
    const auto given = given_.find(hold);
    if (given == given_.end() || given->second.names.size() != 1) {
        return report("witness: " + in_words(operation) + " converted what is not held");
    }
    if (!conversions_.emplace(operation, Conversion{hold, answer.token, index_}).second) return;
    auto& held = given->second.names.front();
    if (downgrade != nullptr) {
        tally_.probe("downgraded");
        held.mode = downgrade->mode;
        held.cached_tokens = 0;
        if (answer.token != held.token) report("token order: a downgrade has another");
        return;
    }
    tally_.probe(placed_.contains(operation) ? "upgrade waited and was granted"
                                             : "upgraded at once");
    held.mode = core::LockMode::exclusive;
    held.token = answer.token;
    held.cached_tokens = 0;
    check_token(held);
}

void LogBook::note_limit(const std::string& name, std::uint32_t limit) {
    auto& largest = limits_[name];
    largest = std::max(largest, limit);
}

// S15, S34: a slot is below the largest limit, and its tokens rise.
void LogBook::check_slots(const GivenName& given) {
    if (!given.slots.empty()) tally_.probe("permits granted");
    for (const auto slot : given.slots) {
        auto& newest = newest_of_slot_[{given.name, slot}];
        if (slot >= limits_[given.name])
            report("permits: slot " + std::to_string(slot) + " of " + given.name +
                   " is above every limit");
        if (given.token <= newest)
            report("token order: slot " + std::to_string(slot) + " of " + given.name);
        newest = given.token;
    }
}

// A writer's token is larger than that of readers; readers of one mode may share one.
void LogBook::check_token(const GivenName& given) {
    auto& newest = newest_[given.name];
    const bool writer = core::is_writer(given.mode);
    const bool rises = writer ? given.token > newest.any : given.token >= newest.any;
    if (!rises || given.token <= newest.writer) {
        report("token order: " + in_words(given.token) + " of " + given.name + " after " +
               in_words(newest.any));
    }
    if (given.token <= era_ceiling_)
        report("token order: " + in_words(given.token) + " may be forgotten by this era");
    // All tokens of a cached grant count as used (S39).
    const auto more = given.cached_tokens == 0 ? 0 : given.cached_tokens - 1;
    const core::FencingToken last{given.token.raw() + more};
    newest.any = std::max(newest.any, last);
    if (writer) newest.writer = std::max(newest.writer, last);
}

}  // namespace mortise::sim
