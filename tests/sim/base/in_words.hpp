// Identifiers for people.
#pragma once

#include <string>

#include "core/locks/command.hpp"
#include "core/raft/entry.hpp"

namespace mortise::sim {

inline std::string in_words(core::LogId id) {
    return "term " + std::to_string(id.term.raw()) + " index " + std::to_string(id.index.raw());
}

template <class Kind>
std::string in_words(core::Id<Kind> id) {
    return std::to_string(id.raw());
}

inline std::string in_words(core::OperationId operation) {
    return "operation " + in_words(operation.session) + "/" + in_words(operation.seq);
}

}  // namespace mortise::sim
