// Several names in one acquire, and conversions, through mortise.h.
#include <array>
#include <atomic>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "tests/capi/one_c_node.hpp"

namespace mortise::capi {
namespace {

mortise_lock_request request(std::string_view name, mortise_mode mode = MORTISE_MODE_EXCLUSIVE) {
    return {name.data(), name.size(), mode, 0};
}

class CSeveral : public OneCNode {
protected:
    using Requests = std::vector<mortise_lock_request>;

    mortise_hold* all(const Requests& names, std::int64_t wait_max_ns = patience) {
        mortise_hold* hold = nullptr;
        EXPECT_EQ(mortise_node_acquire_all_for(node_, names.data(), names.size(), wait_max_ns,
                                               nullptr, &hold, nullptr),
                  MORTISE_OK);
        return hold;
    }
    mortise_hold* any(const Requests& names, std::int64_t wait_max_ns = patience) {
        mortise_hold* hold = nullptr;
        EXPECT_EQ(mortise_node_acquire_any_for(node_, names.data(), names.size(), wait_max_ns,
                                               nullptr, &hold, nullptr),
                  MORTISE_OK);
        return hold;
    }
    bool is_taken(std::string_view name) {
        mortise_hold* hold = nullptr;
        EXPECT_EQ(try_acquire(name, &hold), MORTISE_OK);
        const bool was_taken = hold == nullptr;
        EXPECT_EQ(mortise_hold_release(hold, nullptr),
                  was_taken ? MORTISE_INVALID_ARGUMENT : MORTISE_OK);
        mortise_hold_free(hold);
        return was_taken;
    }
};

TEST_F(CSeveral, AllAreHeldTogetherAndEndTogether) {
    auto* const hold = all({request("b"), request("a", MORTISE_MODE_SHARED), request("b")});
    ASSERT_NE(hold, nullptr);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    EXPECT_STREQ(mortise_hold_name(hold, nullptr), "");
    EXPECT_EQ(mortise_hold_token(hold), 0);
    ASSERT_EQ(mortise_hold_parts(hold), 2U);
    const auto* const a = mortise_hold_part(hold, 0);
    const auto* const b = mortise_hold_part(hold, 1);
    EXPECT_EQ(mortise_hold_part(hold, 2), nullptr);
    EXPECT_STREQ(mortise_hold_name(a, nullptr), "a");
    EXPECT_EQ(mortise_hold_mode(a), MORTISE_MODE_SHARED);
    EXPECT_STREQ(mortise_hold_name(b, nullptr), "b");
    EXPECT_EQ(mortise_hold_mode(b), MORTISE_MODE_EXCLUSIVE);
    EXPECT_GT(mortise_hold_token(a), 0);
    EXPECT_GT(mortise_hold_token(b), 0);
    EXPECT_EQ(mortise_hold_parts(b), 0U);
    EXPECT_EQ(mortise_hold_set_value(b, "v", 1, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_confirm(hold, patience, nullptr), MORTISE_OK);
    EXPECT_TRUE(is_taken("a"));
    EXPECT_TRUE(is_taken("b"));
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_state(b), MORTISE_HOLD_RELEASED);
    EXPECT_FALSE(is_taken("a"));
    EXPECT_FALSE(is_taken("b"));
    mortise_hold_free(hold);
}

TEST_F(CSeveral, AHoldOfAllIsLostAsAWhole) {
    auto* const hold = all({request("a"), request("b")});
    Calls calls;
    ASSERT_EQ(mortise_hold_on_lost(hold, count_lost, &calls, count_destroyed, nullptr), MORTISE_OK);
    const auto token = mortise_hold_token(mortise_hold_part(hold, 1));
    ASSERT_EQ(mortise_node_break_lock(node_, "b", 1, token, "", 0, nullptr), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return calls.destroyed == 1; }));
    EXPECT_EQ(calls.lost, 1);
    EXPECT_EQ(mortise_hold_why_lost(mortise_hold_part(hold, 0)), MORTISE_LOSS_BROKEN);
    mortise_hold_free(hold);
}

