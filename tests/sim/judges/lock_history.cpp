#include "tests/sim/judges/lock_history.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/checksum.hpp"
#include "core/base/overloaded.hpp"
#include "tests/sim/base/client_ids.hpp"
#include "tests/sim/base/formats.hpp"
#include "tests/sim/base/in_words.hpp"
#include "tests/sim/judges/wait_cycles.hpp"

namespace mortise::sim {

namespace {

std::uint64_t digest_of(const core::Outcomes& outcomes) {
    core::Checksum sum;
    for (const auto& outcome : outcomes) {
        sum.number(outcome.index());
        std::visit(core::Overloaded{
                       [&](const core::Answered& one) {
                           sum.number(one.operation.session.raw());
                           sum.number(one.operation.seq.raw());
                           sum.number(static_cast<std::uint64_t>(one.answer.kind));
                           sum.number(one.answer.token.raw());
                           sum.number(static_cast<std::uint64_t>(one.answer.previous.how));
                           sum.number(one.answer.previous.token.raw());
                           sum.text(one.answer.previous.label);
                           sum.number(one.answer.cached_tokens);
                           for (const auto& grant : one.answer.names) {
                               sum.text(grant.name);
                               sum.number(grant.token.raw());
                               for (const auto slot : grant.slots)
                                   sum.number(slot);
                           }
                           for (const auto& step : one.answer.cycle) {
                               sum.number(step.session.raw());
                               sum.number(step.locker);
                               sum.text(step.label);
                               sum.text(step.waits_for);
                           }
                       },
                       [&](const core::Queued& one) { sum.number(one.operation.seq.raw()); },
                       [&](const core::SessionOpened& one) { sum.number(one.session.raw()); },
                       [&](const core::OpenRefused& one) {
                           sum.number(one.nonce);
                           sum.number(static_cast<std::uint64_t>(one.why));
                       },
                       [&](const core::SessionRenewed& one) { sum.number(one.number); },
                       [&](const core::RenewalLost& one) { sum.number(one.session.raw()); },
                       [&](const core::SessionEnded& one) { sum.number(one.session.raw()); },
                       [&](const core::LockBroken& one) {
                           sum.text(one.name);
                           sum.number(one.token.raw());
                       },
                       [&](const core::ReleaseAsked& one) { sum.text(one.name); },
                       [&](const core::SessionEvicted& one) { sum.number(one.session.raw()); },
                       [&](const core::ClosureBegun& one) {
                           sum.number(one.closure.raw());
                           sum.number(one.time_ms);
                       },
                       [&](const core::ClosureEnded& one) { sum.number(one.closure.raw()); },
                   },
                   outcome);
    }
    return sum.value();
}

}  // namespace

LockHistory::LockHistory(Violations& violations, Tally& tally, Clocks clocks,
                         core::Nanoseconds trust)
    : violations_{violations},
      tally_{tally},
      clocks_{std::move(clocks)},
      book_{violations, tally},
      beliefs_{violations, tally, clocks_},
      suspensions_{violations, tally, trust} {}

// --- the log ------------------------------------------------------------------------------------

void LockHistory::applied(core::NodeId node, const core::Applied& applied) {
    const auto index = applied.entry.id.index;
    const auto digest = digest_of(applied.outcomes);
    if (index > last_) {
        last_ = index;
        if (core::has_commands(applied.entry.kind)) specify(node, applied);
        if (applied.entry.kind == core::EntryKind::era) specify_era(node, applied);
        digests_[index] = digest;
    } else if (digests_[index] != digest) {
        report(node, "witness: other outcomes at index " + in_words(index) +
                         " than the first node that applied it");
    }
}

void LockHistory::specify_era(core::NodeId node, const core::Applied& applied) {
    book_.begin_era(applied.entry.id, applied.outcomes);
    if (!is_as_specified(spec_.begin_era(applied.entry.id.index), applied.outcomes))
        report(node, "witness: the specification differs at an era");
}

void LockHistory::specify(core::NodeId node, const core::Applied& applied) {
    const auto batch = commands_in(applied.entry.payload);
    if (!batch) {
        report(node, "witness: an entry that does not decode");
        return;
    }
    book_.read(applied.entry.id, *batch, applied.outcomes);
    const auto expected = spec_.apply(applied.entry.id.index, *batch);
    for (const auto& [hold, name] : book_.opened())
        beliefs_.ends(hold, name);
    book_.learn_policies([this](const std::string& name) { return spec_.policy_of(name); });
    if (!is_as_specified(expected, applied.outcomes)) {
        report(node,
               "witness: the specification differs at index " + in_words(applied.entry.id.index));
    }
    if (book_.has_lockers()) check_wait_cycles(node, applied.entry.id.index);
}

// The machine looks for the shortest cycle in a limited number of steps. Where more requests wait,
// it may report another one; which request it refuses does not depend on that (S33).
bool LockHistory::is_as_specified(core::Outcomes expected, core::Outcomes outcomes) const {
    if (spec::same(expected, outcomes)) return true;
    if (spec_.waiters() * spec_.waiters() < core::deadlock_steps_max) return false;
    for (auto* all : {&expected, &outcomes}) {
        for (auto& outcome : *all) {
            auto* answered = std::get_if<core::Answered>(&outcome);
            if (answered != nullptr) answered->answer.cycle.clear();
        }
    }
    return spec::same(expected, outcomes);
}

void LockHistory::check_wait_cycles(core::NodeId node, core::LogIndex index) {
    const auto locks = spec_.list({}, {}, SIZE_MAX);
    const auto cycle = standing_cycle(
        locks, [this](core::OperationId operation) { return book_.takes_any(operation); });
    if (!cycle.empty()) report(node, "cycle: at index " + in_words(index) + " " + cycle);
}

// --- calls --------------------------------------------------------------------------------------

void LockHistory::asked(core::NodeId node, const core::AcquireCall& call) {
    asked_[{node, call.tag}] = {answered_up_to_, call.request.names, {}};
    asked_[{node, call.tag}].suspends = call.suspends;
    asked_[{node, call.tag}].max_hold_ms = call.request.terms.max_hold_ms;
}

void LockHistory::asked(core::NodeId node, const core::UpgradeCall& call) {
    asked_[{node, call.tag}] = {answered_up_to_, {}, call.hold, true};
}

void LockHistory::asked(core::NodeId node, const core::DowngradeCall& call) {
    const auto former = beliefs_.mode_of(call.hold);
    asked_[{node, call.tag}] = {answered_up_to_, {}, call.hold, false, former};
    if (former && core::covers(*former, call.mode)) beliefs_.changes(call.hold, call.mode);
}

void LockHistory::asked(core::NodeId node, const core::ConfirmCall& call) {
    suspensions_.asked(node, call, clocks_.boot(node), answered_up_to_);
}

void LockHistory::asked(core::NodeId node, const core::WriteCall& call) {
    auto& asked = asked_[{node, call.tag}];
    asked = {answered_up_to_, {}, {}};
    asked.written = LogBook::written_by(call.body);
    if (const auto* count = std::get_if<core::CountDown>(&call.body)) asked.counts = count->name;
}

void LockHistory::asked(core::NodeId node, const core::AwaitCall& call) {
    auto& asked = asked_[{node, call.tag}];
    asked = {answered_up_to_, {}, {}};
    const auto* latch = std::get_if<core::AwaitLatch>(&call.body);
    asked.label = latch != nullptr ? latch->label : std::get<core::Arrive>(call.body).label;
}

void LockHistory::took(core::NodeId node, core::OperationId grant, core::FencingToken token) {
    const auto* given = book_.find(grant);
    if (given == nullptr || given->names.size() != 1)
        return report(node, "cache: a use of what was not granted: " + in_words(grant));
    const auto& one = given->names.front();
    if (!one.has_token(token))
        report(node, "cache: a use of " + in_words(grant) + " with a token that it does not have");
    const auto newest = taken_.try_emplace(grant, one.token).first;
    const bool rises = core::is_writer(one.mode) ? token > newest->second : token == one.token;
    if (!rises) report(node, "token order: a second use of " + in_words(grant));
    newest->second = token;
    if (book_.was_released(grant))
        report(node, "cache: a use of " + in_words(grant) + ", which went back");
    believes(node, grant, {{one.name, one.mode}}, core::Instant::never());
    suspensions_.begins(node, grant, false);
}

// Names that were broken at once are not judged: two may believe to hold them.
void LockHistory::believes(core::NodeId node, core::OperationId hold,
                           std::vector<core::NamedMode> names, core::Instant ends,
                           core::Slots slots) {
    std::erase_if(names, [&](const auto& one) {
        return book_.opened().contains({hold, one.name});
    });
    beliefs_.begins(node, hold, std::move(names), ends, std::move(slots));
}

void LockHistory::releasing(core::OperationId hold) {
    beliefs_.ends(hold);
    suspensions_.ends(hold);
}

void LockHistory::inspected(core::NodeId node, const core::InspectCall& call) {
    asked_[{node, call.tag}] = {call.local ? core::LogIndex{} : answered_up_to_, {}, {}};
}

void LockHistory::answered(core::NodeId node, const core::CallAnswer& answer,
                           core::LogIndex applied) {
    suspensions_.answered(node, answer, clocks_.boot(node),
                          [this](core::OperationId hold) { return book_.ended_at(hold); });
    const auto found = asked_.extract({node, answer.tag});
    if (found.empty()) return;  // a release or a close claims nothing
    const auto& asked = found.mapped();
    std::visit(core::Overloaded{
                   [&](const core::Acquired& one) { on(node, asked, one); },
                   [&](const core::Converted& one) { on(node, asked, one); },
                   [&](core::CallError error) { on(node, asked, error); },
                   [&](const core::Deadlocked& one) { on(node, asked, one); },
                   [&](core::Written one) { on(node, asked, one); },
                   [&](core::Passed one) { on(node, asked, one); },
                   [&](const core::Busy&) {
                       check_read(node, asked, applied);
                       if (!asked.wanted.empty()) tally_.probe("try found it busy");
                   },
                   [&](const core::Viewed& viewed) {
                       check_read(node, asked, applied);
                       if (applied == last_) check_view(node, viewed);
                   },
                   [](const auto&) {},
               },
               answer.result);
}

bool LockHistory::is_asking(core::NodeId node) const {
    for (auto one = asked_.lower_bound({node, {}}); one != asked_.end(); ++one) {
        if (one->first.first != node) break;
        if (!one->second.wanted.empty()) return true;
    }
    return false;
}

// (2) for an answer from a read: it must equal the state here, which must be new enough.
void LockHistory::check_read(core::NodeId node, const Asked& asked, core::LogIndex applied) {
    if (applied >= asked.floor) return;
    report(node, "real time: a read as of index " + in_words(applied) + ", asked after index " +
                     in_words(asked.floor) + " was answered");
}

void LockHistory::check_view(core::NodeId node, const core::Viewed& viewed) {
    tally_.probe("name inspected");
    answered_up_to_ = std::max(answered_up_to_, last_);
    for (const auto& seen : viewed.locks) {
        auto wanted = spec_.inspect(seen.name);
        const bool is_listed = seen.value && seen.value->bytes.empty();
        if (is_listed && wanted.value) wanted.value->bytes.clear();
        wanted.leases_left = seen.leases_left;  // countdowns of that node, not replicated state
        wanted.ages = seen.ages;                // by its clock
        wanted.origins = seen.origins;          // the specification has none
        check_origins(node, seen);
        if (seen == wanted) continue;
        report(node,
               "witness: " + seen.name + " looks other than specified at index " + in_words(last_));
    }
}

void LockHistory::check_origins(core::NodeId node, const core::LockView& seen) {
    for (const auto& [session, origin] : seen.origins) {
        const auto owner = seen.nodes.find(session);
        if (owner == seen.nodes.end() || origin.host != host_of(owner->second))
            report(node, "witness: a session of " + seen.name + " comes from elsewhere");
    }
    for (const auto& [since, age] : seen.ages) {
        if (age < core::Nanoseconds{0}) report(node, "witness: an age is negative");
    }
}

// (2): the place in the queue, or the grant, is after everything that was answered before.
void LockHistory::on(core::NodeId node, const Asked& asked, const core::Acquired& acquired) {
    const auto hold = acquired.hold;
    const auto* given = book_.find(hold);
    const auto is_told = [](const LogBook::GivenName& one, const core::Acquired::Part& told) {
        return one.name == told.name && one.token == told.token && one.slots == told.slots;
    };
    if (given == nullptr || !std::ranges::equal(given->names, acquired.parts, is_told)) {
        return report(node, "a grant that the log does not have: " + in_words(hold));
    }
    std::vector<core::NamedMode> names;
    for (const auto& one : given->names) {
        const core::NamedMode held{one.name, one.mode};
        names.push_back(held);
        if (std::ranges::find(asked.wanted, held) != asked.wanted.end()) continue;
        report(node, "a grant of what was not asked for: " + in_words(hold));
    }
    const auto is_in_mode = [](const LogBook::GivenName& one, const core::Acquired::Part& told) {
        return one.mode == told.mode;
    };
    if (!std::ranges::equal(given->names, acquired.parts, is_in_mode))
        report(node, "a grant in another mode than the log has: " + in_words(hold));
    if (given->asked_at <= asked.floor) {
        report(node, "real time: " + in_words(hold) + " took effect before it was asked");
    }
    answered_up_to_ = std::max(answered_up_to_, given->given_at);
    const auto most = clocks_.boot(node) + std::chrono::milliseconds{asked.max_hold_ms};
    if (asked.max_hold_ms != 0 && acquired.ends > most) {
        report(node, "a hold that outlives its max_hold: " + in_words(hold));
    }
    believes(node, hold, std::move(names), acquired.ends, acquired.parts.front().slots);
    suspensions_.begins(node, hold, asked.suspends);
}

void LockHistory::on(core::NodeId node, const Asked& asked, const core::Converted& converted) {
    const auto at = book_.converted_at(asked.hold, converted.token);
    if (at <= asked.floor) {
        report(node, "a conversion that the log does not have: of " + in_words(asked.hold));
        return;
    }
    answered_up_to_ = std::max(answered_up_to_, at);
    if (asked.upgrades) beliefs_.changes(asked.hold, core::LockMode::exclusive);
}

// A refused call must not have changed anything: no downgrade, and no write.
void LockHistory::on(core::NodeId node, const Asked& asked, core::CallError error) {
    const bool refused =
        error == core::CallError::invalid_argument || error == core::CallError::resource_exhausted;
    if (refused && asked.former) beliefs_.changes(asked.hold, *asked.former);
    // says nothing about the effect of the call
    const bool is_over = error == core::CallError::node_stopped;
    const bool is_unknown = error == core::CallError::outcome_unknown;
    if (is_unknown) tally_.probe("nobody knows what became of a write");
    if (asked.written.empty() || is_unknown || is_over) return;
    tally_.probe("write refused");
    if (!book_.written_at(asked.written).is_set()) return;
    report(node, "what was refused is in the log: " + asked.written);
}

// S35: a program passes after everything that was answered before it waited.
void LockHistory::on(core::NodeId node, const Asked& asked, core::Passed /*passed*/) {
    const auto at = book_.passed_at(asked.label);
    if (at <= asked.floor) return report(node, "passed, but not in the log: " + asked.label);
    answered_up_to_ = std::max(answered_up_to_, at);
}

void LockHistory::on(core::NodeId node, const Asked& asked, core::Written /*written*/) {
    if (!asked.counts.empty()) return book_.latches().told_counted(node, asked.counts);
    if (asked.written.empty()) return;  // others may write the same
    const auto at = book_.written_at(asked.written);
    if (at <= asked.floor) {
        return report(node, "a write that the log does not have: " + asked.written);
    }
    answered_up_to_ = std::max(answered_up_to_, at);
}

void LockHistory::on(core::NodeId node, const Asked& asked, const core::Deadlocked& deadlocked) {
    const auto at = book_.refused_at(deadlocked.cycle);
    if (deadlocked.cycle.front().node != node_in_log(node) || at <= asked.floor) {
        return report(node, "a wait cycle that the log does not have");
    }
    answered_up_to_ = std::max(answered_up_to_, at);
}

// --- belief -------------------------------------------------------------------------------------

void LockHistory::lease_changed(core::NodeId node, const core::LeaseChanged& lease) {
    beliefs_.lease_changed(node, lease);
    suspensions_.lease_changed(node, lease, clocks_.boot(node));
}

void LockHistory::lost(const core::HoldLost& lost) {
    suspensions_.lost(lost, book_.ended_at(lost.hold.session).is_set());
    if (beliefs_.ends(lost.hold)) tally_.probe("hold lost");
    if (lost.reason == core::HoldLost::Reason::over) tally_.probe("hold over by its max_hold");
}

void LockHistory::suspended(core::NodeId node, core::OperationId hold) {
    suspensions_.suspended(node, hold, clocks_.boot(node));
}

void LockHistory::node_lost(core::NodeId node) {
    beliefs_.node_lost(node);
    suspensions_.node_lost(node);
    std::erase_if(asked_, [&](const auto& entry) { return entry.first.first == node; });
}

}  // namespace mortise::sim
