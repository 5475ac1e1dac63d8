#include <algorithm>
#include <utility>

#include "embed/holds/hold_record.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/hold_set.hpp>

namespace mortise {

HoldSet::HoldSet() noexcept = default;
HoldSet::HoldSet(HoldSet&& other) noexcept = default;
HoldSet::~HoldSet() = default;

HoldSet& HoldSet::operator=(HoldSet&& other) noexcept {
    if (this != &other) {
        grant_ = std::move(other.grant_);
        holds_ = std::move(other.holds_);
    }
    return *this;
}

HoldSet::HoldSet(Hold grant) : grant_{std::move(grant)}, holds_{detail::parts_of(grant_)} {}

const Hold* HoldSet::find(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(
        holds_, [&](const Hold& hold) { return detail::HoldRecord::of(hold)->name() == name; });
    return found == holds_.end() ? nullptr : &*found;
}

HoldSet detail::as_set(Hold granted) {
    return HoldRecord::set_of(std::move(granted));
}

std::vector<Hold> detail::parts_of(const Hold& granted) {
    std::vector<Hold> parts;
    const auto& record = HoldRecord::of(granted);
    if (!record || !record->has_parts()) return parts;
    parts.reserve(record->parts().size());
    for (const auto& part : record->parts())
        parts.push_back(HoldRecord::hold_on(std::make_shared<HoldRecord>(record, part)));
    return parts;
}

}  // namespace mortise
