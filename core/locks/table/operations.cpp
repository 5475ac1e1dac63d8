#include "core/locks/table/operations.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

Operation::Operation(RecordRefs names, const More& more) {
    set(std::move(names), more);
}

const Operation::More& Operation::more() const {
    static const More held_without_more{.held = true};
    return rare_ ? rare_->more : held_without_more;
}

void Operation::set(RecordRefs names, const More& more) {
    const bool is_plain = more.held && more.locker == 0 && !more.is_bounded;
    const bool is_one = names.size() <= 1;
    name_ = names.size() == 1 ? std::move(names.front()) : RecordRef{};
    rare_ = is_plain && is_one ? nullptr : std::make_unique<Rare>(Rare{more, {}});
    if (!is_one) rare_->names.assign(names.begin(), names.end());
}

void Operation::grant(RecordRefs names) {
    set(std::move(names), {.held = true, .locker = locker(), .is_bounded = is_bounded()});
}

void Operation::set_locker(std::uint64_t locker) {
    if (locker == this->locker()) return;
    auto changed = more();
    changed.locker = locker;
    if (!rare_) rare_ = std::make_unique<Rare>();
    rare_->more = changed;
}

void Operation::add_name(const RecordRef& name) {
    RecordRefs all;
    for (const auto& one : names())
        all.push_back(one);
    all.push_back(name);
    set(std::move(all), more());
}

bool Operation::remove_name(std::string_view name) {
    RecordRefs left;
    for (const auto& one : names()) {
        if (one->name() != name) left.push_back(one);
    }
    if (left.size() == names().size()) return false;
    const auto more = this->more();
    set(std::move(left), more);
    return true;
}

Operation& Operations::at(Seq seq) {
    auto* found = find(seq);
    MORTISE_CHECK(found != nullptr);
    return *found;
}

}  // namespace mortise::core
