// Changes of the members that a program requests.
#include <utility>

#include "embed/runtime/membership_change.hpp"
#include "embed/runtime/node_runtime.hpp"
#include <mortise/node.hpp>

namespace mortise {

using detail::ChangeOutcome;
using detail::NodeRuntime;
using Kind = core::MembershipGoal::Kind;

namespace {

ChangeOutcome change(const std::shared_ptr<NodeRuntime>& runtime, core::MembershipGoal goal) {
    if (!runtime) return {Errc::node_stopped, {}};
    if (runtime->is_forked()) return {Errc::forked, {}};
    if (auto wrong = detail::check_goal(goal); wrong.error) return wrong;
    // keeps the gate alive if the node is destroyed during the wait
    const auto gate = runtime->gate();
    const auto deadline = std::chrono::steady_clock::now() + gate->call_timeout();
    const core::ChangeCall call{gate->next_tag(), std::move(goal),
                                core::Instant{deadline.time_since_epoch().count()}};
    auto waiting = std::make_shared<detail::WaitingThread>();
    if (const auto error = gate->submit(call, waiting)) return {error, {}};
    auto outcome = waiting->answer_by(deadline, Errc::outcome_unknown);
    return {outcome.error, std::move(outcome.reason)};
}

}  // namespace

void Node::add_member(NodeId id, std::string_view address, std::error_code& ec) {
    ec = change(runtime_, {Kind::learner, core::NodeId{id}, std::string{address}}).error;
}

void Node::add_member(NodeId id, std::string_view address) {
    auto outcome = change(runtime_, {Kind::learner, core::NodeId{id}, std::string{address}});
    detail::throw_unless_changed(std::move(outcome), id);
}

void Node::promote_member(NodeId id, std::error_code& ec) {
    ec = change(runtime_, {Kind::voter, core::NodeId{id}, {}}).error;
}

void Node::promote_member(NodeId id) {
    detail::throw_unless_changed(change(runtime_, {Kind::voter, core::NodeId{id}, {}}), id);
}

void Node::remove_member(NodeId id, std::error_code& ec) {
    ec = change(runtime_, {Kind::gone, core::NodeId{id}, {}}).error;
}

void Node::remove_member(NodeId id) {
    detail::throw_unless_changed(change(runtime_, {Kind::gone, core::NodeId{id}, {}}), id);
}

void Node::move_member(NodeId id, std::string_view address, std::error_code& ec) {
    ec = change(runtime_, {Kind::address, core::NodeId{id}, std::string{address}}).error;
}

void Node::move_member(NodeId id, std::string_view address) {
    auto outcome = change(runtime_, {Kind::address, core::NodeId{id}, std::string{address}});
    detail::throw_unless_changed(std::move(outcome), id);
}

void Node::transfer_leadership(NodeId to, std::error_code& ec) {
    ec = change(runtime_, {Kind::leader, core::NodeId{to}, {}}).error;
}

void Node::transfer_leadership(NodeId to) {
    detail::throw_unless_changed(change(runtime_, {Kind::leader, core::NodeId{to}, {}}), to);
}

}  // namespace mortise
