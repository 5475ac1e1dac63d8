#include "transport/rpc/rpc_connection.hpp"

#include <utility>

#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

capnp::ReaderOptions options() {
    // The limits also apply to outgoing messages, since RPC refuses to send what it would not
    // accept.
    return {traversal_words_max, nesting_max};
}

}  // namespace

RpcConnection::RpcConnection(kj::Own<SocketStream> stream, capnp::rpc::twoparty::Side side,
                             kj::Maybe<capnp::Capability::Client> offered, FrameLimits limits,
                             std::function<void()> ended)
    : stream_{kj::mv(stream)},
      ended_{std::move(ended)},
      frames_{*stream_, limits, [this] { end(); }},
      network_{frames_, side, options()},
      system_{network_, kj::mv(offered)},
      tasks_{*this} {
    // Cap'n Proto's own flow limit is not used: a connection that it pauses does not detect its
    // end. RpcGuard limits the same thing by refusing.
    // Before 1.0 it writes each message by itself, and counts it until that is sent.
    if constexpr (CAPNP_VERSION >= 1'000'000)
        frames_.count_gathered([this] { return network_.getCurrentQueueSize(); });
    tasks_.add(network_.onDisconnect().then([this] { end(); }));
}

capnp::Capability::Client RpcConnection::bootstrap() {
    capnp::MallocMessageBuilder message{4};
    auto id = message.initRoot<capnp::rpc::twoparty::VatId>();
    id.setSide(network_.getSide() == capnp::rpc::twoparty::Side::CLIENT
                   ? capnp::rpc::twoparty::Side::SERVER
                   : capnp::rpc::twoparty::Side::CLIENT);
    return system_.bootstrap(id);
}

void RpcConnection::close() {
    closed_ = true;
    stream_->close();
}

void RpcConnection::taskFailed(kj::Exception&& /*exception*/) {
    end();
}

void RpcConnection::end() {
    if (std::exchange(closed_, true)) return;
    ended_();
}

}  // namespace mortise::transport
