// A thread that runs out of memory in a function of the C interface gets a code and an error, and
// leaves nothing behind.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "tests/capi/one_c_node.hpp"

namespace {

// How many allocations of this thread still succeed before the next ones fail; negative: all do.
thread_local constinit int left = -1;
thread_local constinit bool has_failed = false;

}  // namespace

// Not inlined, because g++ would report a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (left == 0) has_failed = true;
    void* const place = left == 0 ? nullptr : std::malloc(size);
    if (left > 0) --left;
    if (place == nullptr) throw std::bad_alloc{};
    return place;
}
[[gnu::noinline]] void operator delete(void* place) noexcept {
    std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::size_t /*size*/) noexcept {
    std::free(place);
}

namespace mortise::capi {
namespace {

class CNoMemory : public OneCNode {
protected:
    // Repeats `call` with memory for 0, 1, 2, ... allocations until it does not need more. Until
    // then it says that there is none, or what it says at the end.
    template <class Call>
    static int until_it_has_enough(const Call& call, int at_the_end = MORTISE_OK) {
        for (int allowed = 0;; ++allowed) {
            mortise_error* error = nullptr;
            has_failed = false;
            left = allowed;
            const int code = call(&error);
            left = -1;
            if (code != at_the_end) {
                EXPECT_EQ(code, MORTISE_OUT_OF_MEMORY);
            }
            if (code != MORTISE_OK) {
                EXPECT_EQ(mortise_error_code(error), code);
                EXPECT_STRNE(mortise_error_message(error, nullptr), "");
            }
            mortise_error_free(error);
            if (!has_failed) return code;
        }
    }
};

TEST_F(CNoMemory, OfAnAcquireHoldsNothing) {
    mortise_hold* hold = nullptr;
    const int code = until_it_has_enough([&](mortise_error** error) {
        mortise_hold_free(hold);
        return mortise_node_acquire_for(node_, "x", 1, patience, nullptr, &hold, error);
    });
    EXPECT_EQ(code, MORTISE_OK);
    ASSERT_NE(hold, nullptr);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    mortise_hold_free(hold);
}

TEST_F(CNoMemory, OfAnAcquireOfSeveralNamesHoldsNothing) {
    const mortise_lock_request names[] = {{"several/1", 9, MORTISE_MODE_EXCLUSIVE, 0},
                                          {"several/2", 9, MORTISE_MODE_EXCLUSIVE, 0}};
    mortise_hold* hold = nullptr;
    const int code = until_it_has_enough([&](mortise_error** error) {
        mortise_hold_free(hold);
        return mortise_node_acquire_all_for(node_, names, 2, patience, nullptr, &hold, error);
    });
    EXPECT_EQ(code, MORTISE_OK);
    EXPECT_EQ(mortise_hold_parts(hold), 2U);
    mortise_hold_free(hold);
}

TEST_F(CNoMemory, OfALookTellsNothing) {
    auto* const hold = acquire("looked at");
    char* json = nullptr;
    std::size_t length = 0;
    const int code = until_it_has_enough([&](mortise_error** error) {
        mortise_bytes_free(json);
        return mortise_node_inspect(node_, "looked at", 9, MORTISE_READ_LOCAL, &json, &length,
                                    error);
    });
    EXPECT_EQ(code, MORTISE_OK);
    EXPECT_NE(std::string(json, length).find("looked at"), std::string::npos);
    mortise_bytes_free(json);
    mortise_hold_free(hold);
}

TEST_F(CNoMemory, OfALostCallbackDestroysItsContext) {
    auto* const hold = acquire("watched");
    Calls calls;
    int tries = 0;
    const int code = until_it_has_enough([&](mortise_error** error) {
        ++tries;
        return mortise_hold_on_lost(hold, count_lost, &calls, count_destroyed, error);
    });
    EXPECT_EQ(code, MORTISE_OK);
    EXPECT_GT(tries, 1);
    EXPECT_EQ(calls.destroyed, tries - 1);
    mortise_hold_free(hold);
    EXPECT_EQ(calls.destroyed, tries);
    EXPECT_EQ(calls.lost, 0);
}

TEST_F(CNoMemory, OfAConfigMakesNone) {
    mortise_config* config = nullptr;
    const int code = until_it_has_enough(
        [&](mortise_error** error) { return mortise_config_in_memory(&config, error); });
    EXPECT_EQ(code, MORTISE_OK);
    mortise_config_free(config);
}

TEST_F(CNoMemory, OfABreakSaysSoUntilItHasEnough) {
    auto* const hold = acquire("broken");
    const auto token = mortise_hold_token(hold);
    int tries = 0;
    const int code = until_it_has_enough([&](mortise_error** error) {
        ++tries;
        return mortise_node_break_lock(node_, "broken", 6, token, "a reason that takes memory", 26,
                                       error);
    });
    EXPECT_EQ(code, MORTISE_OK);
    EXPECT_GT(tries, 1);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_why_lost(hold) == MORTISE_LOSS_BROKEN; }));
    mortise_hold_free(hold);
}

