#include "transport/rpc/frame_buffer.hpp"

#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/overloaded.hpp"
#include "transport/wire/frame_check.hpp"

namespace mortise::transport {

kj::ArrayPtr<kj::byte> FrameBuffer::room() {
    if (frame_words_ == 0) return kj::arrayPtr(head_.data() + got_, head_bytes_ - got_);
    return words_.slice(0, frame_words_).asBytes().slice(got_, frame_words_ * sizeof(capnp::word));
}

FrameBuffer::State FrameBuffer::put(std::size_t bytes, std::size_t words_max) {
    got_ += bytes;
    if (frame_words_ != 0)
        return got_ == frame_words_ * sizeof(capnp::word) ? State::complete : State::incomplete;
    return got_ == head_bytes_ ? check_head(words_max) : State::incomplete;
}

FrameBuffer::State FrameBuffer::check_head(std::size_t words_max) {
    const std::string_view head{reinterpret_cast<const char*>(head_.data()), got_};
    return std::visit(core::Overloaded{[this](const MoreNeeded& more) {
                                           head_bytes_ = more.bytes;
                                           return State::incomplete;
                                       },
                                       [this](const FrameSize& size) {
                                           frame_words_ = size.words();
                                           if (words_.size() < frame_words_)
                                               words_ = kj::heapArray<capnp::word>(frame_words_);
                                           std::memcpy(words_.begin(), head_.data(), got_);
                                           return State::incomplete;
                                       },
                                       [](BadFrame) { return State::bad; }},
                      check_frame(head, words_max));
}

void FrameBuffer::begin() {
    head_bytes_ = 4;
    frame_words_ = 0;
    got_ = 0;
}

void FrameBuffer::drop() {
    if (words_.size() > spare_words_max) words_ = nullptr;
    begin();
}

kj::Array<capnp::word> FrameBuffer::take() {
    // Memory for a longer frame stays here.
    auto words = words_.size() == frame_words_ ? kj::mv(words_) : kj::heapArray(frame());
    begin();
    return words;
}

}  // namespace mortise::transport