TEST_F(CSeveral, ForOneOfWhichNoneIsFreeNothingIsHeld) {
    auto* const other = acquire("b");
    for (const auto wait : {std::int64_t{0}, 5 * ms})
        EXPECT_EQ(all({request("a"), request("b")}, wait), nullptr);
    EXPECT_FALSE(is_taken("a"));
    mortise_hold_free(other);
}

TEST_F(CSeveral, AnyIsTheFirstThatIsFree) {
    auto* const first = any({request("a"), request("b")}, 0);
    auto* const second = any({request("a"), request("b")}, 0);
    EXPECT_STREQ(mortise_hold_name(first, nullptr), "a");
    EXPECT_STREQ(mortise_hold_name(second, nullptr), "b");
    EXPECT_EQ(mortise_hold_parts(second), 0U);
    EXPECT_EQ(any({request("a"), request("b")}, 0), nullptr);
    auto third = std::async(std::launch::async, [&] { return any({request("a"), request("b")}); });
    mortise_hold_free(second);
    auto* const held = third.get();
    EXPECT_STREQ(mortise_hold_name(held, nullptr), "b");
    mortise_hold_free(held);
    mortise_hold_free(first);
}

TEST_F(CSeveral, WhatIsMeantByAHoldOfAllIsAskedOfAPart) {
    auto* const hold = all({request("a"), request("b")});
    char* bytes = nullptr;
    std::size_t length = 0;
    int has_passed = 1;
    mortise_previous previous = {};
    previous.size = sizeof previous;
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_hold_value(hold, &bytes, &length, &error), MORTISE_INVALID_ARGUMENT);
    EXPECT_NE(message_of(error).find("of several names"), std::string::npos);
    EXPECT_EQ(mortise_hold_set_value(hold, "v", 1, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_hold_previous(hold, &previous, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_SHARED, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_hold_upgrade_for(hold, 0, nullptr, &has_passed, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(has_passed, 0);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    mortise_hold_free(hold);
}

TEST_F(CSeveral, AWrongListIsRefused) {
    mortise_hold* hold = nullptr;
    const auto refuses = [&](const char* why, const Requests& names) {
        mortise_error* error = nullptr;
        EXPECT_EQ(mortise_node_acquire_any_for(node_, names.data(), names.size(), 0, nullptr, &hold,
                                               &error),
                  MORTISE_INVALID_ARGUMENT);
        EXPECT_NE(message_of(error).find(why), std::string::npos) << why;
    };
    auto odd = request("a");
    odd.reserved = 1;
    refuses("list of names is empty", {});
    refuses("1 to 512 bytes", {request("a"), request("")});
    refuses("mode is no mode", {request("a", 6)});
    refuses("reserved is not 0", {odd});
    refuses("b: the list has the name in two modes",
            {request("a"), request("b"), request("b", MORTISE_MODE_SHARED)});
    EXPECT_EQ(mortise_node_acquire_all_for(node_, nullptr, 1, 0, nullptr, &hold, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_node_acquire_all_for(nullptr, nullptr, 0, 0, nullptr, &hold, nullptr),
              MORTISE_INVALID_ARGUMENT);
}

// --- conversions

class CConversions : public OneCNode {
protected:
    mortise_hold* acquire_in(mortise_mode mode) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.mode = mode;
        options.caching = MORTISE_CACHING_OFF;
        return acquire("x", &options);
    }
    bool waits_to_upgrade() {
        char* json = nullptr;
        std::size_t length = 0;
        EXPECT_EQ(
            mortise_node_inspect(node_, "x", 1, MORTISE_READ_LINEARIZABLE, &json, &length, nullptr),
            MORTISE_OK);
        const bool waits = std::string{json}.find("\"upgrades\":true") != std::string::npos;
        mortise_bytes_free(json);
        return waits;
    }
    int upgrade(mortise_hold* hold, std::int64_t wait_max_ns,
                const mortise_canceller* canceller = nullptr) {
        mortise_wait_options options = MORTISE_WAIT_OPTIONS_INIT;
        options.canceller = canceller;
        return mortise_hold_upgrade_for(hold, wait_max_ns, &options, &has_passed_, nullptr);
    }
    int has_passed_ = 0;
};

TEST_F(CConversions, ADowngradeLetsReadersIn) {
    auto* const hold = acquire_in(MORTISE_MODE_EXCLUSIVE);
    const auto token = mortise_hold_token(hold);
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_SHARED, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_SHARED);
    EXPECT_EQ(mortise_hold_token(hold), token);
    mortise_hold_free(acquire_in(MORTISE_MODE_SHARED));
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_EXCLUSIVE, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_hold_downgrade(hold, 17, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_SHARED);
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_SHARED, nullptr), MORTISE_NOT_HELD);
    mortise_hold_free(hold);
}

