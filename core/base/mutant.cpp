#include "core/base/mutant.hpp"

#ifdef MORTISE_MUTANTS

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace mortise::core {

namespace {

std::optional<Mutant> chosen() {
    const char* word = std::getenv("MORTISE_MUTANT");
    if (word == nullptr) return std::nullopt;
    const std::string_view wanted{word};
#define MORTISE_PLANTED_FAULT(name, what) \
    if (wanted == #name) return Mutant::name;
    MORTISE_PLANTED_FAULTS(MORTISE_PLANTED_FAULT)
#undef MORTISE_PLANTED_FAULT
    std::fprintf(stderr, "MORTISE_MUTANT: no planted fault is called '%s'\n", word);
    std::abort();
}

}  // namespace

bool planted(Mutant mutant) {
    static const std::optional<Mutant> at_work = chosen();
    return at_work == mutant;
}

}  // namespace mortise::core

#endif
