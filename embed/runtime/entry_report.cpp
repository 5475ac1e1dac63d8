#include "embed/runtime/entry_report.hpp"

#include <string>

#include "embed/runtime/translate.hpp"
#include "embed/values/duration_buckets.hpp"
#include <mortise/escaped.hpp>

namespace mortise::detail {

void EntryReport::appended(core::LogIndex last, bool is_leader) {
    if (is_leader) {
        commits_.appended(last, now_);
    } else {
        commits_.clear();
    }
}

void EntryReport::applied(const core::Applied& applied) {
    ++parts_.counters.entries_applied;
    parts_.counters.commands_applied += applied.outcomes.size();
    const auto took = commits_.applied(applied.entry.id.index, now_);
    if (took) count(parts_.counters.commit_time, *took);
    if (applied.entry.id <= had_) return;
    for (const auto& outcome : applied.outcomes) {
        if (const auto* broken = std::get_if<core::LockBroken>(&outcome)) lock_broken(*broken);
        if (const auto* evicted = std::get_if<core::SessionEvicted>(&outcome))
            session_evicted(*evicted);
    }
}

// The line is for operators who investigate the break later (S24).
void EntryReport::lock_broken(const core::LockBroken& broken) {
    ++parts_.counters.locks_broken;
    const auto by = parts_.node_of(broken.by.session);
    const auto token = static_cast<std::int64_t>(broken.token.raw());
    const auto who =
        broken.asked_by.empty() ? std::string{} : ", asked by " + escaped(broken.asked_by) + ",";
    parts_.log.warn("lock_broken",
                    in_words(by) + who + " broke \"" + escaped_name(broken.name) + "\", token " +
                        std::to_string(token) + (broken.immediate ? ", at once" : "") + ": " +
                        escaped(broken.reason),
                    {{"name", broken.name},
                     {"token", std::to_string(token)},
                     {"peer", std::to_string(by.raw())},
                     {"asked_by", broken.asked_by},
                     {"reason", broken.reason}});
    // The log is for the operator of the node. Events are for its program, which may not be allowed
    // to observe the name.
    if (!parts_.access.may(core::Right::observe, broken.name)) return;
    parts_.events.publish({.kind = NodeEvent::Kind::lock_broken,
                           .text = broken.reason,
                           .peer = by.raw(),
                           .name = broken.name,
                           .token = FencingToken::from_raw(token),
                           .asked_by = broken.asked_by});
}

void EntryReport::session_evicted(const core::SessionEvicted& evicted) {
    const auto by = parts_.node_of(evicted.by.session);
    const auto who =
        evicted.asked_by.empty() ? std::string{} : ", asked by " + escaped(evicted.asked_by) + ",";
    const auto session = std::to_string(evicted.session.raw());
    parts_.log.warn("session_evicted",
                    in_words(by) + who + " evicted session " + session + " of " +
                        in_words(evicted.node) + (evicted.immediate ? ", at once" : "") + ": " +
                        escaped(evicted.reason),
                    {{"session", session},
                     {"node", std::to_string(evicted.node.raw())},
                     {"peer", std::to_string(by.raw())},
                     {"asked_by", evicted.asked_by},
                     {"reason", evicted.reason}});
}

}  // namespace mortise::detail
