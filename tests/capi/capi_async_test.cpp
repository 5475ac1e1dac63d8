// Acquires of the C interface that no thread waits for: the callback is called exactly once, and
// its context destroyed exactly once after it, however the acquire ends.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "tests/capi/one_c_node.hpp"

namespace mortise::capi {
namespace {

// What one callback was told.
struct Told {
    std::atomic<int> calls = 0;
    std::atomic<int> destroyed = 0;
    int code = -1;
    mortise_hold* hold = nullptr;
    mortise_error* error = nullptr;

    Told() = default;
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;
    ~Told() {
        mortise_error_free(error);
        mortise_hold_free(hold);
    }

    // True if the callback was called once and its context was then destroyed.
    [[nodiscard]] bool ends() {
        return comes_true([&] { return destroyed > 0; }) && calls == 1 && destroyed == 1;
    }
    [[nodiscard]] bool ends_with(int wanted) {
        return ends() && code == wanted && hold == nullptr && mortise_error_code(error) == wanted;
    }
    [[nodiscard]] bool is_granted() {
        return ends() && code == MORTISE_OK && error == nullptr && mortise_hold_valid(hold) == 1;
    }
};

void tell(void* context, int code, mortise_hold* hold, mortise_error* error) {
    auto& told = *static_cast<Told*>(context);
    told.code = code;
    told.hold = hold;
    told.error = error;
    EXPECT_EQ(told.destroyed, 0);
    ++told.calls;
}

void count_end(void* context) {
    ++static_cast<Told*>(context)->destroyed;
}

class CAsync : public OneCNode {
protected:
    int begin(std::string_view name, Told& told, std::int64_t wait_max_ns = INT64_MAX,
              const mortise_canceller* canceller = nullptr) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.canceller = canceller;
        return mortise_node_acquire_async(node_, name.data(), name.size(), wait_max_ns, &options,
                                          tell, &told, count_end, nullptr);
    }
    bool is_free(std::string_view name) {
        return comes_true([&] {
            mortise_hold* hold = nullptr;
            EXPECT_EQ(try_acquire(name, &hold), MORTISE_OK);
            const bool was_free = hold != nullptr;
            mortise_hold_free(hold);
            return was_free;
        });
    }
};

class CAsyncCancelled : public CAsync {
protected:
    CAsyncCancelled() { EXPECT_EQ(mortise_canceller_new(&canceller_, nullptr), MORTISE_OK); }
    ~CAsyncCancelled() override { mortise_canceller_free(canceller_); }

