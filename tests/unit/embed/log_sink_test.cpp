#include "embed/host/log_sink.hpp"

#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "embed/host/rate_limit.hpp"

namespace mortise::detail {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::Pair;

using Lines = std::vector<std::pair<LogLevel, std::string>>;

LogConfig into(Lines& lines, LogLevel level) {
    return {.level = level, .sink = [&lines](LogLevel of_line, std::string_view line) {
                lines.emplace_back(of_line, line);
            }};
}

TEST(NodeLog, GivesTheProgramEachLineAndItsLevel) {
    Lines lines;
    NodeLog log{into(lines, LogLevel::debug), 7};
    log.debug("a", "one");
    log.info("a", "two");
    log.warn("a", "three");
    log.error("a", "four");
    EXPECT_THAT(lines, ElementsAre(Pair(LogLevel::debug, "mortise node 7: one"),
                                   Pair(LogLevel::info, "mortise node 7: two"),
                                   Pair(LogLevel::warn, "mortise node 7: three"),
                                   Pair(LogLevel::error, "mortise node 7: four")));
}

TEST(NodeLog, LeavesOutWhatIsBelowItsLevel) {
    Lines lines;
    NodeLog log{into(lines, LogLevel::warn), 1};
    EXPECT_FALSE(log.wants(LogLevel::info));
    EXPECT_TRUE(log.wants(LogLevel::warn));
    log.info("a", "no");
    log.warn("a", "yes");
    log.write(LogLevel::off, "a", "no level of a line");
    EXPECT_EQ(lines.size(), 1U);
    EXPECT_EQ(log.left_out(), 0U);
}

TEST(NodeLog, IsSilentWhenItIsOff) {
    Lines lines;
    NodeLog log{into(lines, LogLevel::off), 1};
    log.error("a", "no");
    log.write(LogLevel::off, "a", "no");
    EXPECT_FALSE(log.wants(LogLevel::error));
    EXPECT_FALSE(log.wants(LogLevel::off));
    EXPECT_TRUE(lines.empty());
}

TEST(NodeLog, MakesOneHarmlessLineOfAnyText) {
    Lines lines;
    NodeLog log{into(lines, LogLevel::warn), 1};
    log.warn("a", "lock \"a\n2026 error mortise node 1: forged\x1b[2J\" {} {0} %v");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].second,
              R"(mortise node 1: lock "a\x0a2026 error mortise node 1: forged\x1b[2J" {} {0} %v)");
}

