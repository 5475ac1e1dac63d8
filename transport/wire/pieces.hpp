// The messages between a client node and its member are one stream of bytes in each direction, in
// which each message stands behind its length (u32, little-endian). The stream is divided into
// pieces, one for each call, because a call must be short: what a client has in open calls occupies
// memory of the member (message_limits.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::transport {

class PieceWriter {
public:
    void add(std::string_view message);
    [[nodiscard]] bool is_empty() const { return at_ == bytes_.size(); }
    // The bytes that were not taken yet.
    [[nodiscard]] std::size_t size() const { return bytes_.size() - at_; }
    // The next bytes of the stream, at most so many.
    [[nodiscard]] std::string take(std::size_t bytes_max);

private:
    std::string bytes_;
    std::size_t at_ = 0;  // everything before it was taken
};

class PieceReader {
public:
    // A longer message is malformed.
    explicit PieceReader(std::size_t message_bytes_max) : longest_{message_bytes_max} {}

    // The messages that end with this piece. Empty if one is too long: then nothing more can be
    // read.
    [[nodiscard]] std::optional<std::vector<std::string>> take(std::string_view piece);

private:
    std::size_t longest_;
    std::string bytes_;  // of a message that has not ended, with its length
};

}  // namespace mortise::transport
