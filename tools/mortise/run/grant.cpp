#include "tools/mortise/run/grant.hpp"

#include <system_error>

namespace mortise::cli {

namespace {

// Only slots protect the resource of a semaphore. A script reads them with `for`.
std::string slots_of(const Hold& hold) {
    std::string text;
    for (const auto& slot : hold.slots())
        text.append(text.empty() ? "" : " ").append(std::to_string(slot.number));
    return text;
}

}  // namespace

Grant::operator bool() const {
    return std::visit([](const auto& held) { return bool(held); }, held_);
}

Duration Grant::remaining() const {
    return std::visit([](const auto& held) { return held.remaining(); }, held_);
}

BootClock::time_point Grant::valid_until() const {
    return std::visit([](const auto& held) { return held.valid_until(); }, held_);
}

std::stop_token Grant::lost() const {
    return std::visit([](const auto& held) { return held.lost(); }, held_);
}

LossReason Grant::why_lost() const {
    return std::visit([](const auto& held) { return held.why_lost(); }, held_);
}

std::vector<const Hold*> Grant::holds() const {
    if (const auto* const one = std::get_if<Hold>(&held_)) return {one};
    std::vector<const Hold*> holds;
    for (const auto& name : names_)
        holds.push_back(std::get<HoldSet>(held_).find(name));
    return holds;
}

std::vector<FencingToken> Grant::tokens() const {
    std::vector<FencingToken> tokens;
    for (const auto* const hold : holds())
        tokens.push_back(hold->token());
    return tokens;
}

// A command may have been started by one that had more locks, or permits, so none of these
// variables is left as it was.
Variables Grant::variables() const {
    const auto all = holds();
    Variables variables{{"MORTISE_LOCK", all.front()->name()},
                        {"MORTISE_FENCING_TOKEN", to_string(all.front()->token())},
                        {"MORTISE_LOCKS", std::to_string(all.size())},
                        {"MORTISE_SLOTS", slots_of(*all.front())}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto number = "_" + std::to_string(i + 1);
        variables.emplace_back("MORTISE_LOCK" + number, all[i]->name());
        variables.emplace_back("MORTISE_FENCING_TOKEN" + number, to_string(all[i]->token()));
    }
    return variables;
}

// A leader withdraws its value as well.
void Grant::give_back() {
    std::error_code ignored;
    auto* const one = std::get_if<Hold>(&held_);
    if (election_ && one != nullptr && one->valid()) {
        election_->resign(*one, ignored);
        return;
    }
    ignored = std::visit([](auto& held) { return held.release(); }, held_);
}

}  // namespace mortise::cli
