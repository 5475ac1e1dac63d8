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

// Builds the payload of an entry, or of a forwarded request: a version byte, then commands.
class BatchBuilder {
public:
    // `names` is how many names the command concerns; names() sums them, to bound the work.
    void add(const Command& command, std::size_t names = 1);
    // Commands that somebody else encoded, of a batch in that form: checked, then taken over as
    // bytes.
    void add_encoded(std::string_view commands, std::size_t count, std::uint8_t format);

    [[nodiscard]] bool is_empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t names() const { return names_; }
    [[nodiscard]] std::size_t bytes() const { return commands_.size(); }
    // Leaves the builder empty. In the oldest form that has all of it, unless every reader is known
    // to read a newer one.
    [[nodiscard]] Bytes take(std::uint8_t format = command_format_oldest);

private:
    std::string commands_;
    std::size_t count_ = 0;
    std::size_t names_ = 0;
    std::uint8_t needed_ = command_format_oldest;
};

// The oldest form that has requests of that kind.
[[nodiscard]] std::uint8_t format_needed(const RequestBody& body);
// The oldest form that has openings of sessions with that access.
[[nodiscard]] std::uint8_t format_needed(const Access& access);

// Empty when the bytes are no batch, a batch of a later version, or beyond the limits.
[[nodiscard]] std::optional<std::vector<Command>> decode_batch(
    const Bytes& batch, std::uint8_t newest = command_format_newest);
// As it says itself; zero of what is empty.
[[nodiscard]] std::uint8_t format_of(const Bytes& batch);
// The commands of a batch without its head, for add_encoded. Requires a batch that decodes.
[[nodiscard]] std::string_view commands_of(const Bytes& batch);

}  // namespace mortise::core
