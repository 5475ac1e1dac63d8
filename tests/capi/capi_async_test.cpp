// Acquires of the C interface that no thread waits for: the callback is called exactly once, and
// its context destroyed exactly once after it, however the acquire ends.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/capi/one_c_node.hpp"
#include <mortise/testkit/temp_directory.hpp>

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
    [[nodiscard]] bool says(int wanted, std::string_view reason) {
        return ends_with(wanted) && mortise_error_reason(error, nullptr) == reason;
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
    EXPECT_TRUE(no_name.says(MORTISE_INVALID_ARGUMENT, "a name has 1 to 512 bytes"));
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

TEST_F(CAsync, IsRefusedWithTheReasonOfTheBlockingCall) {
    Told permits, campaign, all;
    mortise_semaphore* semaphore = nullptr;
    ASSERT_EQ(mortise_semaphore_new(node_, "s", 1, 1, &semaphore, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_semaphore_acquire_async(semaphore, 0, INT64_MAX, nullptr, tell, &permits,
                                              count_end, nullptr),
              MORTISE_OK);
    EXPECT_TRUE(
        permits.says(MORTISE_INVALID_ARGUMENT, "an acquire takes 1 to 1,024 permits at a time"));
    mortise_election* election = nullptr;
    ASSERT_EQ(mortise_election_new(node_, "boss", 4, &election, nullptr), MORTISE_OK);
    const std::string value(4001, 'v');
    ASSERT_EQ(mortise_election_campaign_async(election, value.data(), value.size(), nullptr, tell,
                                              &campaign, count_end, nullptr),
              MORTISE_OK);
    EXPECT_TRUE(campaign.says(MORTISE_INVALID_ARGUMENT,
                              "the value is longer than Election::value_bytes_max"));
    EXPECT_STREQ(mortise_error_lock_name(campaign.error, nullptr), "boss");
    const std::array names{mortise_lock_request{"b", 1, MORTISE_MODE_EXCLUSIVE, 0},
                           mortise_lock_request{"a", 1, MORTISE_MODE_EXCLUSIVE, 0},
                           mortise_lock_request{"a", 1, MORTISE_MODE_SHARED, 0}};
    ASSERT_EQ(mortise_node_acquire_all_async(node_, names.data(), names.size(), 0, nullptr, tell,
                                             &all, count_end, nullptr),
              MORTISE_OK);
    EXPECT_TRUE(all.says(MORTISE_INVALID_ARGUMENT, "the list has the name in two modes"));
    EXPECT_STREQ(mortise_error_lock_name(all.error, nullptr), "a");
    EXPECT_EQ(message_of(std::exchange(all.error, nullptr)).find("a: the list has"), 0U);
    mortise_semaphore_free(semaphore);
    mortise_election_free(election);
}

// A node that cannot reach the others says which, as wait_ready() does.
TEST(CAsyncAlone, IsToldWhatIsMissing) {
    mortise_config* config = nullptr;
    mortise_node* node = nullptr;
    const testkit::TempDirectory directory{"mortise-capi"};
    const std::string toml = "node_id = 1\ndata_dir = \"" + directory.path().string() +
                             "/1\"\nlisten = \"127.0.0.1:0\"\n"
                             "[timing]\ncall_timeout = \"200ms\"\n"
                             "[[peer]]\nid = 1\naddress = \"127.0.0.1:1\"\n"
                             "[[peer]]\nid = 2\naddress = \"127.0.0.1:2\"\n";
    ASSERT_EQ(mortise_config_from_string(toml.data(), toml.size(), &config, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_config_set_log(config, MORTISE_LOG_OFF, nullptr, nullptr, nullptr, nullptr),
              MORTISE_OK);
    mortise_error* error = nullptr;
    ASSERT_EQ(mortise_node_open(config, &node, &error), MORTISE_OK) << message_of(error);
    Told told;
    ASSERT_EQ(mortise_node_acquire_async(node, "x", 1, INT64_MAX, nullptr, tell, &told, count_end,
                                         nullptr),
              MORTISE_OK);
    ASSERT_TRUE(told.ends_with(MORTISE_NO_QUORUM));
    const std::string reason = mortise_error_reason(told.error, nullptr);
    EXPECT_NE(reason.find("no connection with 2"), std::string::npos) << reason;
    mortise_node_free(node);
    mortise_config_free(config);
}

TEST_F(CAsync, AllOrAnyOfSeveralNames) {
    const std::array names{mortise_lock_request{"a", 1, MORTISE_MODE_EXCLUSIVE, 0},
                           mortise_lock_request{"b", 1, MORTISE_MODE_EXCLUSIVE, 0}};
    auto* const other = acquire("b");
    Told all, any;
    ASSERT_EQ(mortise_node_acquire_all_async(node_, names.data(), names.size(), INT64_MAX, nullptr,
                                             tell, &all, count_end, nullptr),
              MORTISE_OK);
    mortise_hold_free(other);
    ASSERT_TRUE(all.is_granted());
    EXPECT_EQ(mortise_hold_parts(all.hold), 2U);
    ASSERT_EQ(mortise_node_acquire_any_async(node_, names.data(), names.size(), INT64_MAX, nullptr,
                                             tell, &any, count_end, nullptr),
              MORTISE_OK);
    mortise_hold_unlock(all.hold);
    ASSERT_TRUE(any.is_granted());
    EXPECT_STREQ(mortise_hold_name(any.hold, nullptr), "a");
    EXPECT_TRUE(is_free("b"));
}

// --- waits that end without a hold

struct Waited {
    std::atomic<int> calls = 0;
    std::atomic<int> destroyed = 0;
    int code = -1;
    int has_passed = -1;
    std::string reason{};

    [[nodiscard]] bool ends_with(int wanted, int passed) {
        return comes_true([&] { return destroyed > 0; }) && calls == 1 && destroyed == 1 &&
               code == wanted && has_passed == passed;
    }
};

void tell_waited(void* context, int code, int has_passed, mortise_error* error) {
    auto& waited = *static_cast<Waited*>(context);
    waited.code = code;
    waited.has_passed = has_passed;
    waited.reason = mortise_error_reason(error, nullptr);
    EXPECT_EQ(mortise_error_code(error), code);
    mortise_error_free(error);
    ++waited.calls;
}

void count_end_of_wait(void* context) {
    ++static_cast<Waited*>(context)->destroyed;
}

class CAsyncWaits : public CAsyncCancelled {
protected:
    CAsyncWaits() {
        EXPECT_EQ(mortise_latch_new(node_, "ready", 5, 1, &latch_, nullptr), MORTISE_OK);
        EXPECT_EQ(mortise_barrier_new(node_, "step", 4, 2, &barrier_, nullptr), MORTISE_OK);
    }
    ~CAsyncWaits() override {
        mortise_latch_free(latch_);
        mortise_barrier_free(barrier_);
    }
    int wait(Waited& waited, std::int64_t wait_max_ns = INT64_MAX) {
        mortise_wait_options options = MORTISE_WAIT_OPTIONS_INIT;
        options.canceller = canceller_;
        return mortise_latch_wait_async(latch_, wait_max_ns, &options, tell_waited, &waited,
                                        count_end_of_wait, nullptr);
    }
    int count_down(Waited& waited, std::int64_t count = 1) {
        return mortise_latch_count_down_async(latch_, count, tell_waited, &waited,
                                              count_end_of_wait, nullptr);
    }
    int arrive(Waited& waited, std::int64_t wait_max_ns = INT64_MAX) {
        mortise_wait_options options = MORTISE_WAIT_OPTIONS_INIT;
        options.canceller = canceller_;
        return mortise_barrier_arrive_and_wait_async(barrier_, wait_max_ns, &options, tell_waited,
                                                     &waited, count_end_of_wait, nullptr);
    }

    mortise_latch* latch_ = nullptr;
    mortise_barrier* barrier_ = nullptr;
};

TEST_F(CAsyncWaits, ALatchIsPassedWhenAllIsCounted) {
    Waited waiting, looking, counting, again, after;
    ASSERT_EQ(wait(waiting), MORTISE_OK);
    ASSERT_EQ(wait(looking, 0), MORTISE_OK);
    EXPECT_TRUE(looking.ends_with(MORTISE_OK, 0));
    EXPECT_EQ(waiting.calls, 0);
    ASSERT_EQ(count_down(counting), MORTISE_OK);
    EXPECT_TRUE(counting.ends_with(MORTISE_OK, 1));
    EXPECT_TRUE(waiting.ends_with(MORTISE_OK, 1));
    ASSERT_EQ(count_down(again), MORTISE_OK);
    EXPECT_TRUE(again.ends_with(MORTISE_INVALID_ARGUMENT, 0));
    EXPECT_EQ(again.reason, "less than that remains to be counted");
    ASSERT_EQ(wait(after, 0), MORTISE_OK);
    EXPECT_TRUE(after.ends_with(MORTISE_OK, 1));
}

TEST_F(CAsyncWaits, PartiesMeetAtABarrier) {
    Waited first, second;
    ASSERT_EQ(arrive(first), MORTISE_OK);
    EXPECT_EQ(first.calls, 0);
    ASSERT_EQ(arrive(second), MORTISE_OK);
    EXPECT_TRUE(first.ends_with(MORTISE_OK, 1));
    EXPECT_TRUE(second.ends_with(MORTISE_OK, 1));
}

TEST_F(CAsyncWaits, APartyWhoseTimeEndsBreaksTheBarrier) {
    Waited none, late, after;
    ASSERT_EQ(arrive(none, 0), MORTISE_OK);
    EXPECT_TRUE(none.ends_with(MORTISE_INVALID_ARGUMENT, 0));
    EXPECT_EQ(none.reason, "a party that arrives waits for a time above zero");
    ASSERT_EQ(arrive(late, 5 * ms), MORTISE_OK);
    EXPECT_TRUE(late.ends_with(MORTISE_OK, 0));
    ASSERT_EQ(arrive(after), MORTISE_OK);
    EXPECT_TRUE(after.ends_with(MORTISE_SESSION_EXPIRED, 0));
    EXPECT_NE(after.reason.find("the barrier is broken"), std::string::npos) << after.reason;
}

TEST_F(CAsyncWaits, AreCancelledAndEndWithTheNode) {
    Waited cancelled, late;
    ASSERT_EQ(wait(cancelled), MORTISE_OK);
    mortise_canceller_cancel(canceller_);
    EXPECT_TRUE(cancelled.ends_with(MORTISE_CANCELLED, 0));
    mortise_node_close(node_);
    ASSERT_EQ(count_down(late), MORTISE_OK);
    EXPECT_TRUE(late.ends_with(MORTISE_NODE_STOPPED, 0));
}

TEST_F(CAsyncWaits, AreNotToldIfTheFunctionFails) {
    Waited waited;
    EXPECT_EQ(wait(waited, -1), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(arrive(waited, -1), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_latch_count_down_async(nullptr, 1, tell_waited, &waited, count_end_of_wait,
                                             nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(
        mortise_latch_count_down_async(latch_, 1, nullptr, &waited, count_end_of_wait, nullptr),
        MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(waited.destroyed, 4);
    EXPECT_EQ(waited.calls, 0);
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
