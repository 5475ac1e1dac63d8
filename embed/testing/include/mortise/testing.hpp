// The former name of <mortise/testkit.hpp>. It is for programs that do not use GoogleTest with
// `using namespace mortise`: there the name `testing` would be ambiguous.
#pragma once

#include <mortise/testkit.hpp>

namespace mortise {

namespace testing = testkit;  // NOLINT(misc-unused-alias-decls)

}  // namespace mortise
