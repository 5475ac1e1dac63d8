#include "tests/sim/judges/closings.hpp"

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

void Closings::asked(core::NodeId node, core::CallTag tag,
                     const std::set<core::OperationId>& holds) {
    closings_[node] = {tag, holds, holds, false};
}

// A lease that ended just before, as after a suspend, is noticed in the step of the close: its
// holds were lost, and are released as lost.
void Closings::lost(core::NodeId node, const core::HoldLost& lost) {
    const auto found = closings_.find(node);
    if (found == closings_.end()) return;
    auto& closing = found->second;
    closing.to_lose.erase(lost.hold);
    if (lost.reason != core::HoldLost::Reason::node_stopped) closing.holds.erase(lost.hold);
}

void Closings::after_call(core::NodeId node) {
    const auto found = closings_.find(node);
    if (found == closings_.end() || found->second.to_lose.empty()) return;
    report(node, in_words(*found->second.to_lose.begin()) + " is still held");
}

void Closings::ended(core::SessionId session, core::SessionEnd how) {
    if (how == core::SessionEnd::closed) closed_.insert(session);
}

void Closings::closed(core::NodeId node, const std::vector<core::CallTag>& owed,
                      const LogBook& book) {
    auto& closing = closings_.at(node);
    closing.is_closed = true;
    if (!owed.empty()) report(node, "is done, and call " + in_words(owed.front()) + " is not");
    const auto session = sessions_.find(node);
    if (session == sessions_.end()) return;
    if (!book.ended_at(session->second).is_set()) report(node, "is done, and its session lives");
    if (!closed_.contains(session->second)) return;
    tally_.probe("session closed");
    if (!closing.holds.empty()) tally_.probe("session closed while it held");
    for (const auto hold : closing.holds) {
        if (book.was_given_up(hold)) report(node, in_words(hold) + " was given back as if lost");
    }
}

void Closings::answered(core::NodeId node, const core::CallAnswer& answer) {
    const bool is_held = std::holds_alternative<core::Acquired>(answer.result) ||
                         std::holds_alternative<core::Confirmed>(answer.result);
    if (is_held && is_closing(node)) report(node, "call " + in_words(answer.tag) + " has a hold");
}

void Closings::node_lost(core::NodeId node) {
    closings_.erase(node);
    sessions_.erase(node);
}

bool Closings::is_closing(core::NodeId node, core::CallTag tag) const {
    const auto found = closings_.find(node);
    return found != closings_.end() && found->second.tag == tag;
}

bool Closings::is_closed(core::NodeId node) const {
    const auto found = closings_.find(node);
    return found != closings_.end() && found->second.is_closed;
}

}  // namespace mortise::sim
