#include "core/locks/kinds/barrier.hpp"

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
bool Barrier::is_new_party(SessionId session) const {
    const auto known = members_.find(session);
    return known == members_.end() || known->second.arrived == known->second.parties;
}

bool Barrier::may_arrive(SessionId session) const {
    return !is_new_party(session) || taken() < parties_;
}

void Barrier::arrive(SessionId session, bool drops) {
    MORTISE_CHECK(!is_broken_ && may_arrive(session));
    const bool is_new = is_new_party(session);
    auto& member = members_[session];
    if (is_new) ++member.parties;
    ++member.arrived;
    if (drops) ++member.dropping;
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

bool Barrier::fits(WaitingParties waiting) const {
    for (const auto& [session, member] : members_)
        waiting[session] -= member.arrived - member.dropping;
    return std::ranges::all_of(waiting, [](const auto& one) { return one.second == 0; });
}

Barrier::View Barrier::view(const Onlooker& to) const {
    View view{parties_, arrived(), phase_, is_broken_};
    for (const auto& [session, member] : members_) {
        if (view.members.size() == to.parties_max) break;
        view.members.push_back({session, to.node_of(session), member.parties, member.arrived});
    }
    return view;
}

// --- requests -----------------------------------------------------------------------------------

std::optional<AnswerKind> Arrive::refusal(const Barrier& barrier, SessionId by) const {
    if (barrier.is_broken()) return AnswerKind::barrier_broken;
    if (!barrier.may_arrive(by)) return AnswerKind::invalid_argument;
    return {};
}

KindStep Arrive::apply(Barrier& barrier, SessionId by) const {
    barrier.arrive(by, drops);
    KindStep step;
    if (drops) step.answer = AnswerKind::stored;
    if (!barrier.is_complete()) return step;
    barrier.begin_next();
    return {step.answer.value_or(AnswerKind::passed), AnswerKind::passed};
}

std::string Arrive::words(Quote quote) const {
    return "arrive at the barrier " + quote(name) + ", of " + std::to_string(parties) +
           " parties at first" + (drops ? ", and drop" : "") +
           (label.empty() ? "" : ", label " + quote(label));
}

std::string Quit::words(Quote quote) const {
    return "give up the arrival of request " + std::to_string(operation.raw()) +
           " at the barrier " + quote(name);
}

}  // namespace mortise::core
