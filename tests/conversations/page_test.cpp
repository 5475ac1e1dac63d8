#include "tests/conversations/page.hpp"

#include <stdexcept>

#include <gmock/gmock.h>

#include "tests/conversations/scenes.hpp"
#include "tests/conversations/small_cluster.hpp"

namespace mortise::conversations {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, LongTextIsBrokenAtSpacesBelowItself) {
    const std::string word(50, 'x');
    const auto text = as_text({{"1.000 ms", "node 1", word + " " + word}});
    const auto column = text.find('x');
    EXPECT_EQ(text, text.substr(0, column) + word + "\n" + std::string(column, ' ') + word + "\n");
}

TEST(Page, ARemarkOfTheSceneStandsApart) {
    const auto text = as_text({{"1.000 ms", "", "node 1 is cut off"}});
    EXPECT_EQ(text, "     1.000 ms  -- node 1 is cut off --\n\n");
}

TEST(Page, ThePictureHasArrowsAndNotes) {
    const auto picture = as_picture({{"node 2", "node 1", "Forward: one; two"},
                                     {"node 1", "", "leads"},
                                     {"node 1", "program of node 1", "done"}});
    EXPECT_EQ(picture,
              "sequenceDiagram\n"
              "    participant N1 as node 1\n"
              "    participant N2 as node 2\n"
              "    participant P1 as program of node 1\n"
              "    N2->>N1: Forward: one, two\n"  // a semicolon would end the line
              "    Note over N1: leads\n"
              "    N1->>P1: done\n");
}

TEST(Page, ALongLabelInThePictureIsCut) {
    const std::string word(50, 'x');
    const auto picture = as_picture({{"node 1", "node 2", word + " " + word}});
    EXPECT_THAT(picture, HasSubstr("N1->>N2: " + word + " ...\n"));
}

TEST(Page, ItsBlocksAreMadeAnewAndTheRestStays) {
    const Transcript nothing{};
    const std::string picture = "\n```mermaid\nold\n```\n";
    const std::string lines = "\n```text\nold\n```\n";
    EXPECT_EQ(make_page("a\n" + picture + "\nb\n" + lines + "\nc\n", nothing),
              "a\n\n```mermaid\nsequenceDiagram\n```\n\nb\n\n```text\n```\n\nc\n");
    EXPECT_EQ(make_page("\n```mermaid\n```\n\n```text\n```\n", nothing),
              "\n```mermaid\nsequenceDiagram\n```\n\n```text\n```\n");
    for (const auto& page : {picture, lines, picture + lines + lines, lines + "\n```mermaid\nold"})
        EXPECT_THROW((void)make_page(page, nothing), std::runtime_error) << page;
}

// What stands on a page depends on nothing but the code.
TEST(Scenes, ASceneIsTheSameEachTime) {  // P13
    for (const auto& scene : scenes) {
        const auto once = scene.play();
        EXPECT_FALSE(once.lines().empty()) << scene.name;
        EXPECT_EQ(once.lines(), scene.play().lines()) << scene.name;
    }
}

TEST(Transcript, StartsWhereTheSceneSaysAndCountsFromThere) {
    SmallCluster it;
    EXPECT_TRUE(it.transcript.lines().empty());
    it.begin();
    it.stage.run_for(1ms);
    it.acquire(n2, 1, "jobs/1");
    ASSERT_FALSE(it.transcript.lines().empty());
    const auto& first = it.transcript.lines().front();
    EXPECT_EQ(first.time, "1.000 ms");
    EXPECT_EQ(first.who, "node 2 <- program");
    EXPECT_THAT(first.text, HasSubstr("acquire \"jobs/1\" exclusive"));
}

TEST(Transcript, AnIdleClusterHasNothingToSay) {  // P13
    SmallCluster it;
    it.transcript.news().renewals_are_routine(true);
    it.begin();
    it.stage.run_for(10s);
    EXPECT_TRUE(it.transcript.lines().empty()) << it.transcript.lines().front().text;
}

// No acknowledgement, unless the scene wants them.
TEST(Transcript, ThePictureIsSmallerThanTheConversation) {
    const auto arrows_of = [](bool all) {
        SmallCluster it;
        it.transcript.draws_acknowledgements(all);
        it.begin();
        it.acquire(n2, 1, "jobs/1");
        it.until_answered(n2, 1);
        std::string labels;
        for (const auto& arrow : it.transcript.arrows())
            labels += arrow.label + "\n";
        return labels;
    };
    EXPECT_THAT(arrows_of(true), HasSubstr("AppendReply"));
    const auto few = arrows_of(false);
    EXPECT_THAT(few, Not(HasSubstr("AppendReply")));
    EXPECT_THAT(few, HasSubstr("AppendRequest: entry 6"));
    EXPECT_THAT(few, Not(HasSubstr("AppendRequest: committed")));
}

}  // namespace
}  // namespace mortise::conversations
