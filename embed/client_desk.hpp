// What this node does for those who ask from outside (transport/client_service.hpp). On the core
// thread.
#pragma once

#include <map>

#include "core/node/effects.hpp"
#include "transport/client_service.hpp"

namespace mortise::detail {

class CoreLoop;

class ClientDesk final : public transport::ClientService {
public:
    // The loop outlives the desk.
    explicit ClientDesk(CoreLoop& loop) : loop_{loop} {}

    [[nodiscard]] transport::MemberStatus status() const override;
    void list(transport::ListRequest request,
              std::function<void(transport::ListAnswer)> answer) override;
    [[nodiscard]] transport::ForwardReply forward(core::Forward forward) override;
    [[nodiscard]] transport::SubscribeAnswer subscribe(const transport::OutcomesRequest& request,
                                                       transport::OutcomeSink& sink) override;
    void unsubscribe(transport::SubscriptionId id) override;

    // Passed on to the streams that it concerns.
    void applied(const core::Applied& applied);
    // The node stops: every stream ends.
    void end();

private:
    struct Stream {
        transport::OutcomesRequest wanted;
        transport::OutcomeSink* sink = nullptr;
    };

    static bool wants(Stream& stream, const core::Outcome& outcome);

    CoreLoop& loop_;
    std::map<transport::SubscriptionId, Stream> streams_;
    transport::SubscriptionId newest_;
};

}  // namespace mortise::detail
