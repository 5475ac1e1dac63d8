#include "embed/runtime/own_joining.hpp"

#include <utility>
#include <variant>

#include "embed/runtime/translate.hpp"
#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

using Kind = core::MembershipGoal::Kind;

std::string why_not(const core::CallAnswer& answer) {
    if (const auto* refusal = std::get_if<core::MembershipRefusal>(&answer.result))
        return reason_of(*refusal);
    if (const auto* error = std::get_if<core::CallError>(&answer.result))
        return std::error_code{errc_of(*error)}.message();
    if (const auto* denied = std::get_if<core::Denied>(&answer.result)) return denied->why;
    return {};
}

}  // namespace

bool is_to_be_added(const FoundPeers::Node& node, const core::Configuration& present,
                    core::LogId changed_at) {
    return node.hello && node.hello->is_empty() && !node.hello->address.empty() &&
           present.find(node.id) == nullptr && node.asked_at == changed_at;
}

void OwnJoining::look(const core::Raft& raft, const std::vector<FoundPeers::Node>& found) {
    const auto& present = raft.configuration();
    if (is_asking_ || !present.is_formed()) return;
    const core::NodeId self{config_.own_id()};
    if (config_.role == Role::voter && raft.leader() && present.is_learner(self))
        return request({Kind::voter, self, {}}, {});
    // A change that is not committed may yet be replaced by another one at its place in the log.
    if (!raft.is_leader() || !raft.is_configuration_committed()) return;
    if (const auto* next = next_to_add(raft, found))
        request({Kind::learner, next->id, next->hello->address}, next->asked_at.index);
}

// In turn: one that cannot be added must not keep the others out.
const FoundPeers::Node* OwnJoining::next_to_add(const core::Raft& raft,
                                                const std::vector<FoundPeers::Node>& found) {
    const FoundPeers::Node* lowest = nullptr;
    const FoundPeers::Node* next = nullptr;
    for (const auto& node : found) {
        if (!is_to_be_added(node, raft.configuration(), raft.configuration_id())) continue;
        if (lowest == nullptr || node.id < lowest->id) lowest = &node;
        if (node.id > added_last_ && (next == nullptr || node.id < next->id)) next = &node;
    }
    if (next == nullptr) next = lowest;
    if (next != nullptr) added_last_ = next->id;
    return next;
}

void OwnJoining::request(const core::MembershipGoal& goal, core::LogIndex seen) {
    is_asking_ = true;
    request_(goal, seen, [this, goal](const core::CallAnswer& answer) { answered(goal, answer); });
}

// It is asked again at the next look.
void OwnJoining::answered(const core::MembershipGoal& goal, const core::CallAnswer& answer) {
    is_asking_ = false;
    const auto node = "node " + std::to_string(goal.member.raw());
    const bool adds = goal.kind == Kind::learner;
    if (std::holds_alternative<core::Changed>(answer.result)) {
        log_.info("joined", node + (adds ? ", which was found at " + escaped(goal.address) +
                                               ", is a learner of the cluster now"
                                         : " is a voter now"));
    } else {
        log_.info("joins_not_yet", node + (adds ? " is not added: " : " has no vote yet: ") +
                                       escaped(why_not(answer)));
    }
}

}  // namespace mortise::detail
