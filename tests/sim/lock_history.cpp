#include "tests/sim/lock_history.hpp"

#include <algorithm>

#include "core/base/checksum.hpp"
#include "core/base/overloaded.hpp"
#include "core/codec/command_codec.hpp"
#include "tests/sim/in_words.hpp"

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
                       },
                       [&](const core::Queued& one) { sum.number(one.operation.seq.raw()); },
                       [&](const core::SessionOpened& one) { sum.number(one.session.raw()); },
                       [&](const core::OpenRefused& one) { sum.number(one.nonce); },
                       [&](const core::SessionRenewed& one) { sum.number(one.number); },
                       [&](const core::RenewalLost& one) { sum.number(one.session.raw()); },
                       [&](const core::SessionEnded& one) { sum.number(one.session.raw()); },
                   },
                   outcome);
    }
    return sum.value();
}

std::string in_words(core::OperationId operation) {
    return "operation " + sim::in_words(operation.session) + "/" + sim::in_words(operation.seq);
}

}  // namespace

LockHistory::LockHistory(Violations& violations, Tally& tally, Clocks clocks)
    : violations_{violations}, tally_{tally}, clocks_{std::move(clocks)} {}

// --- the log
// --------------------------------------------------------------------------------------

void LockHistory::applied(core::NodeId node, const core::Applied& applied) {
    const auto index = applied.entry.id.index;
    const auto digest = digest_of(applied.outcomes);
    if (index > last_) {
        last_ = index;
        if (applied.entry.kind == core::EntryKind::commands) specify(node, applied);
        digests_[index] = digest;
    } else if (digests_[index] != digest) {
        report(node, "witness: other outcomes at index " + sim::in_words(index) +
                         " than the first node that applied it");
    }
}

void LockHistory::specify(core::NodeId node, const core::Applied& applied) {
    const auto batch = core::decode_batch(applied.entry.payload);
    if (!batch) {
        report(node, "witness: an entry that does not decode");
        return;
    }
    remember(*batch, applied);
    const auto expected = spec_.apply(applied.entry.id.index, *batch);
    if (!spec::same(expected, applied.outcomes)) {
        report(node, "witness: the specification differs at index " +
                         sim::in_words(applied.entry.id.index));
    }
}

void LockHistory::remember(const std::vector<core::Command>& batch, const core::Applied& applied) {
    const auto index = applied.entry.id.index;
    for (const auto& command : batch) {
        const auto* request = std::get_if<core::Request>(&command);
        if (request == nullptr) continue;
        const auto* acquire = std::get_if<core::Acquire>(&request->body);
        if (acquire == nullptr) continue;
        const core::OperationId id{request->session, request->seq};
        requests_.emplace(id, *acquire);
    }
    for (const auto& outcome : applied.outcomes) {
        if (const auto* queued = std::get_if<core::Queued>(&outcome)) {
            placed_.emplace(queued->operation, index);
            tally_.probe("acquire queued");
        }
        const auto* answered = std::get_if<core::Answered>(&outcome);
        if (answered == nullptr || answered->answer.kind != core::AnswerKind::granted) continue;
        const auto request = requests_.find(answered->operation);
        if (request == requests_.end()) {
            report({}, "witness: " + in_words(answered->operation) + " was granted, not asked for");
            continue;
        }
        const auto asked_at = placed_.emplace(answered->operation, index).first->second;
        const Given given{request->second.name, request->second.mode, answered->answer.token,
                          asked_at, index};
        if (given_.emplace(answered->operation, given).second) check_token(given);
    }
}

// (5). Against readers a writer's token is larger, among readers of one mode it may be shared.
void LockHistory::check_token(const Given& given) {
    auto& newest = newest_[given.name];
    const bool writer = core::is_writer(given.mode);
    const bool rises = writer ? given.token > newest.any : given.token >= newest.any;
    if (!rises || given.token <= newest.writer) {
        report({}, "token order: " + sim::in_words(given.token) + " of " + given.name + " after " +
                       sim::in_words(newest.any));
    }
    newest.any = std::max(newest.any, given.token);
    if (writer) newest.writer = std::max(newest.writer, given.token);
}

// --- calls
// ----------------------------------------------------------------------------------------

void LockHistory::asked(core::NodeId node, const core::AcquireCall& call) {
    asked_[{node, call.tag}] = {node, call.request, answered_up_to_, true};
}