    mortise_canceller* canceller_ = nullptr;
};

TEST_F(CAsync, IsGrantedAtOnceOrAfterARelease) {
    Told first, second;
    ASSERT_EQ(begin("x", first), MORTISE_OK);
    ASSERT_TRUE(first.is_granted());
    ASSERT_EQ(begin("x", second), MORTISE_OK);
    mortise_hold* third = nullptr;  // its answer comes after the second request was taken
    EXPECT_EQ(try_acquire("x", &third), MORTISE_OK);
    EXPECT_EQ(third, nullptr);
    EXPECT_EQ(second.calls, 0);
    EXPECT_EQ(mortise_hold_release(first.hold, nullptr), MORTISE_OK);
    EXPECT_TRUE(second.is_granted());
}

TEST_F(CAsync, EndsWithoutAHoldWhenTheTimeEnds) {
    auto* const other = acquire("x");
    for (const auto wait : {std::int64_t{0}, 50 * ms}) {
        Told told;
        ASSERT_EQ(begin("x", told, wait), MORTISE_OK);
        EXPECT_TRUE(told.ends_with(MORTISE_OK));
    }
    mortise_hold_free(other);
    EXPECT_TRUE(is_free("x"));
}

TEST_F(CAsync, IsRefusedByTheLibraryThroughTheCallback) {
    mortise_semaphore* semaphore = nullptr;
    ASSERT_EQ(mortise_semaphore_new(node_, "s", 1, 1, &semaphore, nullptr), MORTISE_OK);
    Told no_name, permits, other_kind;
    ASSERT_EQ(begin("", no_name), MORTISE_OK);
    EXPECT_TRUE(no_name.ends_with(MORTISE_INVALID_ARGUMENT));
    ASSERT_EQ(mortise_semaphore_acquire_async(semaphore, 1, INT64_MAX, nullptr, tell, &permits,
                                              count_end, nullptr),
              MORTISE_OK);
    ASSERT_TRUE(permits.is_granted());
    EXPECT_EQ(mortise_hold_slots(permits.hold, nullptr, 0), 1U);
    ASSERT_EQ(begin("s", other_kind), MORTISE_OK);
    EXPECT_TRUE(other_kind.ends_with(MORTISE_KIND_MISMATCH));
    EXPECT_STREQ(mortise_error_lock_name(other_kind.error, nullptr), "s");
    mortise_semaphore_free(semaphore);
}

TEST_F(CAsync, IsNotCalledIfTheFunctionFails) {
    Told told;
    EXPECT_EQ(begin("x", told, -1), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(
        mortise_node_acquire_async(nullptr, "x", 1, 0, nullptr, tell, &told, count_end, nullptr),
        MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(
        mortise_node_acquire_async(node_, "x", 1, 0, nullptr, nullptr, &told, count_end, nullptr),
        MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(told.destroyed, 3);
    EXPECT_EQ(told.calls, 0);
}

TEST_F(CAsyncCancelled, BeforeItWaitsOrWhileItWaits) {
    auto* const other = acquire("x");
    Told waiting, late;
    ASSERT_EQ(begin("x", waiting, INT64_MAX, canceller_), MORTISE_OK);
    mortise_canceller_cancel(canceller_);
    EXPECT_TRUE(waiting.ends_with(MORTISE_CANCELLED));
    ASSERT_EQ(begin("x", late, INT64_MAX, canceller_), MORTISE_OK);
    EXPECT_TRUE(late.ends_with(MORTISE_CANCELLED));
    mortise_hold_free(other);
    EXPECT_TRUE(is_free("x"));
}

TEST_F(CAsyncCancelled, AfterTheGrantItHasNoEffect) {
    Told told;
    ASSERT_EQ(begin("x", told, INT64_MAX, canceller_), MORTISE_OK);
    ASSERT_TRUE(told.is_granted());
    mortise_canceller_cancel(canceller_);
    EXPECT_EQ(mortise_hold_valid(told.hold), 1);
    EXPECT_EQ(told.calls, 1);
}

TEST_F(CAsyncCancelled, AtTheSameTimeAsTheGrant) {
    for (int i = 0; i < 100; ++i) {
        auto* const other = acquire("x");
        mortise_canceller* canceller = nullptr;
        ASSERT_EQ(mortise_canceller_new(&canceller, nullptr), MORTISE_OK);
        Told told;
        ASSERT_EQ(begin("x", told, INT64_MAX, canceller), MORTISE_OK);
        std::thread releasing{[&] { mortise_hold_free(other); }};
        mortise_canceller_cancel(canceller);
        mortise_canceller_free(canceller);
        releasing.join();
        EXPECT_TRUE(told.is_granted() || told.ends_with(MORTISE_CANCELLED)) << told.code;
    }
    EXPECT_TRUE(is_free("x"));
}

TEST_F(CAsync, EndsWithTheNode) {
    auto* const other = acquire("x");
    Told waiting, late;
    ASSERT_EQ(begin("x", waiting), MORTISE_OK);
    mortise_node_close(node_);
    EXPECT_EQ(waiting.destroyed, 1) << "the close waits for the callback";
    EXPECT_TRUE(waiting.ends_with(MORTISE_NODE_STOPPED));
    ASSERT_EQ(begin("x", late), MORTISE_OK);
    EXPECT_TRUE(late.ends_with(MORTISE_NODE_STOPPED));
    mortise_hold_free(other);
}

TEST_F(CAsync, ManyWaitWithoutThreads) {
    const auto threads = [] {
        return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
    };
    auto* const other = acquire("x");
    const auto before = threads();
    std::vector<Told> all(1000);
    for (auto& told : all)
        ASSERT_EQ(begin("x", told), MORTISE_OK);
    EXPECT_LT(threads(), before + 10);
    mortise_node_close(node_);
    for (auto& told : all)
        EXPECT_TRUE(told.ends_with(MORTISE_NODE_STOPPED));
    mortise_hold_free(other);
}

TEST_F(CAsync, ACandidateLeadsWithItsValue) {
    mortise_election* election = nullptr;
    mortise_leader* leader = nullptr;
    ASSERT_EQ(mortise_election_new(node_, "boss", 4, &election, nullptr), MORTISE_OK);
    Told told;
    ASSERT_EQ(mortise_election_campaign_async(election, "here", 4, nullptr, tell, &told, count_end,
                                              nullptr),
              MORTISE_OK);
    ASSERT_TRUE(told.is_granted());
    ASSERT_EQ(mortise_election_leader(election, &leader, nullptr), MORTISE_OK);
    EXPECT_STREQ(mortise_leader_value(leader, nullptr), "here");
    EXPECT_EQ(mortise_leader_token(leader), mortise_hold_token(told.hold));
    mortise_leader_free(leader);
    EXPECT_EQ(mortise_election_resign(election, told.hold, nullptr), MORTISE_OK);
    mortise_election_free(election);
}

}  // namespace
}  // namespace mortise::capi
