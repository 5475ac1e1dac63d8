#include "tests/sim/judges/log_history.hpp"

#include <algorithm>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

const LogHistory::Known* LogHistory::find(core::LogId id) const {
    if (id.index.raw() >= slots_.size()) return nullptr;
    const auto& slot = slots_[static_cast<std::size_t>(id.index.raw())];
    if (slot.first.term == id.term) return &slot.first;
    const auto other = std::ranges::find(slot.others, id.term, &Known::term);
    return other == slot.others.end() ? nullptr : &*other;
}

void LogHistory::appended(core::NodeId node, const core::Entry& entry, core::Term previous) {
    const auto index = static_cast<std::size_t>(entry.id.index.raw());
    if (const auto* known = find(entry.id)) {
        if (known->checksum != entry.checksum || known->previous != previous) {
            violations_.report(
                node, "log matching: another entry or predecessor at " + in_words(entry.id));
        }
        return;
    }
    if (slots_.size() <= index) slots_.resize(index + 1);
    auto& slot = slots_[index];
    const Known known{entry.id.term, previous, entry.checksum};
    if (slot.first.term.is_set()) {
        slot.others.push_back(known);
    } else {
        slot.first = known;
    }
}

void LogHistory::check(core::NodeId node, const core::Entry& entry) {
    const auto* known = find(entry.id);
    if (known == nullptr || known->checksum != entry.checksum) {
        violations_.report(node,
                           "log matching: an entry that nobody appended at " + in_words(entry.id));
    }
}

}  // namespace mortise::sim
