// Messages between nodes, and what goes to a node's disk, in plain words.
#pragma once

#include <functional>
#include <string>

#include "core/node/effects.hpp"
#include "core/node/event.hpp"

namespace mortise::conversations {

// The content of an entry.
[[nodiscard]] std::string content_of(const core::Entry& entry);
// "entry 7 of term 2"
[[nodiscard]] std::string name_of(const core::Entry& entry);

// A message in two lengths.
struct MessageWords {
    std::string kind;     // its type in core
    std::string details;  // its important fields
    std::string brief;    // the same for an arrow in a picture; may be empty
};
[[nodiscard]] MessageWords in_words(const core::PeerMessage& message);

// `tell` says what an entry is, or only its number if it was told before.
using TellEntry = std::function<std::string(const core::Entry&)>;
[[nodiscard]] std::string in_words(const core::Write& write, const TellEntry& tell);

}  // namespace mortise::conversations