TEST_F(CNoMemory, OfARefusedBreakSaysSo) {
    const auto call = [&](mortise_error** error) {
        return mortise_node_break_lock(node_, "a name that takes memory", 24, 7, "", 0, error);
    };
    EXPECT_EQ(until_it_has_enough(call, MORTISE_NOT_HELD), MORTISE_NOT_HELD);
}

TEST_F(CNoMemory, OfTheOtherCallsThatBlockSaysSo) {
    auto* const hold = acquire("asked");
    const std::string value(100, 'v');
    EXPECT_EQ(until_it_has_enough([&](mortise_error** error) {
                  return mortise_hold_set_value(hold, value.data(), value.size(), error);
              }),
              MORTISE_OK);
    char* bytes = nullptr;
    std::size_t length = 0;
    EXPECT_EQ(until_it_has_enough([&](mortise_error** error) {
                  mortise_bytes_free(bytes);
                  return mortise_hold_value(hold, &bytes, &length, error);
              }),
              MORTISE_OK);
    EXPECT_EQ(std::string(bytes, length), value);
    mortise_bytes_free(bytes);
    EXPECT_EQ(until_it_has_enough([&](mortise_error** error) {
                  return mortise_hold_confirm(hold, patience, error);
              }),
              MORTISE_OK);
    EXPECT_EQ(until_it_has_enough([&](mortise_error** error) {
                  mortise_status status = {};
                  status.size = sizeof status;
                  return mortise_node_status(node_, &status, error);
              }),
              MORTISE_OK);
    mortise_hold_free(hold);
}

TEST_F(CNoMemory, OfALogQueueMakesNone) {
    mortise_config* config = nullptr;
    ASSERT_EQ(mortise_config_in_memory(&config, nullptr), MORTISE_OK);
    mortise_log_queue* queue = nullptr;
    const int code = until_it_has_enough([&](mortise_error** error) {
        return mortise_config_queue_log(config, MORTISE_LOG_INFO, 10, &queue, error);
    });
    EXPECT_EQ(code, MORTISE_OK);
    mortise_config_free(config);
    mortise_log_queue_free(queue);
}

TEST_F(CNoMemory, ForALostHoldSaysThatItIsLost) {
    auto* const hold = acquire_for_a_while("lost", 20 * ms);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    const auto fails = [](int wanted, const auto& call) {
        mortise_error* error = nullptr;
        left = 0;
        const int code = call(&error);
        left = -1;
        EXPECT_EQ(code, wanted);
        EXPECT_EQ(mortise_error_code(error), wanted);
        mortise_error_free(error);
    };
    char* bytes = nullptr;
    std::size_t length = 0;
    fails(MORTISE_LOCK_LOST, [&](auto e) { return mortise_hold_check(hold, e); });
    fails(MORTISE_LOCK_LOST, [&](auto e) { return mortise_hold_confirm(hold, 0, e); });
    fails(MORTISE_LOCK_LOST, [&](auto e) { return mortise_hold_value(hold, &bytes, &length, e); });
    fails(MORTISE_LOCK_LOST, [&](auto e) { return mortise_hold_set_value(hold, "x", 1, e); });
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_LOCK_LOST);
    fails(MORTISE_NOT_HELD, [&](auto e) { return mortise_hold_release(hold, e); });
    mortise_hold_free(hold);
}

TEST_F(CNoMemory, ForTheErrorLeavesTheCode) {
    mortise_error* error = nullptr;
    mortise_hold* hold = nullptr;
    left = 0;
    const int code = mortise_node_acquire(nullptr, "x", 1, nullptr, &hold, &error);
    left = -1;
    EXPECT_EQ(code, MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_error_code(error), MORTISE_INVALID_ARGUMENT);
    EXPECT_STREQ(mortise_error_message(error, nullptr), "invalid_argument");
    mortise_error_free(error);
}

}  // namespace
}  // namespace mortise::capi
