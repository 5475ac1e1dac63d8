#include "tests/sim/judges/suspensions.hpp"

#include <limits>
#include <string>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

void Suspensions::report(core::NodeId node, core::OperationId hold, const char* what) {
    violations_.report(node, "suspension: " + in_words(hold) + " " + what);
}

core::Instant Suspensions::valid_until(core::SessionId session) const {
    const auto known = valid_until_.find(session);
    if (known != valid_until_.end()) return known->second;
    return {std::numeric_limits<std::int64_t>::min()};
}

void Suspensions::begins(core::NodeId node, core::OperationId hold, bool suspends) {
    held_[hold] = {node, suspends};
}

void Suspensions::lost(const core::HoldLost& lost, bool session_ended) {
    const auto found = held_.extract(lost.hold);
    if (found.empty()) return;
    const auto& held = found.mapped();
    const bool expired = lost.reason == core::HoldLost::Reason::expired;
    if (held.suspends && expired && !session_ended) {
        report(held.node, lost.hold, "was lost, and was to be suspended while its session lives");
    }
    if (held.is_suspended) tally_.probe("suspended hold lost");
}

void Suspensions::node_lost(core::NodeId node) {
    std::erase_if(held_, [&](const auto& one) { return one.second.node == node; });
    std::erase_if(confirms_, [&](const auto& one) { return one.first.first == node; });
}

// --- the lease ends, and is renewed -------------------------------------------------------------

// A hold that was just released is not judged.
void Suspensions::suspended(core::NodeId node, core::OperationId hold, core::Instant boot) {
    const auto found = held_.find(hold);
    if (found == held_.end()) return;
    auto& held = found->second;
    tally_.probe("hold suspended");
    if (!held.suspends) report(node, hold, "is suspended, and was not to be");
    if (boot < valid_until(hold.session)) report(node, hold, "is suspended while its lease lasts");
    if (held.is_suspended) report(node, hold, "is suspended, and was so before");
    held.is_suspended = true;
}

void Suspensions::lease_changed(core::NodeId node, const core::LeaseChanged& lease,
                                core::Instant boot) {
    const auto had_run_out = valid_until(lease.session) <= boot;
    valid_until_[lease.session] = lease.valid_until;
    if (!had_run_out || lease.valid_until <= boot) return;
    const auto first = held_.lower_bound({lease.session, {}});
    for (auto one = first; one != held_.end() && one->first.session == lease.session; ++one) {
        if (one->second.node == node) held_again(one->first, one->second);
    }
}

void Suspensions::held_again(core::OperationId hold, Held& held) {
    if (!held.suspends) {
        report(held.node, hold, "is held again, and was to be lost when its lease ran out");
    } else if (!held.is_suspended) {
        report(held.node, hold, "is held again, and nobody was told that it was suspended");
    }
    tally_.probe("suspended hold held again");
    held.is_suspended = false;
}

// --- confirmations ------------------------------------------------------------------------------

void Suspensions::asked(core::NodeId node, const core::ConfirmCall& call, core::Instant boot,
                        core::LogIndex floor) {
    const auto held = held_.find(call.hold);
    const bool is_suspended = held != held_.end() && held->second.is_suspended;
    confirms_[{node, call.tag}] = {call.hold, boot, floor, is_suspended};
}

void Suspensions::answered(core::NodeId node, const core::CallAnswer& answer, core::Instant boot,
                           const EndedAt& ended_at) {
    const auto found = confirms_.extract({node, answer.tag});
    if (found.empty()) return;
    const auto& asked = found.mapped();
    if (std::holds_alternative<core::Confirmed>(answer.result)) {
        confirmed(node, asked, boot, ended_at(asked.hold));
    } else if (const auto* error = std::get_if<core::CallError>(&answer.result)) {
        refused(node, asked, *error);
    }
}

void Suspensions::confirmed(core::NodeId node, const Asked& asked, core::Instant boot,
                            core::LogIndex ended) {
    const auto until = valid_until(asked.hold.session);
    tally_.probe(asked.was_suspended ? "suspended hold confirmed" : "hold confirmed");
    if (!held_.contains(asked.hold)) {
        report(node, asked.hold, "is confirmed, and is not held");
    } else if (until <= boot) {
        report(node, asked.hold, "is confirmed without a lease");
    } else if (until < asked.at + trust_) {
        report(node, asked.hold, "is confirmed by a renewal from before it was asked");
    } else if (ended.is_set() && ended <= asked.floor) {
        report(node, asked.hold, "is confirmed, and had ended before it was asked");
    }
}

void Suspensions::refused(core::NodeId node, const Asked& asked, core::CallError error) {
    const bool is_over = error == core::CallError::lock_lost || error == core::CallError::not_held;
    tally_.probe(is_over ? "confirm refused" : "confirm without an answer");
    if (!is_over || !held_.contains(asked.hold)) return;
    report(node, asked.hold, "is not confirmed as if it were lost, and nobody was told");
}

}  // namespace mortise::sim
