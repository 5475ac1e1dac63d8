#include "core/base/check.hpp"

#include <string>

namespace mortise::core {

void invariant_broken(const char* expression, const char* file, int line) {
    throw InvariantBroken{std::string{file} + ":" + std::to_string(line) +
                          ": broken invariant: " + expression};
}

}  // namespace mortise::core
