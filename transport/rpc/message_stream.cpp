#include "transport/rpc/message_stream.hpp"

#include <array>
#include <optional>
#include <utility>

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/io.h>

#include "transport/rpc/rpc_frame.hpp"
#include "transport/rpc/send_call.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

// An answer to a longer call is sent at once: the caller may wait for it before it sends more.
constexpr std::size_t short_call_words = 512;
// A message up to this size is built on the stack.
constexpr std::size_t scratch_words = 256;

kj::Exception disconnected(const char* why) {
    return {kj::Exception::Type::DISCONNECTED, "", 0, kj::heapString(why)};
}

capnp::ReaderOptions reader_options(std::size_t words) {
    return {4 * std::uint64_t{words}, nesting_max};
}

// Writes what it gets to the stream, in one of its two ways.
class Writing final : public kj::OutputStream {
public:
    using How = void (SocketStream::*)(kj::ArrayPtr<const kj::byte>);
    Writing(SocketStream& stream, How how) : stream_{stream}, how_{how} {}
    void write(const void* bytes, std::size_t size) override {
        (stream_.*how_)(kj::arrayPtr(static_cast<const kj::byte*>(bytes), size));
    }

private:
    SocketStream& stream_;
    How how_;
};

// `fill` gets the root of the message.
template <class Fill>
void write_message(SocketStream& stream, Writing::How how, std::size_t words, Fill fill) {
    std::array<capnp::word, scratch_words> scratch{};
    std::optional<capnp::MallocMessageBuilder> builder;
    if (words > scratch_words) {
        builder.emplace(static_cast<kj::uint>(words));
    } else {
        builder.emplace(kj::arrayPtr(scratch.data(), scratch.size()));
    }
    fill(builder->initRoot<capnp::rpc::Message>());
    Writing writing{stream, how};
    capnp::writeMessage(writing, *builder);
}

}  // namespace

MessageStream::MessageStream(SocketStream& stream, FrameLimits limits, std::function<void()> ended)
    : stream_{stream}, limits_{limits}, guard_{limits.rpc}, ended_{std::move(ended)} {
    stream_.set_reader([this] { read_on(); });
}

void MessageStream::set_limits(FrameLimits limits) {
    limits_ = limits;
    frames_here_ = 0;
    guard_.set_rules(limits.rpc);
}

// --- reading -------------------------------------------------------------------------------------

kj::Promise<MessageStream::Message> MessageStream::tryReadMessage(
    kj::ArrayPtr<kj::AutoCloseFd> /*fds*/, capnp::ReaderOptions /*options*/,
    kj::ArrayPtr<capnp::word> /*scratch*/) {
    if (is_refused()) return disconnected("a frame was refused");
    auto promised = kj::newPromiseAndFulfiller<Message>();
    reader_ = kj::mv(promised.fulfiller);
    read_on();
    return kj::mv(promised.promise);
}

// An exception, such as for lack of memory, must not leave Cap'n Proto waiting for ever.
void MessageStream::read_on() {
    const auto failed = kj::runCatchingExceptions([this] { read_frames(); });
    if (failed != nullptr && reader_.get() != nullptr) end_with("a message was not processed");
}

// Frames of calls of Peer.send are processed here, until there are no more bytes, or one that
// Cap'n Proto gets. It does not wait any more when the connection ends.
void MessageStream::read_frames() {
    while (reader_.get() != nullptr && reader_->isWaiting()) {
        if (buffer_.is_empty() && has_to_pause()) return;
        auto room = buffer_.room();
        const auto got = stream_.take(room.begin(), room.size());
        if (got == 0) return on_no_bytes();
        on_bytes(got);
    }
}

// In Cap'n Proto 0.9 each message that waits to be written keeps the one before it alive. A client
// that does not read its answers must not make that chain long. Since 1.0 messages gather until
// there is nothing else to do; writeMessages() goes on with reading.
bool MessageStream::has_to_pause() {
    if (gathered_() > limits_.unsent_bytes_max) return true;
    const bool pauses = stream_.unsent_bytes() > limits_.unsent_bytes_max;
    if (pauses && stream_.failure() != nullptr) {
        end_with(stream_.failure());
        return true;
    }
    if (pauses) stream_.wake_at(limits_.unsent_bytes_max);
    if (!std::exchange(paused_, pauses) && pauses) ++pauses_;
    return pauses;
}

