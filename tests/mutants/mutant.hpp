// Selects the active mutant: a woven source (weave.py) checks it at each mutated place.
#pragma once

#include <string_view>
#include <type_traits>

namespace mortise::mutants {

// Whether the environment's MORTISE_MUTANT names this one; the variable is read once. A name that
// the table does not have ends the process: it would look like a mutant that survives.
bool is_chosen(std::string_view name);

// What the compiler evaluates is never mutated.
constexpr bool at_work(std::string_view name) {
    return !std::is_constant_evaluated() && is_chosen(name);
}

}  // namespace mortise::mutants
