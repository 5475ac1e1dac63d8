#include "transport/wire/pieces.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"

namespace mortise::transport {
namespace {

constexpr std::size_t length_bytes = 4;

}  // namespace

void PieceWriter::add(std::string_view message) {
    core::ByteWriter length;
    length.u32(static_cast<std::uint32_t>(message.size()));
    bytes_ += length.take();
    bytes_ += message;
}

std::string PieceWriter::take(std::size_t bytes_max) {
    constexpr std::size_t taken_max = std::size_t{256} << 10U;
    auto piece = bytes_.substr(at_, bytes_max);
    at_ += piece.size();
    if (at_ == bytes_.size()) {
        bytes_ = {};  // gives the memory back
        at_ = 0;
    } else if (at_ >= taken_max) {
        bytes_.erase(0, at_);
        at_ = 0;
    }
    return piece;
}

std::optional<std::vector<std::string>> PieceReader::take(std::string_view piece) {
    std::vector<std::string> messages;
    bytes_ += piece;
    std::size_t at = 0;
    while (bytes_.size() - at >= length_bytes) {
        core::ByteReader in{std::string_view{bytes_}.substr(at)};
        const std::size_t length = in.u32();
        if (length > longest_) return std::nullopt;
        if (bytes_.size() - at < length_bytes + length) break;
        messages.push_back(bytes_.substr(at + length_bytes, length));
        at += length_bytes + length;
    }
    bytes_.erase(0, at);
    if (bytes_.empty()) bytes_ = {};
    return messages;
}

}  // namespace mortise::transport
