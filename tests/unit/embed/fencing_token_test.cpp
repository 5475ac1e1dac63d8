#include <limits>
#include <locale>
#include <sstream>
#include <unordered_set>

#include <gtest/gtest.h>

#include <mortise/fencing_token.hpp>

namespace mortise {
namespace {

static_assert(!FencingToken{}.is_set() && FencingToken{}.raw() == 0);
static_assert(FencingToken::from_raw(7) > FencingToken::from_raw(6));

TEST(FencingToken, KeepsItsNumber) {
    const auto highest = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(FencingToken::from_raw(highest).raw(), highest);
    EXPECT_TRUE(FencingToken::from_raw(1).is_set());
    EXPECT_EQ(FencingToken::from_raw(0), FencingToken{});
}

TEST(FencingToken, IsWrittenInDecimalWhateverTheStream) {
    struct Grouping : std::numpunct<char> {
        [[nodiscard]] std::string do_grouping() const override { return "\3"; }
    };
    std::ostringstream out;
    out.imbue(std::locale{std::locale::classic(), new Grouping});
    out << std::hex << FencingToken::from_raw(1234567);
    EXPECT_EQ(out.str(), "1234567");
    EXPECT_EQ(to_string(FencingToken::from_raw(42)), "42");
    EXPECT_EQ(FencingToken{}.to_string(), "0");
}

TEST(FencingToken, CanBeAKey) {
    const std::unordered_set<FencingToken> seen{
        FencingToken::from_raw(1), FencingToken::from_raw(2), FencingToken::from_raw(1)};
    EXPECT_EQ(seen.size(), 2U);
    EXPECT_TRUE(seen.contains(FencingToken::from_raw(2)));
}

}  // namespace
}  // namespace mortise
