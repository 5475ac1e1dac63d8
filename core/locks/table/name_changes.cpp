#include "core/locks/table/name_changes.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t kept_max = 1'024;  // more changes in one entry are rare

}  // namespace

void NameChanges::begin_entry() {
    size_ = 0;
    named_ = 0;
    if (changes_.size() <= kept_max) return;
    changes_.resize(kept_max);
    changes_.shrink_to_fit();
}

NameChange& NameChanges::add(NameChange::Kind kind, std::string_view name, const Holder& of) {
    if (size_ == changes_.size()) changes_.emplace_back();
    auto& change = changes_[size_++];
    change.kind = kind;
    change.mode = of.mode;
    change.how = Predecessor::none;
    change.dirty = false;
    change.cached_tokens = of.cached_tokens;
    change.name = name;
    change.hold = of.operation;
    change.token = of.token;
    change.since = of.since;
    change.asked = {};
    change.label = of.label();
    change.locker = of.locker();
    change.slots = of.slots();
    change.bytes.clear();
    change.version = 0;
    return change;
}

}  // namespace mortise::core
