// Commands, outcomes and views as lines of text, for failure reports.
#pragma once

#include <string>

#include "core/locks/command.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::spec {

[[nodiscard]] std::string words(core::LockMode mode);
[[nodiscard]] std::string words(core::OperationId operation);  // session.seq
[[nodiscard]] std::string words(const core::Command& command);
[[nodiscard]] std::string words(const core::Outcome& outcome);
[[nodiscard]] std::string words(const core::Outcomes& outcomes);
[[nodiscard]] std::string words(const core::LockView& view);

}  // namespace mortise::spec
