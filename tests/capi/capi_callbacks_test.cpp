// Callbacks of the C interface: each is called when the header says so, and destroys its context
// exactly once.
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <unistd.h>

#include "tests/capi/one_c_node.hpp"
#include "tests/support/child.hpp"

namespace mortise::capi {
namespace {

class CLost : public OneCNode {
protected:
    int watch(mortise_hold* hold) {
        return mortise_hold_on_lost(hold, count_lost, &calls_, count_destroyed, nullptr);
    }
    void expect(int lost, int destroyed) {
        EXPECT_EQ(calls_.lost, lost);
        EXPECT_EQ(calls_.destroyed, destroyed);
        EXPECT_FALSE(calls_.destroyed_first);
    }
    Calls calls_;
};

TEST_F(CLost, IsCalledOnceAndThenDestroysItsContext) {
    auto* const hold = acquire_for_a_while("lost", 100 * ms);
    ASSERT_EQ(watch(hold), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return calls_.destroyed == 1; }));
    expect(1, 1);
    EXPECT_EQ(mortise_hold_valid(hold), 0);
    mortise_hold_free(hold);
    expect(1, 1);
}

TEST_F(CLost, IsCalledAtOnceForALostHold) {
    auto* const hold = acquire_for_a_while("late", 20 * ms);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    EXPECT_EQ(watch(hold), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return calls_.destroyed == 1; }));
    expect(1, 1);
    mortise_hold_free(hold);
    expect(1, 1);
}

TEST_F(CLost, IsNotCalledForARelease) {
    auto* const hold = acquire("released");
    ASSERT_EQ(watch(hold), MORTISE_OK);
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
    expect(0, 1);
    mortise_hold_free(hold);
    expect(0, 1);
}

TEST_F(CLost, IsNotCalledAfterUnlockOrFree) {
    auto* hold = acquire("unlocked");
    ASSERT_EQ(watch(hold), MORTISE_OK);
    mortise_hold_unlock(hold);
    expect(0, 1);
    mortise_hold_free(hold);
    hold = acquire("freed");
    ASSERT_EQ(watch(hold), MORTISE_OK);
    mortise_hold_free(hold);
    expect(0, 2);
}

TEST_F(CLost, IsCalledWhenTheNodeIsClosed) {
    auto* const hold = acquire("closed");
    ASSERT_EQ(watch(hold), MORTISE_OK);
    mortise_node_close(node_);
    expect(1, 1);
    mortise_hold_free(hold);
    expect(1, 1);
}

TEST_F(CLost, MayFreeItsHold) {
    struct Context {
        std::atomic<mortise_hold*> hold;
        std::atomic<int> freed = 0;
        std::atomic<bool> destroyed = false;
    } context;
    context.hold = acquire_for_a_while("frees", 50 * ms);
    const auto lost = [](void* given) {
        auto& mine = *static_cast<Context*>(given);
        mortise_hold_free(mine.hold);
        ++mine.freed;
    };
    const auto destroy = [](void* given) { static_cast<Context*>(given)->destroyed = true; };
    ASSERT_EQ(mortise_hold_on_lost(context.hold, lost, &context, destroy, nullptr), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return context.destroyed.load(); }));
    EXPECT_EQ(context.freed, 1);
}

TEST_F(CLost, MayFreeAHoldThatWasLostBefore) {
    auto* hold = acquire_for_a_while("frees at once", 20 * ms);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    const auto lost = [](void* given) { mortise_hold_free(static_cast<mortise_hold*>(given)); };
    EXPECT_EQ(mortise_hold_on_lost(hold, lost, hold, nullptr, nullptr), MORTISE_OK);
}

TEST_F(CLost, MayFreeItsNode) {
    struct Context {
        mortise_node* node;
        std::atomic<bool> freed = false;
    } context{node_, false};
    node_ = nullptr;
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.max_hold_ns = 50 * ms;
    mortise_hold* hold = nullptr;
    ASSERT_EQ(mortise_node_acquire(context.node, "x", 1, &options, &hold, nullptr), MORTISE_OK);
    const auto lost = [](void* given) {
        auto& mine = *static_cast<Context*>(given);
        mortise_node_free(mine.node);
        mine.freed = true;
    };
    ASSERT_EQ(mortise_hold_on_lost(hold, lost, &context, nullptr, nullptr), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return context.freed.load(); }));
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_LOCK_LOST);
    mortise_hold_free(hold);
}

TEST_F(CLost, IsAwaitedByAReleaseOnAnotherThread) {
    struct Context {
        std::atomic<bool> began = false;
        std::atomic<bool> ended = false;
    } context;
    auto* const hold = acquire("slow");
    const auto lost = [](void* given) {
        auto& mine = *static_cast<Context*>(given);
        mine.began = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        mine.ended = true;
    };
    ASSERT_EQ(mortise_hold_on_lost(hold, lost, &context, nullptr, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_node_break_lock(node_, "slow", 4, mortise_hold_token(hold), "", 0, nullptr),
              MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return context.began.load(); }));
    mortise_hold_free(hold);
    EXPECT_TRUE(context.ended);
}

