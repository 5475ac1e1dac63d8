#include "core/locks/table/holds.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

bool holds_alone(const LockRecord* record, OperationId hold) {
    const auto* grant = record == nullptr ? nullptr : record->find(hold);
    return grant != nullptr && grant->mode == LockMode::exclusive && grant->is_held();
}

// --- the begin of a hold ------------------------------------------------------------------------

FencingToken Holds::grant(std::string_view name, LockRecord& record, const Waiter& waiter) {
    MORTISE_CHECK(record.admits(waiter.mode, waiter.permits));
    const auto token = record.take_token(waiter.mode, newest_token_);
    Grant given{waiter.operation, waiter.mode, token, index_, waiter.label, waiter.locker};
    if (waiter.terms.is_set()) begin_terms(name, waiter.terms, given);
    if (waiter.cached_tokens != 0 && values_.find(name) == nullptr)
        begin_cached(record, waiter.cached_tokens, given);
    if (waiter.permits != 0) given.slots = record.as<Semaphore>()->lowest_free(waiter.permits);
    record.add(std::move(given));
    changes_.add(NameChange::Kind::granted, name, record.holders().back()).asked =
        waiter.ticket.index;
    const bool takes_turns = waiter.permits == 0 && is_writer(waiter.mode);
    if (takes_turns) record.turn = Turn::readers;  // a batch follows a writer
    return token;
}

// Readers use one token again and again (S39). The name of a value is never cached: after the loss
// of an unused grant its value would be dirty.
void Holds::begin_cached(LockRecord& record, std::uint32_t tokens, Grant& grant) {
    const bool alone = grant.mode == LockMode::exclusive;
    if (newest_token_.raw() >= cached_tokens_end) return;
    grant.cached_tokens = alone ? tokens : 1;
    grant.locker = {};
    if (alone) record.reserve_tokens(tokens - 1, newest_token_);
}

// The answer to a request for several names, or for permits, has the name that was granted.
void Holds::grant(std::string_view name, LockRecord& record, const Waiter& waiter, Grants& grants) {
    auto previous = record.previous();
    const auto token = grant(name, record, waiter);
    auto& [operation, given] = grants.emplace_back();
    operation = waiter.operation;
    if (waiter.part == Part::alone && waiter.permits == 0) {
        given.token = token;
        given.previous = std::move(previous);
        given.cached_tokens = record.holders().back().cached_tokens;
    } else {
        given.names.push_back(
            {std::string{name}, token, std::move(previous), record.holders().back().slots()});
    }
}

void Holds::begin_terms(std::string_view name, const HoldTerms& terms, Grant& grant) {
    grant.terms = terms;
    grant.closures = closures_.take_numbers_of_a_hold();
    if (terms.min_hold_ms == 0) return;
    constexpr auto kind = Closure::Kind::min_hold;
    closures_.begin(name, {closure_of(grant.closures, kind), kind, grant.operation, index_,
                           terms.min_hold_ms, 0});
}

bool Holds::count_max_hold(std::string_view name, const Holder& hold) {
    constexpr auto kind = Closure::Kind::max_hold;
    const auto id = closure_of(hold.closures(), kind);
    if (closures_.has(id) || !hold.is_held()) return false;
    closures_.begin(name, {id, kind, hold.operation, index_, hold.terms().max_hold_ms, 0});
    return true;
}

// A conversion does not change whose turn it is. Otherwise readers that upgrade one after the other
// would each let a batch in before a waiting writer, which would never be granted (P9).
FencingToken Holds::convert(std::string_view name, LockRecord& record, OperationId hold) {
    const auto token = record.take_token(LockMode::exclusive, newest_token_);
    record.convert(hold, LockMode::exclusive, token);
    changes_.add(NameChange::Kind::converted, name, *record.find(hold));
    return token;
}

void Holds::lower(std::string_view name, LockRecord& record, OperationId hold, LockMode mode) {
    record.convert(hold, mode, record.find(hold)->token);
    changes_.add(NameChange::Kind::converted, name, *record.find(hold));
}

