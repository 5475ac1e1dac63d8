#include <memory>
#include <type_traits>

#include <gtest/gtest.h>

#include <mortise/lock_error.hpp>

namespace mortise {
namespace {

static_assert(std::is_nothrow_copy_constructible_v<LockError>);
static_assert(std::is_base_of_v<std::system_error, LockError>);

TEST(LockError, SaysWhichLockAndWhatToDo) {
    const LockError error{Errc::timed_out, {.name = "orders/42"}};
    EXPECT_EQ(error.code(), Errc::timed_out);
    EXPECT_EQ(error.detail().name, "orders/42");
    EXPECT_EQ(std::string{error.what()},
              "orders/42: " + make_error_code(Errc::timed_out).message());
}

TEST(LockError, NamesTheCycleOfADeadlock) {
    const LockError error{Errc::deadlock, {.name = "a", .cycle = {{"one", "two"}, {"two", "one"}}}};
    EXPECT_EQ(std::string{error.what()}, "a (one waits for two, two waits for one): " +
                                             make_error_code(Errc::deadlock).message());
    EXPECT_EQ(error.detail().cycle.size(), 2U);
}

TEST(LockError, EscapesWhatOthersCalledThemselves) {
    const LockError error{Errc::deadlock, {.name = "a\n", .cycle = {{"\x1b[2J", "b\r"}}}};
    EXPECT_EQ(std::string{error.what()},
              R"(a\x0a (\x1b[2J waits for b\x0d): )" + make_error_code(Errc::deadlock).message());
    EXPECT_EQ(error.detail().name, "a\n");
}

TEST(LockError, OutlivesWhatItWasCopiedFrom) {
    HolderInfo holder;
    holder.node = 3;
    auto original = std::make_unique<LockError>(Errc::lock_lost, ErrorDetail{"x", {}, {holder}});
    const LockError copy = *original;
    original.reset();
    EXPECT_EQ(copy.detail().holders.at(0).node, 3U);
    EXPECT_EQ(copy.code(), Errc::lock_lost);
}

TEST(LockError, NeedsNoDetail) {
    const LockError error{Errc::no_quorum};
    EXPECT_EQ(error.detail().name, "");
    EXPECT_EQ(error.code(), Errc::no_quorum);
    EXPECT_EQ(std::string{error.what()}, make_error_code(Errc::no_quorum).message());
}

TEST(LockError, ShowsAnEmptyNameThatWasTheMistake) {
    const LockError error{Errc::invalid_argument, {.name = ""}};
    EXPECT_EQ(std::string{error.what()},
              R"("": )" + make_error_code(Errc::invalid_argument).message());
}

}  // namespace
}  // namespace mortise
