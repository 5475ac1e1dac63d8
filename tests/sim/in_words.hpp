// Identifiers for people.
#pragma once

#include <string>

#include "core/raft/entry.hpp"

namespace mortise::sim {

inline std::string in_words(core::LogId id) {
    return "term " + std::to_string(id.term.raw()) + " index " + std::to_string(id.index.raw());
}

template <class Kind>
std::string in_words(core::Id<Kind> id) {
    return std::to_string(id.raw());
}

}  // namespace mortise::sim
