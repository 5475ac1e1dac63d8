// A stream of Cap'n Proto frames, each of which is checked before Cap'n Proto reads it. Cap'n Proto
// has no such limits: its reader allocates whatever a header asks for, its RPC keeps state for
// everything it receives, and it answers even a client that does not read the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <capnp/serialize-async.h>
#include <kj/async-io.h>

#include "transport/rpc/asio_stream.hpp"
#include "transport/rpc/rpc_guard.hpp"

namespace mortise::transport {

struct FrameLimits {
    std::size_t words_max = 0;  // of one frame
    std::uint64_t frames_max = UINT64_MAX;
    // Above this number of written bytes that the other side has not read, nothing is read. Only
    // for a side that answers: if both sides of a connection waited for the other to read, neither
    // would continue.
    std::size_t unsent_bytes_max = SIZE_MAX;
    // Whether Finish messages, and answers without a result to short calls, may wait for the next
    // frame (SocketStream::write_with_next).
    bool gathers = false;
    RpcRules rpc{};
};

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class MessageStream final : public capnp::MessageStream {
public:
    // `ended` is called when nothing more can be read, for any reason.
    MessageStream(SocketStream& stream, FrameLimits limits, std::function<void()> ended)
        : stream_{stream}, limits_{limits}, guard_{limits.rpc}, ended_{std::move(ended)} {}
    KJ_DISALLOW_COPY(MessageStream);

    // Applies from the next frame on; the count begins anew.
    void set_limits(FrameLimits limits);
    // A frame with an invalid form was refused: nothing is read or written any more.
    [[nodiscard]] bool is_malformed() const { return malformed_; }
    // A frame was refused because of its content, with the same effect: returns the reason. Null
    // otherwise.
    [[nodiscard]] const char* forbidden() const { return forbidden_; }
    // The other side waits for an answer.
    [[nodiscard]] bool is_awaited() const { return guard_.is_awaited(); }
    // Reading is paused until the other side has read what was written.
    [[nodiscard]] bool is_paused() const { return paused_; }
    // Grows with every pause.
    [[nodiscard]] std::uint64_t pauses() const { return pauses_; }
    [[nodiscard]] bool is_inside_frame() const { return inside_; }
    // Grows with every frame that begins.
    [[nodiscard]] std::uint64_t frames() const { return frames_; }

    using capnp::MessageStream::tryReadMessage;
    using capnp::MessageStream::writeMessage;
    using capnp::MessageStream::writeMessages;

    // Uses its own options; the argument is ignored.
    kj::Promise<kj::Maybe<capnp::MessageReaderAndFds>> tryReadMessage(
        kj::ArrayPtr<kj::AutoCloseFd> fds, capnp::ReaderOptions options,
        kj::ArrayPtr<capnp::word> scratch) override;
    kj::Promise<void> writeMessage(
        kj::ArrayPtr<const int> fds,
        kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) override;
    kj::Promise<void> writeMessages(
        kj::ArrayPtr<kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>> messages) override;
    kj::Maybe<int> getSendBufferSize() override { return nullptr; }
    kj::Promise<void> end() override;

private:
    using Message = kj::Maybe<capnp::MessageReaderAndFds>;

    kj::Promise<Message> begin_frame();
    kj::Promise<Message> read_head(std::size_t bytes);
    kj::Promise<Message> on_head(std::size_t bytes_wanted);
    kj::Promise<Message> read_body(std::size_t words);
    kj::Promise<Message> take(kj::Array<capnp::word> frame);
    kj::Promise<Message> refuse();
    kj::Promise<Message> end_with(const char* why);
    [[nodiscard]] bool can_wait(const RpcFrame& frame) const;
    [[nodiscard]] bool is_refused() const { return malformed_ || forbidden_ != nullptr; }

    SocketStream& stream_;
    FrameLimits limits_;
    RpcGuard guard_;
    std::function<void()> ended_;
    std::uint64_t frames_here_ = 0;  // since set_limits()
    std::uint64_t frames_ = 0;
    std::string head_;
    bool inside_ = false;
    bool malformed_ = false;
    const char* forbidden_ = nullptr;
    bool paused_ = false;
    std::uint64_t pauses_ = 0;
};

#pragma GCC diagnostic pop

}  // namespace mortise::transport
