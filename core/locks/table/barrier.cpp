#include "core/locks/table/barrier.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace mortise::core {

std::uint32_t Barrier::arrived() const {
    std::uint32_t arrived = 0;
    for (const auto& [session, member] : members_)
        arrived += member.arrived;
    return arrived;
}

std::uint32_t Barrier::taken() const {
    std::uint32_t taken = 0;
    for (const auto& [session, member] : members_)
        taken += member.parties;
    return taken;
}

// An arrival beyond the known parties of its session is one more party, as long as there is one
// that nobody has.
bool Barrier::arrive(SessionId session, bool drops) {
    MORTISE_CHECK(!is_broken_);
    const auto known = members_.find(session);
    const bool is_new = known == members_.end() || known->second.arrived == known->second.parties;
    if (is_new && taken() >= parties_) return false;
    auto& member = members_[session];
    if (is_new) ++member.parties;
    ++member.arrived;
    if (drops) ++member.dropping;
    return true;
}

void Barrier::begin_next() {
    MORTISE_CHECK(is_complete());
    ++phase_;
    for (auto& [session, member] : members_) {
        parties_ -= member.dropping;
        member.parties -= member.dropping;
        member.arrived = member.dropping = 0;
    }
    std::erase_if(members_, [](const auto& one) { return one.second.parties == 0; });
}

void Barrier::break_it() {
    is_broken_ = true;
    members_.clear();
}

bool Barrier::is_sound() const {
    const auto is_possible = [](const auto& one) {
        const auto& [session, member] = one;
        return session.is_set() && member.parties != 0 && member.arrived <= member.parties &&
               member.dropping <= member.arrived;
    };
    if (!std::ranges::all_of(members_, is_possible)) return false;
    if (is_broken_) return members_.empty();
    return taken() <= parties_ && (parties_ == 0 || arrived() < parties_);
}

}  // namespace mortise::core
