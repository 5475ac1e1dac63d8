// Converts positions to those of the public API and back.
#pragma once

#include "core/observe/position.hpp"
#include <mortise/observe.hpp>

namespace mortise::detail {

struct PositionParts {
    [[nodiscard]] static Position from_core(core::Position position) noexcept {
        Position made;
        if (!position.is_set()) return made;
        made.entry_ = position.index.raw();
        made.change_ = position.ordinal;
        made.cluster_ = position.cluster;
        return made;
    }
    [[nodiscard]] static core::Position to_core(const Position& position) noexcept {
        return {core::LogIndex{position.entry_}, position.change_, position.cluster_};
    }
};

}  // namespace mortise::detail
