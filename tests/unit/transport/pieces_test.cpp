#include "transport/wire/pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Pieces, AreMessagesAgainHoweverTheyAreDivided) {
    const std::vector<std::string> messages{"a", "", std::string(10'000, 'b'), "c"};
    for (const std::size_t size : {1U, 3U, 4U, 5U, 4'096U, 1'000'000U}) {
        PieceWriter writer;
        for (const auto& message : messages)
            writer.add(message);
        PieceReader reader{10'000};
        std::vector<std::string> read;
        while (!writer.is_empty()) {
            const auto piece = writer.take(size);
            ASSERT_LE(piece.size(), size);
            const auto ended = reader.take(piece);
            ASSERT_TRUE(ended);
            read.insert(read.end(), ended->begin(), ended->end());
        }
        EXPECT_EQ(read, messages) << size;
    }
}

TEST(Pieces, OfAMessageThatIsTooLongAreRefusedBeforeItIsThere) {
    PieceWriter writer;
    writer.add(std::string(101, 'a'));
    PieceReader reader{100};
    EXPECT_FALSE(reader.take(writer.take(4)));
}

TEST(Pieces, CountWhatWasNotTaken) {
    PieceWriter writer;
    EXPECT_TRUE(writer.is_empty());
    writer.add("abc");
    EXPECT_EQ(writer.size(), 7U);
    EXPECT_EQ(writer.take(5).size(), 5U);
    EXPECT_EQ(writer.size(), 2U);
    writer.add("d");
    EXPECT_EQ(writer.take(100).size(), 7U);
    EXPECT_TRUE(writer.is_empty());
}

TEST(Pieces, OfNothingAreNoMessage) {
    PieceReader reader{100};
    const auto none = reader.take("");
    ASSERT_TRUE(none);
    EXPECT_THAT(*none, IsEmpty());
    const auto empty = reader.take(std::string_view{"\0\0\0\0", 4});
    ASSERT_TRUE(empty);
    EXPECT_THAT(*empty, ElementsAre(""));
}

}  // namespace
}  // namespace mortise::transport