void MessageStream::on_no_bytes() {
    if (const auto* why = stream_.failure()) return end_with(why);
    if (!stream_.has_ended()) return stream_.receive();
    end_with(buffer_.is_empty() ? nullptr : "ended inside a frame");
}

void MessageStream::on_bytes(std::size_t bytes) {
    if (buffer_.is_empty()) {
        ++frames_;
        if (++frames_here_ > limits_.frames_max) return refuse();
    }
    switch (buffer_.put(bytes, limits_.words_max)) {
        case FrameBuffer::State::incomplete: return;
        case FrameBuffer::State::complete: return on_frame();
        case FrameBuffer::State::bad: return refuse();
    }
}

void MessageStream::on_frame() {
    const auto said = read_rpc_frame(buffer_.frame());
    if (!said) return refuse();
    switch (guard_.received(*said)) {
        case RpcVerdict::ok: break;
        case RpcVerdict::direct: return on_direct(*said);
        case RpcVerdict::ended: return end_with(nullptr);
        case RpcVerdict::refused:
            forbidden_ = guard_.cause();
            return end_with("a message was refused");
    }
    auto frame = buffer_.take();
    auto reader =
        kj::heap<capnp::FlatArrayMessageReader>(frame.asPtr(), reader_options(frame.size()));
    give(capnp::MessageReaderAndFds{reader.attach(kj::mv(frame)), nullptr});
}

void MessageStream::give(Message message) {
    std::exchange(reader_, nullptr)->fulfill(kj::mv(message));
}

void MessageStream::refuse() {
    malformed_ = true;
    end_with("a frame was refused");
}

void MessageStream::end_with(const char* why) {
    if (why == nullptr) {
        give(nullptr);
    } else {
        std::exchange(reader_, nullptr)->reject(disconnected(why));
    }
    ended_();
}

// --- calls of Peer.send --------------------------------------------------------------------------

void MessageStream::on_direct(const RpcFrame& frame) {
    if (frame.kind == RpcFrame::Kind::call) return on_send(frame);
    buffer_.drop();
    // What a Finish ends was counted by the guard alone.
    if (frame.kind == RpcFrame::Kind::answer) on_answer(frame);
}

void MessageStream::on_send(const RpcFrame& call) {
    auto batch = read_send(buffer_.frame());
    buffer_.drop();
    received_(std::move(batch));
    const auto how =
        call.words <= short_call_words ? &SocketStream::write_with_next : &SocketStream::send;
    write_message(stream_, how, 0, [&](auto to) { write_answer_to_send(call.question, to); });
    guard_.sent({.kind = RpcFrame::Kind::answer, .question = call.question});
}

void MessageStream::on_answer(const RpcFrame& answer) {
    if (!answer.has_results) return end_with("a call failed");
    write_message(stream_, &SocketStream::write_with_next, 0,
                  [&](auto to) { write_finish(answer.question, to); });
    answered_(answer.question);
}

void MessageStream::send(std::uint32_t question, const std::vector<core::PeerMessage>& batch,
                         std::size_t words) {
    if (is_refused()) return;
    guard_.sent({.kind = RpcFrame::Kind::call, .question = question});
    write_message(stream_, &SocketStream::send, words,
                  [&](auto to) { write_send(question, *guard_.offer(), batch, to); });
}

// --- what Cap'n Proto writes ---------------------------------------------------------------------

kj::Promise<void> MessageStream::writeMessage(
    kj::ArrayPtr<const int> /*fds*/, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
    // Not even Cap'n Proto's last message is sent, which might disclose internals.
    if (is_refused()) return disconnected("a frame was refused");
    guard_.sent(rpc_frame_of(segments));
    ask_for_finish(segments);
    if (auto instead = without_reasons(segments); instead.get() != nullptr) {
        auto written = capnp::writeMessage(stream_, instead->getSegmentsForOutput());
        return written.attach(kj::mv(instead));
    }
    return capnp::writeMessage(stream_, segments);
}

kj::Promise<void> MessageStream::writeMessages(
    kj::ArrayPtr<kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>> messages) {
    // All of them at once: what waits in the stream is counted.
    kj::Promise<void> written = kj::READY_NOW;
    for (const auto& message : messages)
        written = writeMessage(nullptr, message);
    read_on();
    return written;
}

kj::Promise<void> MessageStream::end() {
    stream_.shut_down_writing();
    return kj::READY_NOW;
}

}  // namespace mortise::transport
