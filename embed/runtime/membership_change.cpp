#include "embed/runtime/membership_change.hpp"

#include <utility>

#include "core/base/overloaded.hpp"
#include "embed/config/host_port.hpp"
#include "embed/runtime/translate.hpp"
#include <mortise/lock_error.hpp>

namespace mortise {

namespace detail {

ChangeOutcome check_goal(const core::MembershipGoal& goal) {
    if (!goal.member.is_set()) return {Errc::invalid_argument, "a node's id is 1 or more"};
    const bool has_address = goal.kind == core::MembershipGoal::Kind::learner ||
                             goal.kind == core::MembershipGoal::Kind::address;
    if (!has_address) return {};
    const auto address = parse_host_port(goal.address);
    if (address && address->port != 0) return {};
    if (address) return {Errc::invalid_argument, "the port of a member must not be 0"};
    return {Errc::invalid_argument, not_an_address(goal.address)};
}

ChangeOutcome outcome_of(const transport::ChangeAnswer& answer) {
    return std::visit(core::Overloaded{
                          [](const core::Changed&) { return ChangeOutcome{}; },
                          [](core::MembershipRefusal why) {
                              return ChangeOutcome{errc_of(why), reason_of(why)};
                          },
                          [](core::CallError error) {
                              return ChangeOutcome{errc_of(error), {}};
                          },
                          [](const core::Denied& denied) {
                              return ChangeOutcome{Errc::permission_denied, denied.why};
                          },
                      },
                      answer);
}

void throw_unless_changed(ChangeOutcome outcome, NodeId member) {
    if (!outcome.error) return;
    ErrorDetail detail;
    detail.name = "node " + std::to_string(member);
    detail.reason = std::move(outcome.reason);
    throw LockError{outcome.error, std::move(detail)};
}

}  // namespace detail

}  // namespace mortise
