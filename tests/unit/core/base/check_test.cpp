#include "core/base/check.hpp"

#include <string>

#include <gmock/gmock.h>

namespace mortise::core {
namespace {

// The text is in the host's log: it must identify the place for us, and must not reveal where it
// was built.
TEST(Check, NamesItsPlaceInTheTreeAndNotOnTheMachine) {
    try {
        MORTISE_CHECK(1 + 1 == 3);
        FAIL();
    } catch (const InvariantBroken& broken) {
        EXPECT_THAT(broken.what(), testing::MatchesRegex("tests/unit/core/base/check_test\\.cpp:"
                                                         "[0-9]+: broken invariant: 1 \\+ 1 == 3"));
    }
}

TEST(Check, LetsPassWhatHolds) {
    EXPECT_NO_THROW(MORTISE_CHECK(1 + 1 == 2));
}

}  // namespace
}  // namespace mortise::core
