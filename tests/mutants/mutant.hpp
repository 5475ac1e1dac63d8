// Which mutant is at work: a woven source (weave.py) asks at each place that one of them changes.
#pragma once

#include <string_view>

namespace mortise::mutants {

// Whether the environment's MORTISE_MUTANT names this one; it is looked at once. A name that the
// table does not have ends the process: it would look like a mutant that survives.
bool at_work(std::string_view name);

}  // namespace mortise::mutants
