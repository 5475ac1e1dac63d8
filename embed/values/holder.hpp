// A holder as the public API shows it.
#pragma once

#include "core/locks/table/holder.hpp"
#include "embed/values/lock_mode.hpp"
#include <mortise/info.hpp>

namespace mortise::detail {

// Without what a grant does not have: the rest of its lease, its age, and its origin.
[[nodiscard]] inline HolderInfo holder_of(const core::Grant& grant, core::NodeId node) {
    HolderInfo holder;
    holder.node = node.raw();
    holder.session = grant.operation.session.raw();
    holder.label = grant.label;
    holder.mode = from_core(grant.mode);
    holder.token = from_core(grant.token);
    holder.since = grant.since.raw();
    holder.cached = grant.is_cached();
    holder.slots = grant.slots;
    return holder;
}

}  // namespace mortise::detail
