// Semaphores, rate limiters, latches, barriers and elections through mortise.h.
#include <array>
#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/capi/one_c_node.hpp"

namespace mortise::capi {
namespace {

class CKinds : public OneCNode {
protected:
    mortise_semaphore* semaphore(std::string_view name, std::uint32_t limit) {
        mortise_semaphore* made = nullptr;
        EXPECT_EQ(mortise_semaphore_new(node_, name.data(), name.size(), limit, &made, nullptr),
                  MORTISE_OK);
        return made;
    }
    mortise_latch* latch(std::int64_t expected) {
        mortise_latch* made = nullptr;
        EXPECT_EQ(mortise_latch_new(node_, "ready", 5, expected, &made, nullptr), MORTISE_OK);
        return made;
    }
    mortise_barrier* barrier(std::int64_t parties) {
        mortise_barrier* made = nullptr;
        EXPECT_EQ(mortise_barrier_new(node_, "step", 4, parties, &made, nullptr), MORTISE_OK);
        return made;
    }
    static std::vector<std::uint32_t> slots(const mortise_hold* hold) {
        std::vector<std::uint32_t> all(mortise_hold_slots(hold, nullptr, 0));
        EXPECT_EQ(mortise_hold_slots(hold, all.data(), all.size()), all.size());
        return all;
    }
};

TEST_F(CKinds, ASemaphoreHasSoManyPermits) {
    auto* const pool = semaphore("pool", 3);
    mortise_hold* two = nullptr;
    mortise_hold* more = nullptr;
    ASSERT_EQ(mortise_semaphore_acquire(pool, 2, nullptr, &two, nullptr), MORTISE_OK);
    EXPECT_EQ(slots(two), (std::vector<std::uint32_t>{0, 1}));
    std::array<std::uint32_t, 1> first{7};
    EXPECT_EQ(mortise_hold_slots(two, first.data(), 1), 2U);
    EXPECT_EQ(first[0], 0U);
    EXPECT_EQ(mortise_semaphore_try_acquire(pool, 2, nullptr, &more, nullptr), MORTISE_OK);
    EXPECT_EQ(more, nullptr);
    EXPECT_EQ(mortise_semaphore_acquire_for(pool, 2, 5 * ms, nullptr, &more, nullptr), MORTISE_OK);
    EXPECT_EQ(more, nullptr);
    EXPECT_EQ(mortise_semaphore_try_acquire(pool, 1, nullptr, &more, nullptr), MORTISE_OK);
    EXPECT_EQ(slots(more), std::vector<std::uint32_t>{2});
    mortise_semaphore_free(pool);
    EXPECT_EQ(mortise_hold_valid(two), 1);
    mortise_hold_free(two);
    mortise_hold_free(more);
}

TEST_F(CKinds, TheLimitChangesAndTheNameIsRemoved) {
    auto* const pool = semaphore("pool", 1);
    std::uint32_t limit = 0;
    EXPECT_EQ(mortise_semaphore_limit(pool, &limit, nullptr), MORTISE_OK);
    EXPECT_EQ(limit, 1U);
    EXPECT_EQ(mortise_semaphore_resize(pool, 5, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_semaphore_limit(pool, &limit, nullptr), MORTISE_OK);
    EXPECT_EQ(limit, 5U);
    mortise_hold* hold = nullptr;
    EXPECT_EQ(try_acquire("pool", &hold), MORTISE_KIND_MISMATCH);
    EXPECT_EQ(mortise_node_remove(node_, "pool", 4, nullptr), MORTISE_OK);
    EXPECT_EQ(try_acquire("pool", &hold), MORTISE_OK);
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_node_remove(node_, "pool", 4, &error), MORTISE_INVALID_ARGUMENT);
    EXPECT_NE(message_of(error).find("somebody holds the name"), std::string::npos);
    mortise_hold_free(hold);
    mortise_semaphore_free(pool);
}

TEST_F(CKinds, ARateLimiterGivesNoMoreInItsTime) {
    mortise_rate_limiter* limiter = nullptr;
    ASSERT_EQ(mortise_rate_limiter_new(node_, "calls", 5, 2, 100 * ms, &limiter, nullptr),
              MORTISE_OK);
    std::array<mortise_permit, 2> permits{};
    int is_granted = 0;
    EXPECT_EQ(mortise_rate_limiter_acquire_for(limiter, 2, INT64_MAX, nullptr, &is_granted,
                                               permits.data(), nullptr),
              MORTISE_OK);
    EXPECT_EQ(is_granted, 1);
    EXPECT_EQ(permits[1].number, 1U);
    EXPECT_GT(permits[0].token, 0);
    for (const auto wait : {std::int64_t{0}, 2 * ms}) {
        EXPECT_EQ(mortise_rate_limiter_acquire_for(limiter, 1, wait, nullptr, &is_granted, nullptr,
                                                   nullptr),
                  MORTISE_OK);
        EXPECT_EQ(is_granted, 0);
    }
    const auto earlier = permits[0].token;
    EXPECT_EQ(mortise_rate_limiter_acquire_for(limiter, 1, patience, nullptr, &is_granted,
                                               permits.data(), nullptr),
              MORTISE_OK);
    EXPECT_EQ(is_granted, 1);
    EXPECT_GT(permits[0].token, earlier);
    mortise_rate_limiter_free(limiter);
}

TEST_F(CKinds, ALatchOpensWhenAllIsCounted) {
    auto* const ready = latch(2);
    int is_open = 1;
    EXPECT_EQ(mortise_latch_try_wait(ready, &is_open, nullptr), MORTISE_OK);
    EXPECT_EQ(is_open, 0);
    auto waits =
        std::async(std::launch::async, [&] { return mortise_latch_wait(ready, nullptr, nullptr); });
    EXPECT_EQ(mortise_latch_count_down(ready, 1, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_latch_wait_for(ready, 5 * ms, nullptr, &is_open, nullptr), MORTISE_OK);
    EXPECT_EQ(is_open, 0);
    EXPECT_EQ(mortise_latch_count_down(ready, 2, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_latch_count_down(ready, 1, nullptr), MORTISE_OK);
    EXPECT_EQ(waits.get(), MORTISE_OK);
    EXPECT_EQ(mortise_latch_wait_for(ready, 0, nullptr, &is_open, nullptr), MORTISE_OK);
    EXPECT_EQ(is_open, 1);
    mortise_latch_free(ready);
}

TEST_F(CKinds, ACancellerEndsAWait) {
    auto* const ready = latch(1);
    mortise_canceller* canceller = nullptr;
    ASSERT_EQ(mortise_canceller_new(&canceller, nullptr), MORTISE_OK);
    mortise_wait_options options = MORTISE_WAIT_OPTIONS_INIT;
    options.label = "worker";
    options.label_length = 6;
    options.canceller = canceller;
    auto waits = std::async(std::launch::async,
                            [&] { return mortise_latch_wait(ready, &options, nullptr); });
    EXPECT_EQ(waits.wait_for(std::chrono::milliseconds{10}), std::future_status::timeout);
    mortise_canceller_cancel(canceller);
    EXPECT_EQ(waits.get(), MORTISE_CANCELLED);
    mortise_canceller_free(canceller);
    mortise_latch_free(ready);
}

TEST_F(CKinds, ABarrierLetsAllPassTogether) {
    auto* const step = barrier(2);
    for (int phase = 0; phase < 2; ++phase) {
        auto first = std::async(std::launch::async, [&] {
            return mortise_barrier_arrive_and_wait(step, nullptr, nullptr);
        });
        int has_passed = 0;
        EXPECT_EQ(
            mortise_barrier_arrive_and_wait_for(step, patience, nullptr, &has_passed, nullptr),
            MORTISE_OK);
        EXPECT_EQ(has_passed, 1);
        EXPECT_EQ(first.get(), MORTISE_OK);
    }
    EXPECT_EQ(mortise_barrier_arrive_and_drop(step, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_barrier_arrive_and_wait(step, nullptr, nullptr), MORTISE_OK);
    int has_passed = 1;
    EXPECT_EQ(mortise_barrier_arrive_and_wait_for(step, 0, nullptr, &has_passed, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(has_passed, 0);
    mortise_barrier_free(step);
}

TEST_F(CKinds, APartyThatGivesUpBreaksTheBarrier) {
    auto* const step = barrier(2);
    int has_passed = 1;
    EXPECT_EQ(mortise_barrier_arrive_and_wait_for(step, 5 * ms, nullptr, &has_passed, nullptr),
              MORTISE_OK);
    EXPECT_EQ(has_passed, 0);
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_barrier_arrive_and_wait(step, nullptr, &error), MORTISE_SESSION_EXPIRED);
    EXPECT_NE(message_of(error).find("broken"), std::string::npos);
    mortise_barrier_free(step);
}

// What an observer was told.
struct Told {
    std::mutex mutex;
    std::vector<std::string> leaders;
    std::atomic<int> destroyed{0};

    bool has(const std::string& wanted) {
        const std::lock_guard lock{mutex};
        return !leaders.empty() && leaders.back() == wanted;
    }
    static void tell(void* context, const mortise_leader* leader) {
        auto& told = *static_cast<Told*>(context);
        const std::lock_guard lock{told.mutex};
        told.leaders.emplace_back(leader == nullptr ? "nobody"
                                                    : mortise_leader_value(leader, nullptr));
    }
    static void destroy(void* context) { ++static_cast<Told*>(context)->destroyed; }
};

TEST_F(CKinds, AnElectionHasALeaderAndTellsOfIt) {
    mortise_election* election = nullptr;
    ASSERT_EQ(mortise_election_new(node_, "boss", 4, &election, nullptr), MORTISE_OK);
    mortise_leader* leader = nullptr;
    EXPECT_EQ(mortise_election_leader(election, &leader, nullptr), MORTISE_OK);
    EXPECT_EQ(leader, nullptr);
    Told told;
    mortise_observation* observation = nullptr;
    ASSERT_EQ(
        mortise_election_observe(election, Told::tell, &told, Told::destroy, &observation, nullptr),
        MORTISE_OK);
    mortise_hold* hold = nullptr;
    ASSERT_EQ(mortise_election_campaign(election, "here", 4, nullptr, &hold, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_election_leader(election, &leader, nullptr), MORTISE_OK);
    std::size_t length = 0;
    EXPECT_STREQ(mortise_leader_value(leader, &length), "here");
    EXPECT_EQ(length, 4U);
    EXPECT_EQ(mortise_leader_node(leader), mortise_node_id(node_));
    EXPECT_EQ(mortise_leader_token(leader), mortise_hold_token(hold));
    mortise_leader_free(leader);
    EXPECT_TRUE(comes_true([&] { return told.has("here"); }));
    auto* const other = acquire("other");
    EXPECT_EQ(mortise_election_resign(election, other, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_hold_valid(other), 1);
    EXPECT_EQ(mortise_election_resign(election, hold, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_election_resign(election, hold, nullptr), MORTISE_NOT_HELD);
    EXPECT_TRUE(comes_true([&] { return told.has("nobody"); }));
    EXPECT_EQ(told.destroyed, 0);
    mortise_observation_free(observation);
    EXPECT_TRUE(comes_true([&] { return told.destroyed == 1; }));
    mortise_hold_free(hold);
    mortise_hold_free(other);
    mortise_election_free(election);
}

TEST_F(CKinds, EveryMisuseHasAMessage) {
    mortise_semaphore* pool = nullptr;
    mortise_latch* ready = nullptr;
    mortise_barrier* step = nullptr;
    mortise_election* election = nullptr;
    mortise_observation* observation = nullptr;
    mortise_rate_limiter* limiter = nullptr;
    mortise_hold* hold = nullptr;
    mortise_wait_options bad = MORTISE_WAIT_OPTIONS_INIT;
    bad.size = 8;
    auto* const open = latch(1);
    int passed = 0;
    mortise_error* e = nullptr;
    const auto misused = [&e](int code) {
        EXPECT_EQ(code, MORTISE_INVALID_ARGUMENT);
        EXPECT_FALSE(message_of(e).empty());
    };
    misused(mortise_semaphore_new(nullptr, "a", 1, 1, &pool, &e));
    misused(mortise_semaphore_new(node_, "a", 1, 0, &pool, &e));
    misused(mortise_semaphore_new(node_, "a", 1, 1, nullptr, &e));
    misused(mortise_semaphore_acquire(nullptr, 1, nullptr, &hold, &e));
    misused(mortise_semaphore_resize(nullptr, 1, &e));
    misused(mortise_semaphore_limit(nullptr, nullptr, &e));
    misused(mortise_rate_limiter_new(node_, "a", 1, 1, 0, &limiter, &e));
    misused(mortise_rate_limiter_acquire_for(nullptr, 1, 0, nullptr, nullptr, nullptr, &e));
    misused(mortise_latch_new(node_, nullptr, 1, 1, &ready, &e));
    misused(mortise_latch_new(node_, "a", 1, -1, &ready, &e));
    misused(mortise_latch_count_down(nullptr, 1, &e));
    misused(mortise_latch_try_wait(open, nullptr, &e));
    misused(mortise_latch_wait(open, &bad, &e));
    misused(mortise_latch_wait_for(open, -1, nullptr, &passed, &e));
    misused(mortise_barrier_new(node_, "a", 1, 0, &step, &e));
    misused(mortise_barrier_arrive_and_wait(nullptr, nullptr, &e));
    misused(mortise_barrier_arrive_and_drop(nullptr, &e));
    misused(mortise_election_new(node_, "a", 1, nullptr, &e));
    misused(mortise_election_campaign(nullptr, "", 0, nullptr, &hold, &e));
    misused(mortise_election_leader(nullptr, nullptr, &e));
    ASSERT_EQ(mortise_election_new(node_, "a", 1, &election, nullptr), MORTISE_OK);
    misused(mortise_election_resign(election, nullptr, &e));
    Told told;
    misused(mortise_election_observe(election, nullptr, &told, Told::destroy, &observation, &e));
    EXPECT_EQ(told.destroyed, 1) << "destroy is called when the registration fails";
    misused(mortise_node_remove(nullptr, "a", 1, &e));
    mortise_election_free(election);
    mortise_latch_free(open);
    EXPECT_EQ(mortise_hold_slots(nullptr, nullptr, 0), 0U);
    EXPECT_EQ(mortise_leader_token(nullptr), 0);
    EXPECT_EQ(mortise_leader_node(nullptr), 0U);
    EXPECT_STREQ(mortise_leader_value(nullptr, nullptr), "");
    mortise_semaphore_free(nullptr);
    mortise_latch_free(nullptr);
    mortise_barrier_free(nullptr);
    mortise_election_free(nullptr);
    mortise_observation_free(nullptr);
    mortise_rate_limiter_free(nullptr);
    mortise_leader_free(nullptr);
}

}  // namespace
}  // namespace mortise::capi
