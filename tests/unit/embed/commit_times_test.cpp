#include "embed/runtime/commit_times.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(CommitTimes, LastFromTheLogUntilTheEntryIsApplied) {
    CommitTimes commits;
    commits.appended(core::LogIndex{3}, core::Instant{100});
    commits.appended(core::LogIndex{4}, core::Instant{200});
    EXPECT_EQ(commits.applied(core::LogIndex{2}, core::Instant{250}), std::nullopt);
    EXPECT_EQ(commits.applied(core::LogIndex{3}, core::Instant{250}), 150ns);
    EXPECT_EQ(commits.applied(core::LogIndex{4}, core::Instant{260}), 60ns);
    EXPECT_EQ(commits.applied(core::LogIndex{4}, core::Instant{260}), std::nullopt);
}

TEST(CommitTimes, CountOncePerAppend) {
    CommitTimes commits;
    commits.appended(core::LogIndex{5}, core::Instant{100});  // the entries 3 to 5
    EXPECT_EQ(commits.applied(core::LogIndex{3}, core::Instant{110}), std::nullopt);
    EXPECT_EQ(commits.applied(core::LogIndex{5}, core::Instant{110}), 10ns);
}

TEST(CommitTimes, EntriesThatAnotherLeaderCommitsDoNotCount) {
    CommitTimes commits;
    commits.appended(core::LogIndex{3}, core::Instant{100});
    commits.clear();
    EXPECT_EQ(commits.applied(core::LogIndex{3}, core::Instant{110}), std::nullopt);
}

TEST(CommitTimes, ABacklogIsNotMeasuredAsAWhole) {
    CommitTimes commits;
    for (std::uint64_t raw = 1; raw <= 100; ++raw)
        commits.appended(core::LogIndex{raw}, core::Instant{100});
    EXPECT_EQ(commits.applied(core::LogIndex{1}, core::Instant{101}), 1ns);
    EXPECT_EQ(commits.applied(core::LogIndex{100}, core::Instant{101}), std::nullopt);
    commits.appended(core::LogIndex{101}, core::Instant{200});
    EXPECT_EQ(commits.applied(core::LogIndex{101}, core::Instant{205}), 5ns);
}

}  // namespace
}  // namespace mortise::detail
