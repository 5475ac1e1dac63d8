#include "core/locks/table/name_index.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/checksum.hpp"
#include "core/locks/table/name_table.hpp"

namespace mortise::core {
namespace {

RecordRef record(std::string_view name) {
    return RecordRef::make(name, LockRecord{QueuePolicy::fifo});
}

class NameIndexTest : public ::testing::Test {
protected:
    void add(const std::vector<std::string>& names) {
        for (const auto& name : names)
            index_.add(record(name), hash_of(name));
    }
    void remove(const std::vector<std::string>& names) {
        for (const auto& name : names)
            index_.remove(*find(name));
    }
    NamedRecord* find(std::string_view name) { return index_.find(name, hash_of(name)); }
    // How many of these names are found, each with its own record.
    std::size_t found(const std::vector<std::string>& names) {
        std::size_t count = 0;
        for (const auto& name : names) {
            const auto* known = find(name);
            count += known != nullptr && known->name() == name ? 1 : 0;
        }
        return count;
    }
    // So many names, whose hashes end with the same bits.
    static std::vector<std::string> names(std::size_t count, std::uint64_t mask = 0) {
        std::vector<std::string> names;
        for (std::uint64_t i = 0; names.size() < count; ++i) {
            auto name = std::to_string(i);
            if ((hash_of(name) & mask) == 0) names.push_back(std::move(name));
        }
        return names;
    }

    NameIndex index_;
};

TEST_F(NameIndexTest, FindsWhatIsThereAsItGrowsAndShrinks) {
    EXPECT_EQ(find("0"), nullptr);
    const auto all = names(2'000);
    const std::vector<std::string> some(all.begin(), all.begin() + 900);
    const std::vector<std::string> rest(all.begin() + 900, all.end());
    for (int round = 0; round < 3; ++round) {
        add(all);
        ASSERT_EQ(found(all), all.size());
        remove(rest);
        ASSERT_EQ(found(all), some.size());
        add(rest);
        remove(some);
        ASSERT_EQ(found(all), rest.size());
        remove(rest);
        ASSERT_EQ(found(all), 0U);
    }
}

// P10: nobody makes a search long who chooses names for that.
TEST_F(NameIndexTest, FindsNamesWhoseHashesAreEqual) {
    const auto chosen = names(200, 0xFF);
    const auto others = names(100);
    add(chosen);
    ASSERT_EQ(found(chosen), chosen.size());
    EXPECT_EQ(find("none"), nullptr);
    const std::vector<std::string> half(chosen.begin(), chosen.begin() + 100);
    remove(half);
    ASSERT_EQ(found(chosen), chosen.size() - half.size());
    add(half);
    ASSERT_EQ(found(chosen), chosen.size());
    remove(chosen);
    EXPECT_EQ(found(chosen), 0U);
}

TEST(NamesInOrder, HaveAllNamesWhateverCameAndWent) {
    NameTable table;
    const auto name_of = [](int i) { return std::to_string(i * 7'919 % 10'007); };
    const auto remove = [&](int i) { table.tidy(table.record(name_of(i)), [] { return false; }); };
    const auto are_in_order = [&](std::size_t count) {
        const auto& records = table.records();
        return records.size() == count && table.size() == count &&
               std::ranges::is_sorted(records, {}, NameOf{});
    };
    for (int i = 0; i < 10'000; ++i) {
        table.create(name_of(i), QueuePolicy::fifo, 0);
        if (i % 3 == 0) remove(i);
        if (i % 3 == 1 && i > 1'000) remove(i - 990);
        if (i == 4'000) {
            EXPECT_TRUE(are_in_order(table.size()));
        }
        if (i % 2'500 == 0) (void)table.take_changes(1'000);
    }
    EXPECT_TRUE(are_in_order(table.size()));
    const auto former = table.size();
    table.create("twice", QueuePolicy::fifo, 0);
    table.tidy(table.record("twice"), [] { return false; });
    table.create("twice", QueuePolicy::fifo, 0);
    EXPECT_TRUE(are_in_order(former + 1));
}

}  // namespace
}  // namespace mortise::core
