// What a member has to tell a client node, until the client hears it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/steady_timer.hpp>

#include "core/base/instant.hpp"
#include "transport/clients/client_service.hpp"
#include "transport/peers/gate.hpp"
#include "transport/rpc/kj_on_asio.hpp"
#include "transport/wire/pieces.hpp"

namespace mortise::transport {

class ClientNodeConnection final : public ClientConnection,
                                   public std::enable_shared_from_this<ClientNodeConnection> {
public:
    ClientNodeConnection(std::weak_ptr<Visit> visit, KjLoop::Handle loop)
        : visit_{std::move(visit)}, loop_{std::move(loop)} {}

    void send(const core::ClientNotice& notice) override;
    void close() override { end_with(&Visit::malformed); }
    void hang_up() override { end_with(&Visit::hang_up); }
    void pause(core::Nanoseconds longest) override;
    void resume() override;

    // False: too many calls wait already.
    [[nodiscard]] bool may_wait() const;
    // The next piece, when there is one. Called within KJ.
    [[nodiscard]] kj::Promise<std::string> hear();
    // Done when a call that said something is to be answered. Called within KJ.
    [[nodiscard]] kj::Promise<void> may_say_more();

private:
    void end_with(void (Visit::*how)());
    void answer();
    void tell_kept();
    void resume_later();

    std::weak_ptr<Visit> visit_;
    KjLoop::Handle loop_;
    PieceWriter pieces_;
    std::size_t state_left_ = 0;  // so much of pieces_ is a state, and what preceded it
    std::deque<kj::Own<kj::PromiseFulfiller<std::string>>> waiting_;
    std::vector<kj::Own<kj::PromiseFulfiller<void>>> said_;  // wait until it may say more
    core::Instant paused_until_;
    std::optional<asio::steady_timer> timer_;  // created when it is first used
};

}  // namespace mortise::transport
