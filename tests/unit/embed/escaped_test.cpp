#include <array>

#include <gtest/gtest.h>

#include <mortise/escaped.hpp>

namespace mortise {
namespace {

using namespace std::string_literals;

TEST(Escaped, LeavesTextAsItIs) {
    for (const std::string text : {"", "orders/42", "a b~!\"'\\", "M\xc3\xbcnchen \xe2\x82\xac",
                                   "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x94\x92"}) {
        EXPECT_EQ(escaped(text), text);
    }
}

TEST(Escaped, ShowsControlCharacters) {
    EXPECT_EQ(escaped("a\nb\r\t"), R"(a\x0ab\x0d\x09)");
    EXPECT_EQ(escaped("\x1b[2J"), R"(\x1b[2J)");
    EXPECT_EQ(escaped("\0x\x7f"s), R"(\x00x\x7f)");
    EXPECT_EQ(escaped("\xc2\x9b"
                      "2J"),
              R"(\xc2\x9b2J)");  // the same in the second set of control characters
}

TEST(Escaped, ShowsWhatTurnsOrHidesText) {
    EXPECT_EQ(escaped("a\xe2\x80\xae"
                      "b"),
              R"(a\xe2\x80\xaeb)");  // right to left from here
    EXPECT_EQ(escaped("a\xe2\x80\x8b"
                      "b"),
              R"(a\xe2\x80\x8bb)");                         // zero width
    EXPECT_EQ(escaped("\xe2\x80\xa8"), R"(\xe2\x80\xa8)");  // another line end
    EXPECT_EQ(escaped("\xef\xbb\xbf"), R"(\xef\xbb\xbf)");
}

TEST(Escaped, ShowsWhatIsNotUtf8) {
    EXPECT_EQ(escaped("\xff\xfe"), R"(\xff\xfe)");
    EXPECT_EQ(escaped("a\x80z"), R"(a\x80z)");  // a continuation byte alone
    EXPECT_EQ(escaped("\xc3"), R"(\xc3)");      // ends too early
    EXPECT_EQ(escaped("\xe2\x82"), R"(\xe2\x82)");
    EXPECT_EQ(escaped("\xc3("), R"(\xc3()");        // continues with another byte
    EXPECT_EQ(escaped("\xc1\x81"), R"(\xc1\x81)");  // longer than necessary
    EXPECT_EQ(escaped("\xe0\x9f\xbf"), R"(\xe0\x9f\xbf)");
    EXPECT_EQ(escaped("\xf0\x8f\xbf\xbf"), R"(\xf0\x8f\xbf\xbf)");
    EXPECT_EQ(escaped("\xed\xa0\x80"), R"(\xed\xa0\x80)");  // half of a surrogate pair
    EXPECT_EQ(escaped("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
    EXPECT_EQ(escaped("\xf8\x88\x80\x80\x80"), R"(\xf8\x88\x80\x80\x80)");
}

TEST(Escaped, TwiceChangesNothingMore) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    const auto once = escaped(all);
    EXPECT_EQ(escaped(once), once);
    for (const char c : once)
        EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
}

TEST(EscapedName, TellsDifferentNamesApart) {
    EXPECT_EQ(escaped_name("orders/42"), "orders/42");
    EXPECT_EQ(escaped_name("a\x1b"), R"(a\x1b)");
    EXPECT_EQ(escaped_name(R"(a\x1b)"), R"(a\\x1b)");
    EXPECT_EQ(escaped(escaped_name("\0\\"s)), escaped_name("\0\\"s));  // within a longer line
}

TEST(EscapedName, IsReadBack) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    for (const auto& name : {all, all + all, R"(\\x00)"s, "M\xc3\xbcnchen"s, ""s}) {
        EXPECT_EQ(unescaped_name(escaped_name(name)), name);
        EXPECT_EQ(unescaped_name(escaped(escaped_name(name))), name);
    }
    EXPECT_EQ(unescaped_name(R"(\x41\\)"), "A\\");
    for (const auto* text : {R"(\)", R"(a\n)", R"(\x)", R"(\x4)", R"(\x4g)", R"(\xAB)"})
        EXPECT_FALSE(unescaped_name(text)) << text;
}

}  // namespace
}  // namespace mortise
