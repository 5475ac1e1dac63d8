// The common part of Node's and Remote's membership calls.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "core/raft/configuration_change.hpp"
#include "transport/wire/client_messages.hpp"
#include <mortise/node_id.hpp>

namespace mortise::detail {

struct ChangeOutcome {
    std::error_code error;
    std::string reason;  // empty if the code says everything
};

// Checks what no cluster would accept; no error if the change is valid.
[[nodiscard]] ChangeOutcome check_goal(const core::MembershipGoal& goal);
[[nodiscard]] ChangeOutcome outcome_of(const transport::ChangeAnswer& answer);
// Throws LockError unless there is no error.
void throw_unless_changed(ChangeOutcome outcome, NodeId member);

}  // namespace mortise::detail
