// What `mortise top` draws.
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tools/mortise/table.hpp"
#include "tools/mortise/top/frame.hpp"
#include "tools/mortise/top/sparkline.hpp"

namespace mortise::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Sparkline, TheHighestBarIsThatOfTheLargestValue) {
    EXPECT_EQ(sparkline({0, 1, 4, 8}, 10, Glyphs::unicode), " ▁▄█");
    EXPECT_EQ(sparkline({0, 1, 4, 8}, 10, Glyphs::ascii), " _-#");
    EXPECT_EQ(sparkline({0, 0}, 10, Glyphs::unicode), "  ");
    EXPECT_EQ(sparkline({}, 10, Glyphs::unicode), "");
}

TEST(Sparkline, LittleRoomShowsTheLargestOfSomeNeighbours) {
    EXPECT_EQ(sparkline({8, 0, 0, 1, 4, 0}, 3, Glyphs::ascii), "#_-");
    EXPECT_EQ(width_of(sparkline(std::vector<double>(90, 1.0), 40, Glyphs::unicode)), 30U);
}

TEST(CutTo, KeepsCharactersWhole) {
    EXPECT_EQ(cut_to("äöü", 3, Glyphs::unicode), "äöü");
    EXPECT_EQ(cut_to("äöü", 2, Glyphs::unicode), "ä…");
    EXPECT_EQ(cut_to("orders/1", 4, Glyphs::ascii), "ord~");
    EXPECT_EQ(cut_to("a", 0, Glyphs::ascii), "");
}

TEST(GlyphsOfTheTerminal, AreThoseOfItsLocale) {
    ::unsetenv("LC_ALL");
    ::unsetenv("LC_CTYPE");
    ::setenv("LANG", "C.UTF-8", 1);
    EXPECT_EQ(glyphs_of_terminal(), Glyphs::unicode);
    ::setenv("LC_ALL", "C", 1);
    EXPECT_EQ(glyphs_of_terminal(), Glyphs::ascii);
    ::setenv("LC_ALL", "de_DE.utf8", 1);
    EXPECT_EQ(glyphs_of_terminal(), Glyphs::unicode);
    ::unsetenv("LC_ALL");
}

Activity busy() {
    Activity activity;
    activity.node = 2;
    activity.cluster = "orders";
    activity.leader = 1;
    activity.members = 3;
    activity.sessions = 12;
    activity.names = 340;
    activity.waiters = 5;
    activity.contended_names = 2;
    activity.oldest_wait = 12s;
    activity.hottest = {{"orders/17", NameKind::lock, 1, 4, 12s},
                        {"permits", NameKind::semaphore, 3, 1, 500ms}};
    activity.recent.length = 22s;
    ActivityRates slot;
    slot.length = 10s;
    slot.grants = 35;
    slot.wait_p99 = 750us;
    activity.slots.push_back(slot);
    slot.grants = 1280;
    slot.wait_p99 = 12ms;
    activity.slots.push_back(slot);
    slot.length = 500ms;  // just begun: one grant is not two in a second
    slot.grants = 100'000;
    activity.slots.push_back(slot);
    return activity;
}

TEST(TopFrame, ShowsTheClusterItsRatesAndTheHottestNames) {
    EXPECT_THAT(
        frame_of(busy(), {.columns = 80}),
        ElementsAre("mortise top  orders, as node 2 sees it, the last 22 s",
                    "leader 1, 3 members, 12 sessions, 340 names",
                    "5 waiters for 2 names, oldest wait 12 s", "",
                    "grants/s  _#  now 128, most 128", "wait p99  _#  now 12 ms, most 12 ms", "",
                    "NAME       KIND       HOLDERS  WAITERS  OLDEST WAIT",
                    "orders/17  lock       1        4        12 s",
                    "permits    semaphore  3        1        0.5 s"));
}

TEST(TopFrame, SaysInMinutesHowMuchIsRemembered) {
    auto activity = busy();
    activity.recent.length = 899s;
    EXPECT_THAT(frame_of(activity, {.columns = 80}).front(), HasSubstr("the last 15 min"));
}

TEST(TopFrame, AQuietClusterHasNoTable) {
    Activity quiet;
    quiet.members = 1;
    const auto lines = frame_of(quiet, {.columns = 80, .prefix = "jobs/"});
    EXPECT_THAT(lines[1], StartsWith("no leader known, 1 member, 0 sessions"));
    EXPECT_EQ(lines.back(), "nobody waits for a name that begins with jobs/");
}

TEST(TopFrame, FitsTheTerminal) {
    auto activity = busy();
    activity.hottest[0].name = std::string(200, 'x');
    activity.hottest[1].name = "a\x1b[2Jb";
    for (const std::size_t columns : {20, 40, 80, 200}) {
        const auto lines = frame_of(activity, {.columns = columns, .rows = 8});
        EXPECT_EQ(lines.size(), 8U);
        for (const auto& line : lines) {
            EXPECT_LE(width_of(line), columns) << line;
            EXPECT_EQ(line.find('\x1b'), std::string::npos);
        }
    }
    EXPECT_THAT(frame_of(activity, {.columns = 200}).back(), HasSubstr(R"(a\x1b[2Jb)"));
}

TEST(TopFrame, SaysWhyWhatIsShownIsOld) {
    const auto lines = frame_of(busy(), {.columns = 80, .problem = "no member answered"});
    EXPECT_EQ(lines[3], "no member answered");
}

}  // namespace
}  // namespace mortise::cli
