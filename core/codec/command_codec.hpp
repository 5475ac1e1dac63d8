// The one byte form of commands: storage stores it, transport carries it, every replica applies the
// bytes it received. docs/formats.md describes it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/codec/command_format.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// Whose a request is, and which number the next one of the same session has: that is written once
// for all that follow each other.
struct RequestRun {
    SessionId session;
    Seq next;
};

// Builds the payload of an entry, or of a forwarded request: a version byte, then commands.
class BatchBuilder {
public:
    // `names` is how many names the command concerns; names() sums them, to bound the work.
    void add(const Command& command, std::size_t names = 1);
    // Commands that somebody else encoded, of a batch in that form: checked, then taken over as
    // bytes.
    void add_encoded(std::string_view commands, std::size_t count, std::uint8_t format);

    [[nodiscard]] bool is_empty() const { return count_ == 0; }
    // Of commands, each request counted by itself.
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t names() const { return names_; }
    [[nodiscard]] std::size_t bytes() const { return commands_.size(); }
    // Leaves the builder empty. In the oldest form that has all of it, unless every reader is known
    // to read a newer one.
    [[nodiscard]] Bytes take(std::uint8_t format = command_format_oldest);

private:
    void add_request(const Request& request);

    ByteWriter commands_;
    RequestRun run_;  // that the last request belongs to
    std::size_t count_ = 0;
    std::size_t names_ = 0;
    std::uint8_t needed_ = command_format_oldest;
};

// Empty when the bytes are no batch, a batch of a later version than `newest`, or beyond the
// limits. A version later than command_format_newest can only be asked for by tests of members of
// two versions; they invent one, and its commands are those of command_format_newest.
[[nodiscard]] std::optional<std::vector<Command>> decode_batch(
    const Bytes& batch, std::uint8_t newest = command_format_newest);
// As it says itself; zero of what is empty.
[[nodiscard]] std::uint8_t format_of(const Bytes& batch);
// The commands of a batch without its head, for add_encoded. Requires a batch that decodes.
[[nodiscard]] std::string_view commands_of(const Bytes& batch);

}  // namespace mortise::core