TEST_F(CLost, IsRefusedASecondTimeAndForAReleasedHold) {
    auto* const hold = acquire("twice");
    ASSERT_EQ(watch(hold), MORTISE_OK);
    EXPECT_EQ(watch(hold), MORTISE_INVALID_ARGUMENT);
    expect(0, 1);
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_OK);
    expect(0, 2);
    EXPECT_EQ(watch(hold), MORTISE_NOT_HELD);
    expect(0, 3);
    mortise_hold_free(hold);
    expect(0, 3);
}

TEST_F(CLost, DestroysItsContextWhenItIsRefused) {
    EXPECT_EQ(watch(nullptr), MORTISE_INVALID_ARGUMENT);
    expect(0, 1);
    auto* const hold = acquire("no callback");
    EXPECT_EQ(mortise_hold_on_lost(hold, nullptr, &calls_, count_destroyed, nullptr),
              MORTISE_INVALID_ARGUMENT);
    expect(0, 2);
    mortise_hold_free(hold);
}

// Many holds that are lost and freed at the same moment.
TEST_F(CLost, EndsOnceWhenALossMeetsAFree) {
    for (int i = 0; i < 100; ++i) {
        const auto name = "race " + std::to_string(i);
        auto* const hold = acquire(name);
        Calls calls;
        ASSERT_EQ(mortise_hold_on_lost(hold, count_lost, &calls, count_destroyed, nullptr),
                  MORTISE_OK);
        const auto token = mortise_hold_token(hold);
        std::jthread breaking{[&] {
            mortise_node_break_lock(node_, name.data(), name.size(), token, "", 0, nullptr);
        }};
        std::this_thread::sleep_for(std::chrono::microseconds{i});
        mortise_hold_free(hold);
        EXPECT_LE(calls.lost, 1);
        EXPECT_EQ(calls.destroyed, 1);
        EXPECT_FALSE(calls.destroyed_first);
    }
}

// Two holds of two nodes that are lost at the same moment; the callback of each waits for that of
// the other and then releases the hold of the other.
struct Pair {
    std::array<mortise_hold*, 2> holds{};
    std::array<std::atomic<int>, 2> codes{-1, -1};
    std::atomic<int> running = 0;
    std::atomic<int> destroyed = 0;
};

template <int other>
void release_other(void* context) {
    auto& pair = *static_cast<Pair*>(context);
    ++pair.running;
    EXPECT_TRUE(comes_true([&] { return pair.running == 2; }));
    pair.codes[other] = mortise_hold_release(pair.holds[other], nullptr);
}

TEST_F(CLost, MayReleaseAHoldWhoseCallbackReleasesItsOwn) {
    mortise_node* const second = open_in_memory();
    ASSERT_EQ(mortise_node_wait_ready(second, patience, nullptr), MORTISE_OK);
    Pair pair;
    pair.holds[0] = acquire("mutual");
    ASSERT_EQ(mortise_node_acquire(second, "mutual", 6, nullptr, &pair.holds[1], nullptr),
              MORTISE_OK);
    const auto destroy = [](void* context) { ++static_cast<Pair*>(context)->destroyed; };
    EXPECT_EQ(mortise_hold_on_lost(pair.holds[0], release_other<1>, &pair, destroy, nullptr),
              MORTISE_OK);
    EXPECT_EQ(mortise_hold_on_lost(pair.holds[1], release_other<0>, &pair, destroy, nullptr),
              MORTISE_OK);
    std::jthread closing{[&] { mortise_node_close(second); }};
    mortise_node_close(node_);
    closing.join();
    EXPECT_TRUE(comes_true([&] { return pair.destroyed == 2; }));
    EXPECT_EQ(pair.codes[0], MORTISE_NODE_STOPPED);
    EXPECT_EQ(pair.codes[1], MORTISE_NODE_STOPPED);
    mortise_hold_free(pair.holds[0]);
    mortise_hold_free(pair.holds[1]);
    mortise_node_free(second);
    EXPECT_EQ(pair.destroyed, 2);
}

struct Slow {
    std::chrono::milliseconds time;
    std::atomic<bool> began = false;
    std::atomic<bool> ended = false;
};

void take_long(void* context) {
    auto& slow = *static_cast<Slow*>(context);
    slow.began = true;
    std::this_thread::sleep_for(slow.time);
    slow.ended = true;
}

