#include "tests/mutants/mutant.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace mortise::mutants {

namespace {

constexpr std::string_view names[] = {
#include "mutant_names.inc"
};

std::string_view chosen() {
    const char* word = std::getenv("MORTISE_MUTANT");
    if (word == nullptr) return {};
    if (std::find(std::begin(names), std::end(names), word) != std::end(names)) return word;
    std::fprintf(stderr, "MORTISE_MUTANT: no mutant is called '%s'\n", word);
    std::abort();
}

}  // namespace

bool is_chosen(std::string_view name) {
    static const std::string_view at_work = chosen();
    return at_work == name;
}

}  // namespace mortise::mutants
