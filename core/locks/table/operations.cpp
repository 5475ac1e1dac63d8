#include "core/locks/table/operations.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

Operation::Operation(RecordRefs names, const More& more) : Operation{} {
    set(std::move(names), more);
}

Operation::~Operation() {
    clear();
}

void Operation::clear() {
    if (const auto* its = rare()) {
        delete its;
    } else {
        name_or_null().~RecordRef();
    }
}

const Operation::More& Operation::more() const {
    static const More held_without_more{.held = true};
    const auto* its = rare();
    return its != nullptr ? its->more : held_without_more;
}

// Loses nothing if there is no memory.
void Operation::set(RecordRefs names, const More& more) {
    const bool is_plain = more.held && more.locker == 0 && !more.is_bounded && names.size() <= 1;
    if (is_plain) {
        clear();
        (void)new (&here_) RecordRef{names.empty() ? RecordRef{} : std::move(names.front())};
        return;
    }
    const auto bits = reinterpret_cast<std::uintptr_t>(new Rare{more, std::move(names)});
    clear();
    const auto marked = bits | rare_mark;
    std::memcpy(&here_, &marked, sizeof marked);
}

void Operation::grant(RecordRefs names) {
    set(std::move(names), {.held = true, .locker = locker(), .is_bounded = is_bounded()});
}

void Operation::set_locker(std::uint64_t locker) {
    if (locker == this->locker()) return;
    auto changed = more();
    changed.locker = locker;
    RecordRefs same;
    for (const auto& one : names())
        same.push_back(one);
    set(std::move(same), changed);
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
