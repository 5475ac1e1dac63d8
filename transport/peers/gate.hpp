// What a node offers to a caller: the hello, and the capability that a valid hello earns.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/access/identity.hpp"
#include "core/base/ids.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/greeting.hpp"

namespace mortise::transport {

struct Admittance {
    std::optional<Refusal> refusal;
    Greeting ours;                           // the members below are set unless it is refused
    std::optional<wire::Peer::Client> peer;  // exactly one of these
    std::optional<wire::Member::Client> member;
};

// The owner of the connection. Called within KJ.
class Visit {
public:
    virtual ~Visit() = default;
    // Empty: the hello was malformed.
    virtual Admittance hello(const std::optional<Greeting>& caller) = 0;
    // The connection must be closed.
    virtual void malformed() = 0;
    // The connection is not needed any more.
    virtual void hang_up() = 0;
    // So many bytes are kept for the caller until it asks for them. If all clients together have
    // too much, those with the most are closed; the caller may be among them.
    virtual void keeps(std::size_t bytes) = 0;
    // The caller is that client node.
    virtual void speaks_as(core::ClientId client) = 0;
    [[nodiscard]] virtual bool is_open() const = 0;
    // The identity that the certificate proved; empty without TLS.
    [[nodiscard]] virtual const core::Identity* identity() const = 0;
    // True if the caller is on this machine.
    [[nodiscard]] virtual bool is_local() const = 0;
    // From where the caller is connected, without a port.
    [[nodiscard]] virtual std::string address() const = 0;
    // True if the caller sends requests faster than it reads the answers.
    [[nodiscard]] virtual bool is_congested() = 0;
};

// A call may still arrive after its connection is gone.
wire::Gate::Client make_gate(std::weak_ptr<Visit> visit);
// A number to call for a peer. Its calls do not reach Cap'n Proto (rpc/send_call.hpp).
wire::Peer::Client make_peer();

}  // namespace mortise::transport
