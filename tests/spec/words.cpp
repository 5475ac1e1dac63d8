#include "tests/spec/words.hpp"

#include <array>

#include "core/base/overloaded.hpp"

namespace mortise::spec {

using core::OperationId;
using core::Overloaded;

namespace {

template <class Kind>
std::string number(core::Id<Kind> id) {
    return std::to_string(id.raw());
}

const char* name_of(core::QueuePolicy policy) {
    constexpr std::array<const char*, 4> names{"phase_fair", "fifo", "prefer_readers",
                                               "prefer_writers"};
    return names.at(static_cast<std::size_t>(policy));
}

const char* name_of(core::Closure::Kind kind) {
    constexpr std::array<const char*, 5> names{"broken", "min_hold", "max_hold", "lock_delay",
                                               "era"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string terms_words(const core::HoldTerms& terms) {
    std::string text;
    if (terms.max_hold_ms != 0) text += " max_hold=" + std::to_string(terms.max_hold_ms);
    if (terms.min_hold_ms != 0) text += " min_hold=" + std::to_string(terms.min_hold_ms);
    if (terms.lock_delay_ms != 0) text += " lock_delay=" + std::to_string(terms.lock_delay_ms);
    return text;
}

const char* name_of(core::AnswerKind kind) {
    constexpr std::array<const char*, 18> names{"granted",
                                                "busy",
                                                "released",
                                                "cancelled",
                                                "not_held",
                                                "stale_request",
                                                "kind_mismatch",
                                                "resource_exhausted",
                                                "converted",
                                                "deadlock",
                                                "invalid_argument",
                                                "stored",
                                                "broken",
                                                "lost",
                                                "asked",
                                                "permission_denied",
                                                "passed",
                                                "barrier_broken"};
    return names.at(static_cast<std::size_t>(kind));
}

const char* name_of(core::SessionEnd how) {
    constexpr std::array<const char*, 3> names{"closed", "expired", "former_life"};
    return names.at(static_cast<std::size_t>(how));
}

std::string access_words(const core::Access& access) {
    if (access == core::Access::all()) return {};
    std::string text = " as";
    for (const auto role : access.roles)
        text += " " + std::string{to_string(role)};
    for (const auto& rule : access.rules)
        text += " " + std::string{to_string(rule.right)} + ":" + rule.prefix;
    return text;
}

std::string previous_words(const core::Previous& previous) {
    constexpr std::array<const char*, 4> names{"none", "clean", "expired", "broken"};
    return std::string{names.at(static_cast<std::size_t>(previous.how))} + "/" +
           number(previous.token) + "/" + previous.label;
}

std::string locker_words(const core::LockerTag& locker) {
    if (!locker.is_set()) return {};
    return " locker=" + std::to_string(locker.number) + locker.label;
}

std::string slots_words(const core::Slots& slots) {
    std::string text;
    for (const auto slot : slots)
        text += (text.empty() ? " slots=" : ",") + std::to_string(slot);
    return text;
}

std::string acquire_words(const core::Acquire& acquire) {
    const bool all = acquire.which == core::Acquire::Which::all;
    const bool one = !all && acquire.names.size() == 1;
    std::string text = acquire.wait ? "acquire" : "try";
    if (!one) text += all ? " all of" : " any of";
    for (const auto& [name, mode] : acquire.names)
        text += " " + name + (one ? " " : ":") + words(mode);
    if (!one || acquire.policy_given || acquire.policy != core::QueuePolicy::phase_fair) {
        text += std::string{" "} + name_of(acquire.policy);
        if (acquire.policy_given) text += "!";
    }
    if (acquire.priority > 0) text += " priority=" + std::to_string(acquire.priority);
    text += locker_words(acquire.locker) + terms_words(acquire.terms);
    if (acquire.cached_tokens != 0) text += " cached=" + std::to_string(acquire.cached_tokens);
    if (acquire.permits != 0)
        text += " permits=" + std::to_string(acquire.permits) + "/" + std::to_string(acquire.limit);
    return acquire.label.empty() ? text : text + " label=" + acquire.label;
}

std::string body_words(const core::RequestBody& body) {
    return std::visit(
        Overloaded{
            [](const core::Acquire& acquire) { return acquire_words(acquire); },
            [](const core::Release& release) {
                return (release.lost ? "release lost " : "release ") + number(release.operation);
            },
            [](const core::Cancel& cancel) { return "cancel " + number(cancel.operation); },
            [](const core::Downgrade& downgrade) {
                return "downgrade " + number(downgrade.operation) + " to " + words(downgrade.mode);
            },
            [](const core::Upgrade& upgrade) {
                return (upgrade.wait ? "upgrade " : "try to upgrade ") + number(upgrade.operation);
            },
            [](const core::SetValue& set) {
                return "set " + number(set.operation) + " " + set.name + "=" + set.bytes;
            },
            [](const core::MarkConsistent& mark) {
                return "consistent " + number(mark.operation) + " " + mark.name;
            },
            [](const core::Publish& as) {
                return "publish " + number(as.operation) + " token=" + number(as.token) +
                       locker_words(as.locker) + " " + as.label + (as.ended ? " ended" : "");
            },
            [](const core::Resize& resize) {
                auto text = "resize " + resize.name + " to " + std::to_string(resize.limit);
                if (resize.expected_version == 0) return text;
                return text + " from version " + std::to_string(resize.expected_version);
            },
            [](const core::Remove& remove) { return "remove " + remove.name; },
            [](const core::CountDown& one) {
                return "count down " + one.name + " by " + std::to_string(one.count) + "/" +
                       std::to_string(one.expected);
            },
            [](const core::Arrive& one) {
                return (one.drops ? "arrive and drop " : "arrive ") + one.name + "/" +
                       std::to_string(one.parties) +
                       (one.label.empty() ? "" : " label=" + one.label);
            },
            [](const core::Quit& one) {
                return "quit " + number(one.operation) + " at " + one.name;
            },
            [](const core::AwaitLatch& one) {
                return "await " + one.name + "/" + std::to_string(one.expected) +
                       (one.label.empty() ? "" : " label=" + one.label);
            },
            [](const core::Declined&) { return std::string{"declined"}; },
            [](const core::CloseSession&) { return std::string{"close"}; },
            [](const core::AskRelease& request) {
                return "ask for " + request.name + " because " + request.reason;
            },
            [](const core::EvictSession& request) {
                return std::string{request.immediate ? "evict now " : "evict "} +
                       number(request.session) + " because " + request.reason;
            },
            [](const core::BreakLock& request) {
                return std::string{request.immediate ? "break now " : "break "} + request.name +
                       " token=" + number(request.expected) + " because " + request.reason;
            }},
        body);
}

}  // namespace

std::string words(core::LockMode mode) {
    constexpr auto names = std::to_array<const char*>({"IS", "IX", "S", "SIX", "U", "X"});
    static_assert(names.size() == core::lock_modes);
    return names.at(static_cast<std::size_t>(mode));
}

std::string words(OperationId operation) {
    return number(operation.session) + "." + number(operation.seq);
}

std::string words(const core::Command& command) {
    return std::visit(
        Overloaded{[](const core::OpenSession& open) {
                       return "open nonce=" + std::to_string(open.nonce) +
                              " node=" + number(open.node) +
                              " incarnation=" + number(open.generation.incarnation) +
                              " epoch=" + number(open.generation.boot_epoch) +
                              (open.former_life_ended ? " former_life_ended" : "") +
                              access_words(open.access);
                   },
                   [](const core::Renew& renew) {
                       std::string text = "renew";
                       for (const auto& one : renew.renewals) {
                           text += " " + number(one.session) + "#" + std::to_string(one.number);
                       }
                       return text;
                   },
                   [](const core::Expire& expire) {
                       return "expire " + number(expire.session) + "@" + number(expire.renewed_at);
                   },
                   [](const core::Sweep&) { return std::string{"sweep"}; },
                   [](const core::EndClosure& end) { return "end closure " + number(end.closure); },
                   [](const core::Clock& clock) { return "clock " + std::to_string(clock.ms); },
                   [](const core::RaiseCeiling& raise) { return "ceiling " + number(raise.to); },
                   [](const core::Acknowledge& acknowledge) {
                       return "acknowledge " + number(acknowledge.session) + " up to " +
                              number(acknowledge.received);
                   },
                   [](const core::Request& request) {
                       return words(OperationId{request.session, request.seq}) + ": " +
                              body_words(request.body);
                   }},
        command);
}

std::string words(const core::Outcome& outcome) {
    return std::visit(
        Overloaded{
            [](const core::Answered& answered) {
                auto text = words(answered.operation) + " " + name_of(answered.answer.kind);
                for (const auto& step : answered.answer.cycle) {
                    text += " " + number(step.session) + "/" + std::to_string(step.locker) + "/" +
                            step.label + ">" + step.waits_for;
                }
                if (!core::has_token(answered.answer.kind)) return text;
                for (const auto& one : answered.answer.names) {
                    text += " " + one.name + " token=" + number(one.token) +
                            slots_words(one.slots) + " previous=" + previous_words(one.previous);
                }
                if (!answered.answer.names.empty()) return text;
                text += " token=" + number(answered.answer.token);
                if (answered.answer.kind != core::AnswerKind::granted) return text;
                if (const auto cached = answered.answer.cached_tokens; cached != 0)
                    text += " cached=" + std::to_string(cached);
                return text + " previous=" + previous_words(answered.answer.previous);
            },
            [](const core::Queued& queued) { return words(queued.operation) + " queued"; },
            [](const core::SessionOpened& opened) {
                return "opened " + number(opened.session) +
                       " nonce=" + std::to_string(opened.nonce);
            },
            [](const core::OpenRefused& refused) {
                constexpr std::array<const char*, 3> why{"", " table_full", " era"};
                return "open refused nonce=" + std::to_string(refused.nonce) +
                       why.at(static_cast<std::size_t>(refused.why));
            },
            [](const core::SessionRenewed& renewed) {
                auto text =
                    "renewed " + number(renewed.session) + "#" + std::to_string(renewed.number);
                for (const auto seq : renewed.broken)
                    text += " broken=" + number(seq);
                return text;
            },
            [](const core::RenewalLost& lost) { return "renewal lost " + number(lost.session); },
            [](const core::SessionEnded& ended) {
                return "ended " + number(ended.session) + " " + name_of(ended.how);
            },
            [](const core::LockBroken& broken) {
                std::string text = broken.name + ":" + number(broken.token);
                text += broken.immediate ? " broken now by " : " broken by ";
                text += words(broken.by);
                for (const auto hold : broken.holds)
                    text += " lost=" + words(hold);
                return text + " because " + broken.reason;
            },
            [](const core::SessionEvicted& evicted) {
                return number(evicted.session) + " of node " + number(evicted.node) +
                       (evicted.immediate ? " evicted now by " : " evicted by ") +
                       words(evicted.by) + " because " + evicted.reason;
            },
            [](const core::ReleaseAsked& asked) {
                auto text = words(asked.by) + " asks for " + asked.name + " of";
                for (const auto hold : asked.holds)
                    text += " " + words(hold);
                return text + " because " + asked.reason;
            },
            [](const core::ClosureBegun& begun) {
                if (begun.kind == core::Closure::Kind::broken) {
                    return "closure " + number(begun.closure) + " of " +
                           number(begun.hold.session) + "@" + number(begun.since);
                }
                return "closure " + number(begun.closure) + " " + name_of(begun.kind) + "=" +
                       std::to_string(begun.time_ms) + " of " + words(begun.hold) + " on " +
                       begun.name;
            },
            [](const core::ClosureEnded& ended) {
                return "closure " + number(ended.closure) + " ended";
            }},
        outcome);
}

std::string words(const core::Outcomes& outcomes) {
    std::string text;
    for (const auto& outcome : outcomes)
        text += (text.empty() ? "" : "; ") + words(outcome);
    return text.empty() ? "nothing" : text;
}

std::string words(const core::LockView& view) {
    std::string text = view.name + " (" + name_of(view.policy) + ") held by";
    for (const auto& holder : view.holders) {
        text += " " + words(holder.operation) + ":" + words(holder.mode) + ":" +
                number(holder.token) + "@" + number(holder.since) + "/" + holder.label +
                slots_words(holder.slots);
    }
    text += ", waited for by";
    for (const auto& waiter : view.waiters) {
        text += " " + words(waiter.operation) + ":" + words(waiter.mode) + "@" +
                number(waiter.since) + "/" + waiter.label;
        if (waiter.upgrades.is_set()) text += " upgrades " + number(waiter.upgrades);
        if (waiter.permits != 0) text += " permits=" + std::to_string(waiter.permits);
    }
    if (view.is_closed) text += ", closed under " + number(view.closed_under);
    if (const auto* its = view.as<core::Semaphore>()) {
        text +=
            ", limit " + std::to_string(its->permits) + " version " + std::to_string(its->version);
    }
    if (const auto* its = view.as<core::Latch>())
        text += ", latch with " + std::to_string(its->remaining) + " to count";
    if (const auto* its = view.as<core::Barrier>()) {
        text += ", barrier with " + std::to_string(its->arrived) + " of " +
                std::to_string(its->parties) + " in phase " + std::to_string(its->phase) +
                (its->is_broken ? ", broken" : "");
        for (const auto& member : its->members) {
            text += ", session " + number(member.session) + " of node " + number(member.node) +
                    " " + std::to_string(member.arrived) + "/" + std::to_string(member.parties);
        }
    }
    if (!view.value) return text;
    text += ", value " + std::to_string(view.value->version) + "=" + view.value->bytes;
    return text + (view.value->dirty ? " dirty" : "");
}

}  // namespace mortise::spec
