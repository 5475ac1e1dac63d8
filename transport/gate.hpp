// What a node offers to whoever calls: a hello, and the capability that it earns.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/access/identity.hpp"
#include "core/node/message.hpp"
#include "transport/greeting.hpp"
#include "transport/peer.capnp.h"

namespace mortise::transport {

struct Admittance {
    std::optional<Refusal> refusal;
    Greeting ours;                           // the rest: unless refused
    std::optional<wire::Peer::Client> peer;  // exactly one of these
    std::optional<wire::Member::Client> member;
};

// Whoever owns the connection. Called within KJ.
class Visit {
public:
    virtual ~Visit() = default;
    // Empty: the hello makes no sense.
    virtual Admittance hello(const std::optional<Greeting>& caller) = 0;
    virtual void received(std::vector<core::PeerMessage> batch) = 0;
    // The connection is of no more use.
    virtual void malformed() = 0;
    [[nodiscard]] virtual bool is_open() const = 0;
    // As its certificate proved it; empty without TLS.
    [[nodiscard]] virtual const core::Identity* identity() const = 0;
    // From this very machine.
    [[nodiscard]] virtual bool is_local() const = 0;
    // It asks faster than it reads the answers.
    [[nodiscard]] virtual bool is_congested() = 0;
};

// A call may still be on its way when its connection is gone.
wire::Gate::Client make_gate(std::weak_ptr<Visit> visit);
wire::Peer::Client make_peer(std::weak_ptr<Visit> visit, Lane lane);

}  // namespace mortise::transport