void Holds::publish(std::string_view name, LockRecord& record, OperationId hold,
                    const Publish& as) {
    record.publish(hold, as.token, as.locker, as.label);
    changes_.add(NameChange::Kind::published, name, *record.find(hold));
}

// --- the value ----------------------------------------------------------------------------------

bool Holds::set_value(std::string_view name, const Holder& by, std::string bytes) {
    const bool had = values_.find(name) != nullptr;
    if (!values_.set(name, std::move(bytes))) return false;
    const auto* value = values_.find(name);
    if (value == nullptr) {
        if (had) changes_.add(NameChange::Kind::value_removed, name, by);
        return true;
    }
    auto& change = changes_.add(NameChange::Kind::value_set, name, by);
    change.bytes = value->bytes;
    change.version = value->version;
    change.dirty = value->dirty;
    return true;
}

bool Holds::mark_consistent(std::string_view name, const Holder& by) {
    const auto* value = values_.find(name);
    if (value != nullptr && value->dirty)
        changes_.add(NameChange::Kind::value_consistent, name, by);
    return values_.mark_consistent(name);
}

void Holds::mark_dirty(std::string_view name, const Holder& lost) {
    const auto* value = values_.find(name);
    if (value == nullptr || value->dirty) return;
    values_.mark_dirty(name);
    changes_.add(NameChange::Kind::value_dirty, name, lost);
}

// --- the end of a hold --------------------------------------------------------------------------

bool Holds::release(std::string_view name, LockRecord& record, OperationId hold, Predecessor how) {
    const bool is_last = record.holders().size() == 1 && record.queue() == nullptr &&
                         !record.stays() && !has_more(name);
    return record.remove(hold, how, keeps_on(name), !is_last);
}

void Holds::release_if(std::string_view name, LockRecord& record, const LockRecord::Left& left) {
    record.remove_if(left, keeps_on(name));
    closures_.end_over(name, &record);
}

LockRecord::Keeps Holds::keeps_on(const std::string_view& name) {
    return [this, &name](const Holder& holder, Predecessor how) {
        if (!holder.broken) note_end(name, holder, how);
        if (how != Predecessor::clean && holder.mode == LockMode::exclusive)
            mark_dirty(name, holder);
        return holder.terms().is_set() && stays_on(name, holder, how);
    };
}

// Called once for each hold: when it is broken, or else when it leaves.
void Holds::note_end(std::string_view name, const Holder& holder, Predecessor how) {
    changes_.add(NameChange::Kind::released, name, holder).how = how;
}

// A break opens the name, so it has no lock_delay.
bool Holds::stays_on(std::string_view name, const Holder& holder, Predecessor how) {
    constexpr auto kind = Closure::Kind::lock_delay;
    if (how == Predecessor::broken) return false;
    if (how == Predecessor::expired && holder.terms().lock_delay_ms != 0) {
        closures_.begin(name, {closure_of(holder.closures(), kind), kind, holder.operation, index_,
                               holder.terms().lock_delay_ms, 0});
    }
    return closures_.keeps(name, holder.operation);
}

void Holds::mark_broken(std::string_view name, LockRecord& record, OperationId hold, LogIndex since,
                        const OpenSession& session) {
    const auto& holder = *record.find(hold);
    if (holder.is_held()) note_end(name, holder, Predecessor::broken);
    if (holds_alone(&record, hold)) mark_dirty(name, holder);
    record.mark_broken(hold);
    closures_.begin(name, {closures_.take_number(), Closure::Kind::broken, hold, since,
                           session.ttl_ms, session.rho_ppm});
    closures_.end_over(name, &record, hold);  // the timers of its time limits
}

bool Holds::remove_left(std::string_view name, LockRecord& record, FencingToken token) {
    std::vector<OperationId> gone;
    for (const auto& grant : record.holders()) {
        if (grant.has_left() && grant.token == token) gone.push_back(grant.operation);
    }
    for (const auto hold : gone)
        record.remove_left(hold);
    if (!gone.empty()) closures_.end_over(name, &record);
    return !gone.empty();
}

}  // namespace mortise::core
