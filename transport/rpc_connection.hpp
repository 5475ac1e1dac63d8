// Cap'n Proto RPC on one socket, from its first byte to its last.
#pragma once

#include <functional>

#include <capnp/rpc-twoparty.h>

#include "transport/asio_stream.hpp"
#include "transport/message_stream.hpp"

namespace mortise::transport {

// Made and destroyed within KjLoop::run, but not by what runs on it: KJ does not survive a promise
// that destroys itself. Whoever wants an end to it from there closes it now and destroys it later.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class RpcConnection final : private kj::TaskSet::ErrorHandler {
public:
    // `ended` is called once, within KJ, when the connection is of no more use: its other side is
    // gone, or said what nobody should, or a task failed. Not after close().
    RpcConnection(kj::Own<SocketStream> stream, capnp::rpc::twoparty::Side side,
                  kj::Maybe<capnp::Capability::Client> offered, FrameLimits limits,
                  std::function<void()> ended);
    KJ_DISALLOW_COPY(RpcConnection);

    // What the other side offers.
    capnp::Capability::Client bootstrap();
    // Runs while the connection is there.
    void add(kj::Promise<void> task) { tasks_.add(kj::mv(task)); }
    void close();

    [[nodiscard]] bool is_closed() const { return closed_; }
    // Why its stream ended; no error while it has not.
    [[nodiscard]] asio::error_code read_error() const { return stream_->read_error(); }
    [[nodiscard]] MessageStream& frames() { return frames_; }
    // Waiting for the other side to read: by Cap'n Proto, and by the stream.
    [[nodiscard]] std::size_t unsent_bytes() {
        return network_.getCurrentQueueSize() + stream_->unsent_bytes();
    }
    [[nodiscard]] std::uint64_t sent_bytes() const { return stream_->sent_bytes(); }
    // The other side has closed, and nobody reads, which would tell.
    [[nodiscard]] bool is_gone() { return frames_.is_paused() && stream_->is_gone(); }

private:
    using System = capnp::RpcSystem<capnp::rpc::twoparty::VatId>;

    void taskFailed(kj::Exception&& exception) override;
    void end();

    kj::Own<SocketStream> stream_;
    bool closed_ = false;
    std::function<void()> ended_;
    MessageStream frames_;
    capnp::TwoPartyVatNetwork network_;
    System system_;
    kj::TaskSet tasks_;
};

}  // namespace mortise::transport
