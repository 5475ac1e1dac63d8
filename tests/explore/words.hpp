// Events in words, for a person.
#pragma once

#include <string>

#include "tests/explore/machine.hpp"

namespace mortise::explore {

[[nodiscard]] std::string in_words(const Packet& packet);
[[nodiscard]] std::string in_words(core::NodeId node, Event event);

}  // namespace mortise::explore