TEST(NodeLog, CutsWhatIsTooLong) {
    Lines lines;
    NodeLog log{into(lines, LogLevel::warn), 1};
    log.warn("a", std::string(100'000, 'x'));
    EXPECT_EQ(lines.at(0).second, "mortise node 1: " + std::string(4'096, 'x') + "...");
}

TEST(NodeLog, CutsACauseShortThatComesBackTooOften) {
    Lines lines;
    NodeLog log{into(lines, LogLevel::warn), 1};
    for (int i = 0; i < 1'000; ++i)
        log.warn("peer refused", "no");
    log.warn("something else", "yes");
    EXPECT_EQ(lines.size(), RateLimit::burst + 1);
    EXPECT_EQ(lines.back().second, "mortise node 1: yes");
    EXPECT_EQ(log.left_out(), 1'000 - RateLimit::burst);
}

// --- lines with their parts

struct OwnedRecord {
    LogLevel level;
    NodeId node;
    std::string key;
    std::string text;
    std::vector<std::pair<std::string, std::string>> fields;
    std::uint64_t left_out;
};

LogConfig into(std::vector<OwnedRecord>& records) {
    LogConfig config;
    config.record_sink = [&records](const LogRecord& record) {
        OwnedRecord owned{
            record.level, record.node,    std::string{record.key}, std::string{record.text},
            {},           record.left_out};
        for (const auto& [key, value] : record.fields)
            owned.fields.emplace_back(key, value);
        records.push_back(std::move(owned));
    };
    return config;
}

TEST(NodeLog, GivesTheProgramThePartsOfALine) {
    std::vector<OwnedRecord> records;
    NodeLog log{into(records), 7};
    log.warn("lock_broken", "broke \"a\nb\"", {{"name", "a\nb"}, {"token", std::to_string(17)}});
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].level, LogLevel::warn);
    EXPECT_EQ(records[0].node, 7U);
    EXPECT_EQ(records[0].key, "lock_broken");
    EXPECT_EQ(records[0].text, R"(broke "a\x0ab")");
    EXPECT_THAT(records[0].fields, ElementsAre(Pair("name", "a\nb"), Pair("token", "17")));
    EXPECT_EQ(records[0].left_out, 0U);
}

TEST(NodeLog, WritesNothingToStderrForAProgramThatTakesThePartsOfLines) {
    std::vector<OwnedRecord> records;
    testing::internal::CaptureStderr();
    {
        NodeLog log{into(records), 1};
        log.error("a", "one");
        log.info("a", "below its level");
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(records.size(), 1U);
}

TEST(NodeLog, GivesEachSinkItsFormOfTheLine) {
    std::vector<OwnedRecord> records;
    Lines lines;
    auto config = into(records);
    config.sink = into(lines, LogLevel::warn).sink;
    NodeLog log{config, 1};
    log.warn("a", "one", {{"peer", "2"}});
    EXPECT_EQ(records.size(), 1U);
    EXPECT_THAT(lines, ElementsAre(Pair(LogLevel::warn, "mortise node 1: one")));
}

TEST(NodeLog, ARecordSinkThatThrowsKeepsNoLineFromTheOther) {
    Lines lines;
    auto config = into(lines, LogLevel::warn);
    config.record_sink = [](const LogRecord&) { throw std::runtime_error{"full"}; };
    NodeLog log{config, 1};
    log.warn("a", "one");
    EXPECT_EQ(lines.size(), 1U);
}

TEST(NodeLog, EachKeyHasALimitOfItsOwn) {
    std::vector<OwnedRecord> records;
    NodeLog log{into(records), 1};
    for (int i = 0; i < 100; ++i)
        log.warn("message_refused", "no");
    log.warn("snapshot_refused", "yes");
    EXPECT_EQ(records.size(), RateLimit::burst + 1);
    EXPECT_EQ(log.left_out(), 100 - RateLimit::burst);
}

TEST(NodeLog, SurvivesASinkThatThrows) {
    int calls = 0;
    const LogConfig config{.level = LogLevel::warn, .sink = [&calls](LogLevel, std::string_view) {
                               if (++calls == 1) throw std::runtime_error{"full"};
                               throw 1;
                           }};
    NodeLog log{config, 1};
    testing::internal::CaptureStderr();
    log.warn("a", "one");
    log.warn("a", "two");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(calls, 2);
}

TEST(NodeLog, HoldsNoLockWhileTheProgramsSinkRuns) {  // P10
    NodeLog* again = nullptr;
    Lines lines;
    const LogConfig config{.level = LogLevel::warn,
                           .sink = [&](LogLevel level, std::string_view line) {
                               lines.emplace_back(level, line);
                               if (lines.size() == 1) again->warn("b", "inner");
                           }};
    NodeLog log{config, 1};
    again = &log;
    log.warn("a", "outer");
    EXPECT_THAT(lines, ElementsAre(Pair(LogLevel::warn, "mortise node 1: outer"),
                                   Pair(LogLevel::warn, "mortise node 1: inner")));
}

TEST(NodeLog, WritesToStderrWithTheTimeInUtc) {
    testing::internal::CaptureStderr();
    {
        NodeLog log{{.level = LogLevel::info, .sink = {}}, 3};
        log.info("a", "good morning");
    }
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                             "info mortise node 3: good morning\n"));
}

TEST(NodeLog, IsSeparateForEachNode) {
    Lines first;
    Lines second;
    NodeLog one{into(first, LogLevel::error), 1};
    NodeLog two{into(second, LogLevel::debug), 1};
    one.warn("a", "no");
    two.debug("a", "yes");
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(second.size(), 1U);
}

TEST(NodeLog, TakesLinesFromManyThreads) {
    std::mutex mutex;
    Lines lines;
    const LogConfig config{.level = LogLevel::warn,
                           .sink = [&](LogLevel level, std::string_view line) {
                               const std::scoped_lock lock{mutex};
                               lines.emplace_back(level, line);
                           }};
    NodeLog log{config, 1};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&log, i] {
                for (int j = 0; j < 100; ++j)
                    log.warn(std::to_string(i), "x");
            });
        }
    }
    EXPECT_EQ(lines.size(), 4 * RateLimit::burst);
    EXPECT_EQ(log.left_out(), 4 * (100 - RateLimit::burst));
}

}  // namespace
}  // namespace mortise::detail
