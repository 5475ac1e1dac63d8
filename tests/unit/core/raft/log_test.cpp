#include "core/raft/log.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/base/prng.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// After `base`, one entry with each of these terms.
Log log_of(LogId base, std::initializer_list<std::uint64_t> terms) {
    Log log{base, {}};
    for (const auto term : terms)
        log.append(commands({Term{term}, log.last().index.next()}, "payload"));
    return log;
}

TEST(Log, StartsEmptyAfterItsBase) {
    const Log log{log_id(2, 5), {}};
    EXPECT_EQ(log.last(), log_id(2, 5));
    EXPECT_EQ(log.first_index(), LogIndex{6});
    EXPECT_EQ(log.bytes(), 0U);
}

// B-C8: an entry that is purged or does not exist yet has no term, so nothing matches it.
TEST(Log, KnowsTheTermOnlyOfWhatItKeeps) {
    const auto log = log_of(log_id(2, 5), {2, 3});
    EXPECT_EQ(log.term_at(LogIndex{4}), std::nullopt);
    EXPECT_EQ(log.term_at(LogIndex{5}), Term{2});
    EXPECT_EQ(log.term_at(LogIndex{7}), Term{3});
    EXPECT_EQ(log.term_at(LogIndex{8}), std::nullopt);
    EXPECT_EQ(log.term_at(LogIndex{}), std::nullopt);
    EXPECT_EQ(log_of({}, {}).term_at(LogIndex{}), Term{});
}

// B-C11: only committed entries are purged, so a purged one always matches.
TEST(Log, HasWhatIsPurged) {
    const auto log = log_of(log_id(2, 5), {3});
    EXPECT_TRUE(log.has(log_id(1, 4)));
    EXPECT_TRUE(log.has(log_id(2, 5)));
    EXPECT_FALSE(log.has(log_id(1, 5)));
    EXPECT_TRUE(log.has(log_id(3, 6)));
    EXPECT_FALSE(log.has(log_id(2, 6)));
    EXPECT_FALSE(log.has(log_id(3, 7)));
}

TEST(Log, RefusesAGapAndALowerTerm) {
    auto log = log_of({}, {1, 3});
    EXPECT_THROW(log.append(commands(log_id(3, 4))), InvariantBroken);
    EXPECT_THROW(log.append(commands(log_id(3, 2))), InvariantBroken);
    EXPECT_THROW(log.append(commands(log_id(2, 3))), InvariantBroken);
    EXPECT_THROW((Log{log_id(1, 3), {commands(log_id(1, 5))}}), InvariantBroken);
    log.append(commands(log_id(3, 3)));
    EXPECT_EQ(log.last(), log_id(3, 3));
}

TEST(Log, TruncatesFromAnIndexOn) {
    auto log = log_of({}, {1, 1, 2, 2});
    log.truncate_from(LogIndex{3});
    EXPECT_EQ(log.last(), log_id(1, 2));
    log.truncate_from(LogIndex{9});
    EXPECT_EQ(log.last(), log_id(1, 2));
    log.truncate_from(LogIndex{1});
    EXPECT_EQ(log.last(), LogId{});
    EXPECT_EQ(log.bytes(), 0U);
    EXPECT_THROW(log.truncate_from(LogIndex{}), InvariantBroken);
}

TEST(Log, PurgesUpToAnIndexAndIncludingIt) {
    auto log = log_of({}, {1, 1, 2, 3});
    log.purge_to(LogIndex{3});
    EXPECT_EQ(log.base(), log_id(2, 3));
    EXPECT_EQ(log.first_index(), LogIndex{4});
    EXPECT_EQ(log.at(LogIndex{4}).id, log_id(3, 4));
    EXPECT_THROW((void)log.at(LogIndex{3}), InvariantBroken);
    log.purge_to(LogIndex{2});
    EXPECT_EQ(log.base(), log_id(2, 3));
    EXPECT_THROW(log.purge_to(LogIndex{5}), InvariantBroken);
    log.purge_to(LogIndex{4});
    EXPECT_EQ(log.last(), log_id(3, 4));
    EXPECT_EQ(log.bytes(), 0U);
}

