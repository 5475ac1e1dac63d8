// The only encoding of commands: storage stores it, transport carries it, and every replica applies
// the bytes that it received. docs/formats.md describes it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/codec/command_format.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// The session of a run of requests, and the sequence number of its next request: both are encoded
// once, in front of the run.
struct RequestRun {
    SessionId session;
    Seq next;
};

// Builds the payload of an entry or of a forwarded request: a version byte, then commands.
class BatchBuilder {
public:
    // `names` is how many names the command concerns. names() is their sum, which bounds the work.
    void add(const Command& command, std::size_t names = 1);
    // Adds commands that were encoded elsewhere, taken from a batch in that format. They are
    // checked and then copied as bytes.
    void add_encoded(std::string_view commands, std::size_t count, std::uint8_t format,
                     std::size_t names);
    // One of the encoded commands has to be sealed (has_to_be_sealed).
    void seal() { is_sealed_ = true; }

    [[nodiscard]] bool is_empty() const { return count_ == 0; }
    // The number of commands; each request counts as one.
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t names() const { return names_; }
    [[nodiscard]] std::size_t bytes() const { return commands_.size(); }
    [[nodiscard]] bool is_sealed() const { return is_sealed_; }
    // Returns the batch in the oldest format that can express it, or in `format` if that is newer:
    // every reader must be known to read it. The builder is empty afterwards.
    [[nodiscard]] Bytes take(std::uint8_t format = command_format_oldest);

private:
    void add_request(const Request& request);

    ByteWriter commands_;
    RequestRun run_;  // the run of the last request
    std::size_t count_ = 0;
    std::size_t names_ = 0;
    std::uint8_t needed_ = command_format_oldest;
    bool is_sealed_ = false;
};

// The batch for a reader of format 1: without the origins of sessions, which only people read, and
// with a Declined in place of each request that it does not have, which is answered under its
// number. Returns the same bytes if there is none. Requires a batch that can be decoded, without a
// Clock.
[[nodiscard]] Bytes in_format_1(const Bytes& batch);

// Empty if the bytes are not a batch, exceed the limits, or have a version above `newest`. Only
// tests of members with two versions pass a `newest` above command_format_newest; they invent that
// version, and its commands are those of command_format_newest.
[[nodiscard]] std::optional<std::vector<Command>> decode_batch(
    const Bytes& batch, std::uint8_t newest = command_format_newest);
// The version byte of the batch; zero if it is empty.
[[nodiscard]] std::uint8_t format_of(const Bytes& batch);
// The commands of a batch without its head, for add_encoded(). Requires a batch that can be
// decoded.
[[nodiscard]] std::string_view commands_of(const Bytes& batch);

}  // namespace mortise::core