void LockHistory::inspected(core::NodeId node, const core::InspectCall& call) {
    asked_[{node, call.tag}] = {node, {}, call.local ? core::LogIndex{} : answered_up_to_, false};
}

void LockHistory::answered(core::NodeId node, const core::CallAnswer& answer,
                           core::LogIndex applied) {
    const auto found = asked_.find({node, answer.tag});
    if (found == asked_.end()) return;  // a release or a close: nothing is claimed by it
    const auto asked = std::move(found->second);
    asked_.erase(found);
    const auto* taken = std::get_if<core::Acquired>(&answer.result);
    if (taken != nullptr) {
        acquired(node, asked, *taken);
        return;
    }
    const bool read = std::holds_alternative<core::Busy>(answer.result) ||
                      std::holds_alternative<core::Viewed>(answer.result);
    if (!read) return;
    // (2) for what was answered from a read: as of the state here, which must be new enough.
    if (applied < asked.floor) {
        report(node, "real time: a read as of index " + sim::in_words(applied) +
                         ", asked after index " + sim::in_words(asked.floor) + " was answered");
    }
    tally_.probe(asked.acquires ? "try found it busy" : "name inspected");
    const auto* viewed = std::get_if<core::Viewed>(&answer.result);
    if (viewed == nullptr || applied != last_) return;
    answered_up_to_ = std::max(answered_up_to_, applied);
    for (const auto& seen : viewed->locks) {
        if (!(seen == spec_.inspect(seen.name))) {
            report(node, "witness: " + seen.name + " looks other than specified at index " +
                             sim::in_words(applied));
        }
    }
}

void LockHistory::acquired(core::NodeId node, const Asked& asked, const core::Acquired& acquired) {
    const auto given = given_.find(acquired.hold);
    if (given == given_.end() || given->second.token != acquired.token ||
        given->second.name != asked.request.name) {
        report(node, "a grant that the log does not have: " + in_words(acquired.hold));
        return;
    }
    // (2): the place in the queue, or the grant, is behind everything answered before.
    if (given->second.asked_at <= asked.floor) {
        report(node, "real time: " + in_words(acquired.hold) + " took effect before it was asked");
    }
    answered_up_to_ = std::max(answered_up_to_, given->second.given_at);
    believed_[acquired.hold] = {node, asked.request.name, asked.request.mode};
    check_believed(acquired.hold);
}

// --- belief (3)
// -----------------------------------------------------------------------------------

bool LockHistory::is_believed(core::OperationId hold, const Believed& believed) const {
    const auto until = valid_until_.find(hold.session);
    return until != valid_until_.end() && clocks_.boot(believed.node) < until->second;
}

// Belief only ends by itself, so it is enough to look when one begins or is prolonged.
void LockHistory::check_believed(core::OperationId hold) {
    const auto& mine = believed_.at(hold);
    if (!is_believed(hold, mine)) return;
    for (const auto& [other, theirs] : believed_) {
        if (other == hold || theirs.name != mine.name) continue;
        if (core::compatible(theirs.mode, mine.mode) || !is_believed(other, theirs)) continue;
        if (clocks_.out_of_bounds(mine.node) || clocks_.out_of_bounds(theirs.node)) {
            tally_.probe("two believed it, clocks out of bounds");
            continue;
        }
        report(mine.node, "local validity: node " + sim::in_words(mine.node) + " and node " +
                              sim::in_words(theirs.node) + " both believe to hold " + mine.name +
                              " (" + in_words(hold) + ", " + in_words(other) + ")");
    }
}

void LockHistory::lease_changed(core::NodeId node, const core::LeaseChanged& lease) {
    valid_until_[lease.session] = lease.valid_until;
    for (const auto& [hold, believed] : believed_) {
        if (believed.node == node && hold.session == lease.session) check_believed(hold);
    }
}

void LockHistory::releasing(core::NodeId /*node*/, core::OperationId hold) {
    believed_.erase(hold);
}

void LockHistory::lost(core::NodeId /*node*/, const core::HoldLost& lost) {
    if (believed_.erase(lost.hold) != 0) tally_.probe("hold lost");
}

void LockHistory::node_lost(core::NodeId node) {
    std::erase_if(believed_, [&](const auto& entry) { return entry.second.node == node; });
    std::erase_if(asked_, [&](const auto& entry) { return entry.first.first == node; });
}

}  // namespace mortise::sim
