#include "embed/holds/lent_grants.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "embed/holds/hold_record.hpp"
#include "embed/threads/notifier.hpp"

namespace mortise::detail {
namespace {

std::shared_ptr<HoldRecord> some_record() {
    core::Acquired granted;
    granted.parts.push_back({"x", core::LockMode::exclusive, core::FencingToken{1}, {}});
    return std::make_shared<HoldRecord>(std::move(granted), nullptr, nullptr);
}

TEST(LentGrants, FindsTheNewestUseOfAName) {
    LentGrants lent;
    EXPECT_EQ(lent.find("a"), nullptr);
    const auto one = some_record();
    const auto two = some_record();
    lent.put("a", one);
    lent.put("b", two);
    EXPECT_EQ(lent.find("a"), one);
    EXPECT_EQ(lent.find("b"), two);
    lent.put("a", two);
    EXPECT_EQ(lent.find("a"), two);
    EXPECT_EQ(lent.size(), 2U);
}

TEST(LentGrants, AreBoundedByTheRecordsThatExist) {  // P11
    LentGrants lent;
    const auto kept = some_record();
    lent.put("kept", kept);
    for (int number = 0; number < 100'000; ++number)
        lent.put("x" + std::to_string(number), some_record());
    EXPECT_EQ(lent.find("x99999"), nullptr);
    EXPECT_EQ(lent.find("kept"), kept);
    EXPECT_LT(lent.size(), 2'000U);
}

}  // namespace
}  // namespace mortise::detail