TEST_F(CConversions, AnUpgradeWaitsUntilTheReadersHaveLeft) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    const auto token = mortise_hold_token(hold);
    for (const auto wait : {std::int64_t{0}, 5 * ms}) {
        has_passed_ = 1;
        EXPECT_EQ(upgrade(hold, wait), MORTISE_OK);
        EXPECT_EQ(has_passed_, 0);
        EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_UPDATE);
    }
    auto upgraded = std::async(std::launch::async, [&] { return upgrade(hold, INT64_MAX); });
    mortise_hold_free(reader);
    EXPECT_EQ(upgraded.get(), MORTISE_OK);
    EXPECT_EQ(has_passed_, 1);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_EXCLUSIVE);
    EXPECT_GT(mortise_hold_token(hold), token);
    mortise_hold_free(hold);
}

TEST_F(CConversions, ACancelledUpgradeLeavesTheHoldAsItWas) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    mortise_canceller* canceller = nullptr;
    ASSERT_EQ(mortise_canceller_new(&canceller, nullptr), MORTISE_OK);
    auto upgraded =
        std::async(std::launch::async, [&] { return upgrade(hold, patience, canceller); });
    EXPECT_TRUE(comes_true([&] { return waits_to_upgrade(); }));
    mortise_canceller_cancel(canceller);
    EXPECT_EQ(upgraded.get(), MORTISE_CANCELLED);
    EXPECT_EQ(upgrade(hold, INT64_MAX, canceller), MORTISE_CANCELLED);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_UPDATE);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    mortise_hold_free(acquire_in(MORTISE_MODE_SHARED));  // nothing keeps readers out any more
    mortise_hold_free(reader);
    mortise_hold_free(hold);
    mortise_canceller_free(canceller);
}

TEST_F(CConversions, OfAReaderBesideAnotherIsADeadlock) {
    auto* const hold = acquire_in(MORTISE_MODE_SHARED);
    auto* const other = acquire_in(MORTISE_MODE_SHARED);
    EXPECT_EQ(upgrade(hold, INT64_MAX), MORTISE_DEADLOCK);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_SHARED);
    mortise_hold_free(other);
    EXPECT_EQ(mortise_hold_upgrade_for(hold, patience, nullptr, &has_passed_, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_EXCLUSIVE);
    mortise_hold_free(hold);
}

// Of threads that convert one hold at the same time each finds it as another left it.
TEST_F(CConversions, ByTwoThreadsLeaveTheModeThatTheClusterHas) {
    for (int i = 0; i < 500; ++i) {
        auto* const hold = acquire_in(MORTISE_MODE_EXCLUSIVE);
        std::atomic<int> ready = 0;
        const auto downgrade = [&](mortise_mode mode) {
            ++ready;
            while (ready < 2)
                std::this_thread::yield();
            return mortise_hold_downgrade(hold, mode, nullptr);
        };
        auto other = std::async(std::launch::async, [&] { return downgrade(MORTISE_MODE_UPDATE); });
        EXPECT_EQ(downgrade(MORTISE_MODE_SHARED), MORTISE_OK);
        const int code = other.get();
        EXPECT_TRUE(code == MORTISE_OK || code == MORTISE_INVALID_ARGUMENT) << code;
        ASSERT_EQ(mortise_hold_mode(hold), MORTISE_MODE_SHARED);
        mortise_hold_free(hold);
    }
}

}  // namespace
}  // namespace mortise::capi
