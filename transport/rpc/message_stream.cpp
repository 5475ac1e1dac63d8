#include "transport/rpc/message_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include <capnp/serialize.h>
#include <kj/debug.h>

#include "core/base/overloaded.hpp"
#include "transport/rpc/rpc_frame.hpp"
#include "transport/wire/frame_check.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

// An answer to a longer call is sent at once: the caller may wait for it before it sends more.
constexpr std::size_t short_call_words = 512;

kj::Exception disconnected(const char* why) {
    return {kj::Exception::Type::DISCONNECTED, "", 0, kj::heapString(why)};
}

capnp::ReaderOptions reader_options(std::size_t words) {
    return {4 * std::uint64_t{words}, nesting_max};
}

}  // namespace

void MessageStream::set_limits(FrameLimits limits) {
    limits_ = limits;
    frames_here_ = 0;
    guard_.set_rules(limits.rpc);
}

kj::Promise<MessageStream::Message> MessageStream::tryReadMessage(
    kj::ArrayPtr<kj::AutoCloseFd> /*fds*/, capnp::ReaderOptions /*options*/,
    kj::ArrayPtr<capnp::word> /*scratch*/) {
    if (is_refused()) return disconnected("a frame was refused");
    if (stream_.unsent_bytes() <= limits_.unsent_bytes_max) return begin_frame();
    // In Cap'n Proto 0.9 each message that waits to be written keeps the one before it alive. A
    // client that does not read its answers must not make that chain long.
    paused_ = true;
    ++pauses_;
    return stream_.when_unsent_at_most(limits_.unsent_bytes_max)
        .then(
            [this] {
                paused_ = false;
                return begin_frame();
            },
            [this](kj::Exception&& e) -> kj::Promise<Message> {
                ended_();
                return kj::mv(e);
            });
}

kj::Promise<MessageStream::Message> MessageStream::begin_frame() {
    head_.clear();
    const auto first = check_frame(head_, limits_.words_max);
    return read_head(std::get<MoreNeeded>(first).bytes);
}

kj::Promise<MessageStream::Message> MessageStream::read_head(std::size_t bytes) {
    const auto had = head_.size();
    head_.resize(bytes);
    return stream_.tryRead(head_.data() + had, 1, bytes - had)
        .then(
            [this, had, bytes](std::size_t got) -> kj::Promise<Message> {
                head_.resize(had + got);
                if (got == 0) return end_with(had == 0 ? nullptr : "ended inside a frame");
                if (!std::exchange(inside_, true)) ++frames_;
                return on_head(bytes);
            },
            [this](kj::Exception&& e) -> kj::Promise<Message> {
                ended_();
                return kj::mv(e);
            });
}

kj::Promise<MessageStream::Message> MessageStream::on_head(std::size_t bytes_wanted) {
    if (head_.size() < bytes_wanted) return read_head(bytes_wanted);
    return std::visit(
        core::Overloaded{[this](const MoreNeeded& more) { return read_head(more.bytes); },
                         [this](const FrameSize& size) {
                             ++frames_;
                             return ++frames_here_ > limits_.frames_max ? refuse()
                                                                        : read_body(size.words());
                         },
                         [this](BadFrame) { return refuse(); }},
        check_frame(head_, limits_.words_max));
}

kj::Promise<MessageStream::Message> MessageStream::read_body(std::size_t words) {
    auto frame = kj::heapArray<capnp::word>(words);
    std::memcpy(frame.begin(), head_.data(), head_.size());
    const auto left = frame.asBytes().size() - head_.size();
    auto* const body = frame.asBytes().begin() + head_.size();
    return stream_.tryRead(body, left, left)
        .then([this, left, frame = kj::mv(frame)](std::size_t got) mutable -> kj::Promise<Message> {
            inside_ = false;
            if (got < left) return end_with("ended inside a frame");
            return take(kj::mv(frame));
        });
}

kj::Promise<MessageStream::Message> MessageStream::take(kj::Array<capnp::word> frame) {
    const auto said = read_rpc_frame(frame);
    if (!said) return refuse();
    switch (guard_.received(*said)) {
        case RpcVerdict::ok: break;
        case RpcVerdict::ended: return end_with(nullptr);
        case RpcVerdict::refused:
            forbidden_ = guard_.cause();
            return end_with("a message was refused");
    }
    auto reader =
        kj::heap<capnp::FlatArrayMessageReader>(frame.asPtr(), reader_options(frame.size()));
    return Message{capnp::MessageReaderAndFds{reader.attach(kj::mv(frame)), nullptr}};
}

kj::Promise<MessageStream::Message> MessageStream::refuse() {
    malformed_ = true;
    return end_with("a frame was refused");
}

kj::Promise<MessageStream::Message> MessageStream::end_with(const char* why) {
    ended_();
    if (why == nullptr) return Message{nullptr};
    return disconnected(why);
}

kj::Promise<void> MessageStream::writeMessage(
    kj::ArrayPtr<const int> /*fds*/, kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments) {
    // Not even Cap'n Proto's last message is sent, which might disclose internals.
    if (is_refused()) return disconnected("a frame was refused");
    const auto frame = rpc_frame_of(segments);
    const bool waits = can_wait(frame);
    guard_.sent(frame);
    if (waits) {
        stream_.write_with_next(capnp::messageToFlatArray(segments).asBytes());
        return kj::READY_NOW;
    }
    if (auto instead = without_reasons(segments); instead.get() != nullptr) {
        auto written = capnp::writeMessage(stream_, instead->getSegmentsForOutput());
        return written.attach(kj::mv(instead));
    }
    return capnp::writeMessage(stream_, segments);
}

bool MessageStream::can_wait(const RpcFrame& frame) const {
    if (!limits_.gathers) return false;
    if (frame.kind == RpcFrame::Kind::finish) return true;
    return frame.kind == RpcFrame::Kind::answer && frame.has_results && frame.capabilities == 0 &&
           guard_.words_of(frame.question) <= short_call_words;
}

kj::Promise<void> MessageStream::writeMessages(
    kj::ArrayPtr<kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>> messages) {
    kj::Promise<void> written = kj::READY_NOW;
    for (const auto& message : messages)
        written = written.then([this, message] { return writeMessage(nullptr, message); });
    return written;
}

kj::Promise<void> MessageStream::end() {
    stream_.shutdownWrite();
    return kj::READY_NOW;
}

}  // namespace mortise::transport
