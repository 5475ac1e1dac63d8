// Cap'n Proto RPC on one socket.
#pragma once

#include <functional>

#include <capnp/rpc-twoparty.h>

#include "transport/rpc/asio_stream.hpp"
#include "transport/rpc/message_stream.hpp"

namespace mortise::transport {

// Made and destroyed within KjLoop::run, but not by a promise that runs on it: KJ does not survive
// a promise that destroys itself. Such code closes the connection now and destroys it later.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class RpcConnection final : private kj::TaskSet::ErrorHandler {
public:
    // `ended` is called once, within KJ, when the connection cannot be used any more: its other
    // side has gone or sent something invalid, or a task failed. It is not called after close().
    RpcConnection(kj::Own<SocketStream> stream, capnp::rpc::twoparty::Side side,
                  kj::Maybe<capnp::Capability::Client> offered, FrameLimits limits,
                  std::function<void()> ended);
    KJ_DISALLOW_COPY(RpcConnection);

    // The capability that the other side offers.
    capnp::Capability::Client bootstrap();
    // Runs the task while the connection exists.
    void add(kj::Promise<void> task) { tasks_.add(kj::mv(task)); }
    // Sends the frames that were allowed to wait. Must be called now and then.
    void send_gathered() { stream_->send_gathered(); }
    void close();

    [[nodiscard]] bool is_closed() const { return closed_; }
    // Why its stream has ended; no error while it has not.
    [[nodiscard]] asio::error_code read_error() const { return stream_->read_error(); }
    [[nodiscard]] MessageStream& frames() { return frames_; }
    // Bytes that the other side has not read: in Cap'n Proto and in the stream.
    [[nodiscard]] std::size_t unsent_bytes() {
        return network_.getCurrentQueueSize() + stream_->unsent_bytes();
    }
    [[nodiscard]] std::uint64_t sent_bytes() const { return stream_->sent_bytes(); }
    // The other side has closed while reading is paused, so that reading does not detect it.
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
