// A lock machine whose changes go into a ring, and what observers are told in words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/overloaded.hpp"
#include "core/observe/observer.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {

inline std::string_view words(NameChange::Kind kind) {
    constexpr std::string_view all[] = {"granted",   "converted",     "published",   "released",
                                        "value set", "value removed", "value dirty", "consistent"};
    return all[static_cast<std::size_t>(kind)];
}

// "granted a 1.1 X 7": the session and the number of the hold, the mode, the token.
inline std::string words(const NameChange& change) {
    auto text = std::string{words(change.kind)} + " " + change.name + " " +
                spec::words(change.hold) + " " + spec::words(change.mode) + " " +
                std::to_string(change.token.raw());
    if (change.how == Predecessor::clean) text += " clean";
    if (change.how == Predecessor::expired) text += " expired";
    if (change.how == Predecessor::broken) text += " broken";
    if (!change.bytes.empty()) text += " =" + change.bytes;
    return text + (change.dirty ? " still dirty" : "");
}

inline std::string words(const NameState& state) {
    auto text = "state " + state.name;
    for (const auto& holder : state.holders)
        text += " " + spec::words(holder.operation) + " " + spec::words(holder.mode);
    if (state.value) text += " =" + state.value->bytes;
    return text;
}

inline std::string words(const Observed& told) {
    return std::visit(Overloaded{[](const Gap&) { return std::string{"gap"}; },
                                 [](const StateComplete&) { return std::string{"complete"}; },
                                 [](const auto& other) { return words(other); }},
                      told.what);
}

template <class List>
std::string in_words(const List& list) {
    std::string text;
    for (const auto& one : list)
        text += (text.empty() ? "" : "; ") + words(one);
    return text;
}

class ObservingTest : public LockMachineTest {
protected:
    explicit ObservingTest(ChangeRing::Limits limits = {}) : ring_{index_, limits} {}

    // Returns the changes of this entry.
    std::string log(const std::vector<Command>& batch) {
        put(batch);
        auto said = in_words(machine_.name_changes());
        ring_.add(index_, machine_.name_changes());
        return said;
    }
    std::string log(Command command) { return log(std::vector<Command>{std::move(command)}); }

    static Request set(std::uint64_t session, std::uint64_t seq, std::uint64_t hold,
                       const std::string& bytes, const std::string& name = "a") {
        return request(session, seq, SetValue{Seq{hold}, name, bytes});
    }

    std::string take(Observer& observer, std::size_t told_max = 100, std::size_t looks = 100) {
        ObserverBudget budget{told_max, looks};
        std::vector<Observed> told;
        observer.take(ring_, machine_, budget, told);
        if (!told.empty() && told.back().position.is_set()) last_ = told.back().position;
        return in_words(told);
    }

    ChangeRing ring_;
    Position last_;  // of what was told
};

}  // namespace mortise::core