TEST_F(CLost, IsAwaitedAlsoWhenTheCallThatSetsItCallsIt) {
    auto* const hold = acquire_for_a_while("slow at once", 20 * ms);
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    Slow slow{std::chrono::milliseconds{50}};
    std::jthread setting{[&] {
        EXPECT_EQ(mortise_hold_on_lost(hold, take_long, &slow, nullptr, nullptr), MORTISE_OK);
    }};
    EXPECT_TRUE(comes_true([&] { return slow.began.load(); }));
    EXPECT_EQ(mortise_hold_release(hold, nullptr), MORTISE_LOCK_LOST);
    EXPECT_TRUE(slow.ended);
    setting.join();
    mortise_hold_free(hold);
}

// Longer than timing.close_timeout and what the destructor of a node adds.
TEST_F(CLost, IsAwaitedByTheFunctionThatFreesTheNode) {
    Slow slow{std::chrono::milliseconds{3500}};
    auto* const hold = acquire("slow");
    ASSERT_EQ(mortise_hold_on_lost(hold, take_long, &slow, nullptr, nullptr), MORTISE_OK);
    mortise_node_free(node_);
    node_ = nullptr;
    EXPECT_TRUE(slow.ended);
    mortise_hold_free(hold);
}

// The thread that runs the callback does not exist in the child.
TEST_F(CLost, IsNotAwaitedInTheChildOfAFork) {
    Slow slow{std::chrono::milliseconds{200}};
    auto* const hold = acquire("forked");
    auto* const other = acquire("other");
    ASSERT_EQ(mortise_hold_on_lost(hold, take_long, &slow, nullptr, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_node_break_lock(node_, "forked", 6, mortise_hold_token(hold), "", 0, nullptr),
              MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return slow.began.load(); }));
    EXPECT_EQ(tests::exit_of_child([&] {
                  bool is_right = mortise_hold_release(hold, nullptr) == MORTISE_FORKED;
                  is_right = is_right && mortise_hold_release(other, nullptr) == MORTISE_FORKED;
                  is_right = is_right && watch(other) == MORTISE_FORKED && calls_.destroyed == 1;
                  mortise_hold_unlock(hold);
                  mortise_hold_free(hold);
                  mortise_hold_free(other);
                  return is_right && !slow.ended ? 0 : 1;
              }),
              0);
    mortise_hold_free(hold);
    EXPECT_TRUE(slow.ended);
    mortise_hold_free(other);
}

struct Lines {
    std::atomic<int> lines = 0;
    std::atomic<bool> ended_with_zero = true;
    std::atomic<int> destroyed = 0;
};

void take_line(void* context, mortise_log_level /*level*/, const char* line, size_t length) {
    auto& lines = *static_cast<Lines*>(context);
    ++lines.lines;
    if (line[length] != '\0') lines.ended_with_zero = false;
}

void count_lines_destroyed(void* context) {
    ++static_cast<Lines*>(context)->destroyed;
}

TEST(CLog, ReceivesLinesAndIsDestroyedWithTheLastUser) {
    Lines lines;
    mortise_config* config = nullptr;
    ASSERT_EQ(mortise_config_in_memory(&config, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_config_set_log(config, MORTISE_LOG_DEBUG, take_line, &lines,
                                     count_lines_destroyed, nullptr),
              MORTISE_OK);
    mortise_node* node = nullptr;
    ASSERT_EQ(mortise_node_open(config, &node, nullptr), MORTISE_OK);
    mortise_config_free(config);
    EXPECT_EQ(mortise_node_wait_ready(node, patience, nullptr), MORTISE_OK);
    EXPECT_EQ(lines.destroyed, 0);
    mortise_node_free(node);
    EXPECT_TRUE(comes_true([&] { return lines.destroyed == 1; }));
    EXPECT_GT(lines.lines, 0);
    EXPECT_TRUE(lines.ended_with_zero);
}

TEST(CLog, IsReplacedByTheNextOne) {
    Lines lines;
    mortise_config* config = nullptr;
    ASSERT_EQ(mortise_config_in_memory(&config, nullptr), MORTISE_OK);
    const auto set = [&](mortise_log_level level, mortise_log_callback sink) {
        return mortise_config_set_log(config, level, sink, &lines, count_lines_destroyed, nullptr);
    };
    EXPECT_EQ(set(MORTISE_LOG_INFO, take_line), MORTISE_OK);
    EXPECT_EQ(lines.destroyed, 0);
    EXPECT_EQ(set(MORTISE_LOG_OFF, nullptr), MORTISE_OK);  // its own context, and the one before
    EXPECT_EQ(lines.destroyed, 2);
    EXPECT_EQ(set(MORTISE_LOG_OFF + 1, take_line), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(lines.destroyed, 3);
    mortise_config_free(config);
    EXPECT_EQ(lines.destroyed, 3);
}

}  // namespace
}  // namespace mortise::capi
