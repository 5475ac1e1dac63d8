// Commands, outcomes, calls and answers in plain words, for people who read them for the first
// time. What the conversations do not contain is in the shorter words of tests/spec/words.hpp.
#pragma once

#include <string>

#include "core/agent/call.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/output.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::conversations {

template <class Kind>
std::string number(core::Id<Kind> id) {
    return sim::in_words(id);
}

[[nodiscard]] std::string in_words(core::OperationId operation);
[[nodiscard]] std::string in_words(const core::Command& command);
[[nodiscard]] std::string in_words(const core::Outcome& outcome);
[[nodiscard]] std::string in_words(const core::Call& call);
[[nodiscard]] std::string in_words(const core::CallAnswer& answer);
[[nodiscard]] std::string in_words(const core::MembershipGoal& goal);
[[nodiscard]] std::string in_words(const core::Configuration& configuration);
// "node 2 leads in term 2": a sentence about the node that noted it.
[[nodiscard]] std::string in_words(const core::Note& note);

}  // namespace mortise::conversations
