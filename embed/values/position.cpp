#include "embed/values/position.hpp"

namespace mortise {

std::string Position::to_string() const {
    return core::to_text(detail::PositionParts::to_core(*this));
}

std::optional<Position> Position::from_string(std::string_view text) noexcept {
    const auto position = core::position_from(text);
    if (!position) return std::nullopt;
    return detail::PositionParts::from_core(*position);
}

std::string_view to_string(Event::Kind kind) noexcept {
    switch (kind) {
        case Event::Kind::gap: return "gap";
        case Event::Kind::state: return "state";
        case Event::Kind::state_complete: return "state_complete";
        case Event::Kind::granted: return "granted";
        case Event::Kind::converted: return "converted";
        case Event::Kind::published: return "published";
        case Event::Kind::released: return "released";
        case Event::Kind::value_set: return "value_set";
        case Event::Kind::value_removed: return "value_removed";
        case Event::Kind::value_dirty: return "value_dirty";
        case Event::Kind::value_consistent: return "value_consistent";
    }
    return "unknown";
}

}  // namespace mortise
