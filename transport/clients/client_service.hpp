// The service of this node for programs that are not members of the cluster, such as the command
// line. Transport calls it on the node's loop; embed implements it.
#pragma once

#include <functional>
#include <memory>

#include "core/agent/call.hpp"
#include "transport/wire/client_messages.hpp"

namespace mortise::transport {

// The observer of one client. It may be destroyed at any time; then it answers no more.
class ClientObserver {
public:
    virtual ~ClientObserver() = default;

    // Answered on the same thread, at once or later, at most once, and not after the observer is
    // destroyed. Call it again only after that.
    virtual void next(core::Nanoseconds patience, std::function<void(ObserveAnswer)> answer) = 0;
};

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
    [[nodiscard]] virtual std::unique_ptr<ClientObserver> observe(core::ObservedNames names,
                                                                  core::Position from) = 0;
    virtual void sessions(SessionsRequest request, std::function<void(SessionsAnswer)> answer) = 0;
};

}  // namespace mortise::transport
