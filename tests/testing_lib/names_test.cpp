// A test of a user: GoogleTest, the test kit, and both namespaces.
#include <filesystem>

#include <gtest/gtest.h>

#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

using namespace mortise;
using namespace mortise::testkit;

TEST(TestkitNames, StandBesideThoseOfGoogleTest) {
    const TempDirectory folder{"names"};
    const testing::AssertionResult exists = std::filesystem::exists(folder.path())
                                                ? testing::AssertionSuccess()
                                                : testing::AssertionFailure();
    EXPECT_TRUE(exists);
}
