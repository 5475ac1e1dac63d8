// What an outgoing connection has in each of its stages: one struct for each in a variant, so that
// nothing of an earlier stage or attempt survives. LinkMachine decides when the stage changes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "transport/peer.capnp.h"
#include "transport/peers/link_calls.hpp"
#include "transport/peers/peer_connections.hpp"
#include "transport/rpc/handshake.hpp"
#include "transport/rpc/rpc_connection.hpp"
#include "transport/sockets/dial.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {

namespace link_stage {
// There is no connection: the link is stopped or backs off, or its attempt has just failed.
struct Idle {};
// The TCP connection is being opened.
struct Dialling {
    std::shared_ptr<Dial> dial;  // cancelled if this stage ends before it
};
// The TLS handshake runs; without TLS there is no such stage.
struct Handshaking {
    std::shared_ptr<Handshake> handshake;  // cancelled if this stage ends before it
};
// There is a stream, and the former connection to the peer is dropped before anything is said.
struct Connected {
    std::function<kj::Own<SocketStream>(KjLoop&)> take_stream;  // called once, within KJ
    std::unique_ptr<PeerCertificate> certificate;               // null without TLS
};
// Our hello is on its way.
struct Introducing {
    std::unique_ptr<PeerCertificate> certificate;  // null without TLS
    std::unique_ptr<RpcConnection> connection;     // on which the hello is sent
    // What the peer offers. Set by its answer, just before that is judged.
    std::optional<wire::Peer::Client> remote = std::nullopt;
};
// The peer has answered as it should.
struct Up {
    std::unique_ptr<PeerCertificate> certificate;  // null without TLS
    std::unique_ptr<RpcConnection> connection;     // the same as while it introduced itself
    wire::Peer::Client remote;  // takes the messages, as long as this reference to it exists
    // The election timeout of the peer. Not set if its hello does not say.
    std::optional<core::Nanoseconds> timeout_of_peer;
    LinkCalls calls;  // that were sent, from now on
    // Set once the owner has admitted the connection, until it is told that it is down. Nothing is
    // sent before and after that.
    std::optional<ConnectionId> id = std::nullopt;
};
}  // namespace link_stage

using LinkStage = std::variant<link_stage::Idle, link_stage::Dialling, link_stage::Handshaking,
                               link_stage::Connected, link_stage::Introducing, link_stage::Up>;

}  // namespace mortise::transport
