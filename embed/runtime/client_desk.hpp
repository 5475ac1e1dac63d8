// The service of this node for clients (transport/clients/client_service.hpp). It runs on the core
// thread.
#pragma once

#include "transport/clients/client_service.hpp"

namespace mortise::detail {

class CoreLoop;

class ClientDesk final : public transport::ClientService {
public:
    // The loop outlives the desk.
    explicit ClientDesk(CoreLoop& loop) : loop_{loop} {}

    [[nodiscard]] transport::MemberStatus status() const override;
    void list(transport::ListRequest request,
              std::function<void(transport::ListAnswer)> answer) override;
    void change(core::MembershipGoal goal, core::Nanoseconds patience,
                std::function<void(transport::ChangeAnswer)> answer) override;
    void break_lock(core::BreakLock request,
                    std::function<void(transport::ChangeAnswer)> answer) override;

private:
    CoreLoop& loop_;
};

}  // namespace mortise::detail
