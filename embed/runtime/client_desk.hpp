// The service of this node for clients (transport/clients/client_service.hpp). It runs on the core
// thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "embed/runtime/client_observers.hpp"
#include "transport/clients/client_service.hpp"
#include <mortise/info.hpp>

namespace mortise::detail {

class CoreLoop;

class ClientDesk final : public transport::ClientService {
public:
    // The loop outlives the desk. It is not used by the constructor, except for its io_context.
    ClientDesk(CoreLoop& loop, asio::io_context& io);

    [[nodiscard]] transport::MemberStatus status() const override;
    void list(transport::ListRequest request,
              std::function<void(transport::ListAnswer)> answer) override;
    void change(core::MembershipGoal goal, core::Nanoseconds patience,
                std::function<void(transport::ChangeAnswer)> answer) override;
    void break_lock(core::BreakLock request,
                    std::function<void(transport::ChangeAnswer)> answer) override;
    void evict(core::EvictSession request,
               std::function<void(transport::ChangeAnswer)> answer) override;
    core::Result<core::ClientId> admit(
        std::shared_ptr<transport::ClientConnection> connection) override;
    void said(core::ClientId client, std::vector<core::ClientMessage> messages,
              const transport::Speaker& speaker) override;
    [[nodiscard]] bool has_place(core::ClientId client) const override;
    void gone(core::ClientId client) noexcept override;

    // To a client node. Null if it has none; using it may end it.
    [[nodiscard]] std::shared_ptr<transport::ClientConnection> connection_of(
        core::ClientId client) const;
    // The node stops: nothing reaches it any more.
    void close();
    [[nodiscard]] transport::ClientObserver observe(core::ObservedNames names,
                                                    core::Position from) override;
    void sessions(transport::SessionsRequest request,
                  std::function<void(transport::SessionsAnswer)> answer) override;
    [[nodiscard]] transport::ActivityAnswer activity(const std::string& prefix) const override;
    // The same, whoever asks.
    [[nodiscard]] core::ActivityView activity_now(std::string_view prefix) const;

    // See NodeLoop::sessions().
    [[nodiscard]] std::vector<SessionInfo> sessions_after(SessionId after) const;

    // See ClientObservers::tell().
    [[nodiscard]] bool tell_observers() { return observers_.tell(); }

private:
    [[nodiscard]] std::optional<core::Denied> denial_of_observing(std::string_view prefix) const;
    [[nodiscard]] transport::SessionsReply sessions_now(
        const transport::SessionsRequest& request) const;

    CoreLoop& loop_;
    std::map<core::ClientId, std::shared_ptr<transport::ClientConnection>> connections_;
    core::ClientId newest_;
    bool is_closed_ = false;
    ClientObservers observers_;
};

}  // namespace mortise::detail
