// The service of this node for programs that are not members of the cluster, such as the command
// line. Transport calls it on the node's loop; embed implements it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "core/access/identity.hpp"
#include "core/agent/call.hpp"
#include "core/base/result.hpp"
#include "core/client/client_message.hpp"
#include "transport/wire/client_messages.hpp"

namespace mortise::transport {

// A connection to a client node (S49).
class ClientConnection {
public:
    virtual ~ClientConnection() = default;
    // The notice travels after those before it. If the client does not hear them, the connection
    // is closed.
    virtual void send(const core::ClientNotice& notice) = 0;
    // Closes the connection: the client sent what no client sends.
    virtual void close() = 0;
    // Closes the connection: the client has another one.
    virtual void hang_up() = 0;
    // What the client says from now on is answered after so long, or when resume() is called. Until
    // then it says little more, because it may have only a few such calls open.
    virtual void pause(core::Nanoseconds longest) = 0;
    virtual void resume() = 0;
};

// The observer of one client: asks for what comes next. Answered on the same thread, at once or
// later, at most once, and not after the observer is destroyed, which may be at any time. Call it
// again only after that.
using ClientObserver =
    std::function<void(core::Nanoseconds patience, std::function<void(ObserveAnswer)> answer)>;

// Who speaks on a connection, as this node sees it.
struct Speaker {
    const core::Identity* identity = nullptr;  // of its certificate; null without TLS
    std::string address{};
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
    virtual void evict(core::EvictSession request, std::function<void(ChangeAnswer)> answer) = 0;
    [[nodiscard]] virtual ClientObserver observe(core::ObservedNames names,
                                                 core::Position from) = 0;
    virtual void sessions(SessionsRequest request, std::function<void(SessionsAnswer)> answer) = 0;
    // The hottest names are those with the prefix.
    [[nodiscard]] virtual ActivityAnswer activity(const std::string& /*prefix*/) const {
        return core::ActivityView{};
    }

    // --- client nodes

    // A client node begins to speak on this connection. The error says why it may not. It has no
    // place yet.
    // NOLINTNEXTLINE(performance-unnecessary-value-param): whoever overrides it keeps it
    virtual core::Result<core::ClientId> admit(std::shared_ptr<ClientConnection> /*connection*/) {
        return core::Error{std::make_error_code(std::errc::not_supported),
                           "this member serves no client nodes"};
    }
    // What one call brought, in order.
    // NOLINTNEXTLINE(performance-unnecessary-value-param): whoever overrides it moves the messages
    virtual void said(core::ClientId /*client*/, std::vector<core::ClientMessage> /*messages*/,
                      const Speaker& /*speaker*/) {}
    // It is served: its connection is not closed in favour of a newer one.
    [[nodiscard]] virtual bool has_place(core::ClientId /*client*/) const { return false; }
    // Its connection has ended. Called once for each that was admitted, by a destructor.
    virtual void gone(core::ClientId /*client*/) noexcept {}
};

}  // namespace mortise::transport