TEST(Log, WeighsWhatItKeeps) {
    auto log = log_of({}, {1, 1, 1});
    const auto each = weight(log.at(LogIndex{1}));
    EXPECT_EQ(log.bytes(), 3 * each);
    log.truncate_from(LogIndex{3});
    EXPECT_EQ(log.bytes(), 2 * each);
    log.purge_to(LogIndex{1});
    EXPECT_EQ(log.bytes(), each);
}

TEST(Log, SlicesWhatFitsButAtLeastOne) {
    const auto log = log_of({}, {1, 1, 1, 1});
    const auto each = weight(log.at(LogIndex{1}));
    EXPECT_EQ(log.slice(LogIndex{2}, 2 * each, 9).size(), 2U);
    EXPECT_EQ(log.slice(LogIndex{2}, 3 * each - 1, 9).size(), 2U);
    EXPECT_EQ(log.slice(LogIndex{2}, 0, 9).size(), 1U);
    EXPECT_EQ(log.slice(LogIndex{2}, 100 * each, 9).size(), 3U);
    EXPECT_TRUE(log.slice(LogIndex{5}, 100 * each, 9).empty());
    EXPECT_EQ(log.slice(LogIndex{3}, each, 9).front().id, log_id(1, 3));
    EXPECT_EQ(log.slice(LogIndex{2}, 100 * each, 2).size(), 2U);
    EXPECT_EQ(log.slice(LogIndex{2}, 100 * each, 0).size(), 1U);
}

TEST(Log, FindsTheNewestEntryNotAboveALimit) {
    const auto log = log_of({}, {1, 1, 2, 4, 4});
    EXPECT_EQ(log.newest_not_above(log_id(9, 9)), log_id(4, 5));
    EXPECT_EQ(log.newest_not_above(log_id(4, 4)), log_id(4, 4));
    EXPECT_EQ(log.newest_not_above(log_id(3, 9)), log_id(2, 3));
    EXPECT_EQ(log.newest_not_above(log_id(1, 9)), log_id(1, 2));
    EXPECT_EQ(log.newest_not_above(log_id(1, 1)), log_id(1, 1));
    EXPECT_EQ(log.newest_not_above(LogId{}), LogId{});
    const auto purged = log_of(log_id(2, 5), {4});
    EXPECT_EQ(purged.newest_not_above(log_id(3, 9)), log_id(2, 5));
}

// B-A4: compared with a plain vector that keeps everything.
TEST(Log, BehavesAsAPlainVector) {
    Prng prng{6};
    Log log{{}, {}};
    std::vector<Term> model;  // of index 1 and on
    std::uint64_t base = 0;
    for (int step = 0; step < 20'000; ++step) {
        const auto last = model.size();
        if (prng.below(10) < 6) {
            const auto term = Term{(model.empty() ? 1 : model.back().raw()) + prng.below(2)};
            log.append(commands({term, LogIndex{last + 1}}));
            model.push_back(term);
        } else if (last > base && prng.one_in(2)) {
            const auto from = base + 1 + prng.below(last - base);
            log.truncate_from(LogIndex{from});
            model.resize(from - 1);
        } else if (last > base) {
            base += prng.below(std::min<std::uint64_t>(last - base, 3) + 1);
            log.purge_to(LogIndex{base});
        }
        ASSERT_EQ(log.last().index, LogIndex{model.size()});
        ASSERT_EQ(log.base().index, LogIndex{base});
        const auto index = prng.below(model.size() + 3);
        const bool kept = index >= base && index <= model.size() && index > 0;
        const auto expected = kept ? std::optional{model[index - 1]} : std::nullopt;
        if (index != 0) {
            ASSERT_EQ(log.term_at(LogIndex{index}), expected) << index;
        }
    }
}

}  // namespace
}  // namespace mortise::core::test
