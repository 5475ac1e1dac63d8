// A stream of Cap'n Proto frames, each of which is checked before Cap'n Proto reads it. Cap'n Proto
// has no such limits: its reader allocates whatever a header asks for, its RPC keeps state for
// everything it receives, and it answers even a client that does not read the answers.
//
// The frames of calls of Peer.send do not reach Cap'n Proto's RpcSystem at all (send_call.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <capnp/serialize-async.h>
#include <kj/async-io.h>

#include "core/base/result.hpp"
#include "core/node/message.hpp"
#include "transport/rpc/asio_stream.hpp"
#include "transport/rpc/frame_buffer.hpp"
#include "transport/rpc/rpc_guard.hpp"

namespace mortise::transport {

struct FrameLimits {
    std::size_t words_max = 0;  // of one frame
    std::uint64_t frames_max = UINT64_MAX;
    // Above this number of written bytes that the other side has not read, nothing is read. Only
    // for a side that answers: if both sides of a connection waited for the other to read, neither
    // would continue.
    std::size_t unsent_bytes_max = SIZE_MAX;
    RpcRules rpc{};
};

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class MessageStream final : public capnp::MessageStream {
public:
    // `ended` is called when nothing more can be read, for any reason.
    MessageStream(SocketStream& stream, FrameLimits limits, std::function<void()> ended);
    KJ_DISALLOW_COPY(MessageStream);

    // Applies from the next frame on; the count begins anew.
    void set_limits(FrameLimits limits);
    // `gathered` returns how many bytes Cap'n Proto is going to write with writeMessages().
    void count_gathered(std::function<std::size_t()> gathered) { gathered_ = std::move(gathered); }
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
    [[nodiscard]] bool is_inside_frame() const { return !buffer_.is_empty(); }
    // Grows with every frame that begins.
    [[nodiscard]] std::uint64_t frames() const { return frames_; }

    // The functions below are called within KJ, and may close the connection.
    using Batch = core::Result<std::vector<core::PeerMessage>>;
    // Each call of Peer.send by the other side is passed to `received`, and then answered.
    void take_sends(std::function<void(Batch)> received) { received_ = std::move(received); }
    // The answer to each call that send() has made is passed to `answered`.
    void take_answers(std::function<void(std::uint32_t question)> answered) {
        answered_ = std::move(answered);
    }
    // The answer to our hello has offered something to call.
    [[nodiscard]] bool has_offer() const { return guard_.offer().has_value(); }
    // Calls Peer.send of that. The question is one from send_questions_from on that has no answer
    // to come; `words` is an upper limit of the size.
    void send(std::uint32_t question, const std::vector<core::PeerMessage>& batch,
              std::size_t words);

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

    void read_on();
    void read_frames();
    [[nodiscard]] bool has_to_pause();
    void on_no_bytes();
    void on_bytes(std::size_t bytes);
    void on_frame();
    void on_direct(const RpcFrame& frame);
    void on_send(const RpcFrame& call);
    void on_answer(const RpcFrame& answer);
    void give(Message message);
    void refuse();
    void end_with(const char* why);
    [[nodiscard]] bool is_refused() const { return malformed_ || forbidden_ != nullptr; }

    SocketStream& stream_;
    FrameLimits limits_;
    RpcGuard guard_;
    std::function<void()> ended_;
    std::function<std::size_t()> gathered_ = [] { return std::size_t{0}; };
    std::function<void(Batch)> received_;
    std::function<void(std::uint32_t)> answered_;
    // Cap'n Proto, while it waits for a message. Only then anything is read.
    kj::Own<kj::PromiseFulfiller<Message>> reader_;
    FrameBuffer buffer_;
    std::uint64_t frames_here_ = 0;  // since set_limits()
    std::uint64_t frames_ = 0;
    bool malformed_ = false;
    const char* forbidden_ = nullptr;
    bool paused_ = false;
    std::uint64_t pauses_ = 0;
};

#pragma GCC diagnostic pop

}  // namespace mortise::transport
