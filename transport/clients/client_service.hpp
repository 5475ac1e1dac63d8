// The service of this node for programs that are not members of the cluster, such as the command
// line. Transport calls it on the node's loop; embed implements it.
#pragma once

#include <functional>

#include "core/agent/call.hpp"
#include "transport/wire/client_messages.hpp"

namespace mortise::transport {

class ClientService {
public:
    virtual ~ClientService() = default;

    [[nodiscard]] virtual MemberStatus status() const = 0;
    // Answered on the same thread, at once or later, exactly once unless the node stops.
    virtual void list(ListRequest request, std::function<void(ListAnswer)> answer) = 0;
    // Likewise. The caller's rights were checked before (client_rights.hpp).
    virtual void change(core::MembershipGoal goal, core::Nanoseconds patience,
                        std::function<void(ChangeAnswer)> answer) = 0;
    virtual void break_lock(core::BreakLock request, std::function<void(ChangeAnswer)> answer) = 0;
};

}  // namespace mortise::transport
