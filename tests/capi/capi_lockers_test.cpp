// Lockers, holders that hear of others, and upgrades that no thread waits for, through mortise.h.
#include <atomic>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/capi/one_c_node.hpp"

namespace mortise::capi {
namespace {

// What the callback of a contended hold was told last.
struct Contention {
    std::mutex mutex;
    int calls = 0;
    mortise_mode mode = -1;
    std::size_t waiters = 0;
    std::string reason;
    std::atomic<int> destroyed = 0;

    template <class Condition>
    bool comes(const Condition& condition) {
        return comes_true([&] {
            const std::scoped_lock lock{mutex};
            return condition();
        });
    }
};

void hear(void* context, mortise_mode mode, std::size_t waiters, const char* reason,
          std::size_t reason_length) {
    auto& heard = *static_cast<Contention*>(context);
    const std::scoped_lock lock{heard.mutex};
    ++heard.calls;
    heard.mode = mode;
    heard.waiters = waiters;
    heard.reason = {reason, reason_length};
}

void count_forgotten(void* context) {
    ++static_cast<Contention*>(context)->destroyed;
}

class CContended : public OneCNode {
protected:
    CContended() {
        EXPECT_EQ(mortise_contended_new(hear, &heard_, count_forgotten, &contended_, nullptr),
                  MORTISE_OK);
    }
    mortise_hold* acquire_listening(std::string_view name) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.contended = contended_;
        return acquire(name, &options);
    }
    Contention heard_;
    mortise_contended* contended_ = nullptr;
};

TEST_F(CContended, HearOfThoseWhoWait) {  // S24
    auto* const hold = acquire_listening("a");
    auto other = std::async(std::launch::async, [&] {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.mode = MORTISE_MODE_SHARED;
        return acquire("a", &options);
    });
    EXPECT_TRUE(heard_.comes([&] { return heard_.calls > 0; }));
    EXPECT_EQ(heard_.mode, MORTISE_MODE_SHARED);
    EXPECT_EQ(heard_.waiters, 1U);
    EXPECT_EQ(heard_.reason, "");
    mortise_hold_free(hold);
    mortise_hold_free(other.get());
    mortise_contended_free(contended_);
}

TEST_F(CContended, HearOfThoseWhoAsk) {  // S24
    auto* const hold = acquire_listening("a");
    ASSERT_EQ(mortise_node_request_release(node_, "a", 1, "please", 6, nullptr), MORTISE_OK);
    EXPECT_TRUE(heard_.comes([&] { return heard_.reason == "please"; }));
    EXPECT_EQ(heard_.mode, MORTISE_MODE_EXCLUSIVE);
    mortise_hold_free(hold);
    mortise_contended_free(contended_);
}

// The object serves any number of holds, and lives as long as one of them.
TEST_F(CContended, GoOnWhenTheObjectIsFreed) {
    auto* const a = acquire_listening("a");
    auto* const b = acquire_listening("b");
    mortise_contended_free(contended_);
    mortise_hold_free(a);
    ASSERT_EQ(mortise_node_request_release(node_, "b", 1, "please", 6, nullptr), MORTISE_OK);
    EXPECT_TRUE(heard_.comes([&] { return heard_.reason == "please"; }));
    EXPECT_EQ(heard_.destroyed, 0);
    mortise_hold_free(b);
    EXPECT_TRUE(comes_true([&] { return heard_.destroyed == 1; }));
}

TEST_F(CContended, AreRefusedWithoutAFunction) {
    mortise_contended* object = contended_;
    EXPECT_EQ(mortise_contended_new(nullptr, &heard_, count_forgotten, &object, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(object, nullptr);
    EXPECT_EQ(heard_.destroyed, 1);
    EXPECT_EQ(mortise_contended_new(hear, &heard_, count_forgotten, nullptr, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(heard_.destroyed, 2);
    mortise_contended_free(nullptr);
    mortise_contended_free(contended_);
    EXPECT_EQ(heard_.destroyed, 3);
}

// A program that was compiled before the options grew.
TEST_F(CContended, AreNoPartOfTheFirstOptions) {
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.contended = contended_;
    options.size = 88;
    auto* const hold = acquire("a", &options);
    mortise_contended_free(contended_);
    EXPECT_EQ(heard_.destroyed, 1);
    mortise_hold_free(hold);
}

class CLockers : public OneCNode {
protected:
    mortise_locker* locker(std::string_view label = {}) {
        mortise_locker* made = nullptr;
        EXPECT_EQ(mortise_locker_new(node_, label.data(), label.size(), &made, nullptr),
                  MORTISE_OK);
        return made;
    }
    int acquire_with(const mortise_locker* owner, std::string_view name, mortise_hold** hold,
                     mortise_mode mode = MORTISE_MODE_EXCLUSIVE) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.locker = owner;
        options.mode = mode;
        return mortise_node_acquire_for(node_, name.data(), name.size(), patience, &options, hold,
                                        nullptr);
    }
};

TEST_F(CLockers, AcquireANameAgain) {  // S22
    auto* const owner = locker();
    mortise_hold* first = nullptr;
    mortise_hold* second = nullptr;
    ASSERT_EQ(acquire_with(owner, "a", &first), MORTISE_OK);
    ASSERT_EQ(acquire_with(owner, "a", &second), MORTISE_OK);
    EXPECT_EQ(mortise_hold_token(first), mortise_hold_token(second));
    EXPECT_EQ(mortise_locker_hold_count(owner), 2U);
    mortise_hold_free(first);
    EXPECT_EQ(mortise_hold_valid(second), 1);
    mortise_hold* other = nullptr;
    EXPECT_EQ(try_acquire("a", &other), MORTISE_OK);
    EXPECT_EQ(other, nullptr);
    mortise_hold_free(second);
    EXPECT_EQ(mortise_locker_hold_count(owner), 0U);
    mortise_locker_free(owner);
}

TEST_F(CLockers, ReleaseAllTheirHolds) {
    auto* const owner = locker();
    mortise_hold* a = nullptr;
    mortise_hold* b = nullptr;
    ASSERT_EQ(acquire_with(owner, "a", &a), MORTISE_OK);
    ASSERT_EQ(acquire_with(owner, "b", &b), MORTISE_OK);
    EXPECT_EQ(mortise_locker_release_all(owner, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_locker_hold_count(owner), 0U);
    EXPECT_EQ(mortise_hold_state(a), MORTISE_HOLD_RELEASED);
    EXPECT_EQ(mortise_hold_release(b, nullptr), MORTISE_NOT_HELD);
    mortise_hold* other = nullptr;
    EXPECT_EQ(try_acquire("a", &other), MORTISE_OK);
    EXPECT_NE(other, nullptr);
    for (auto* const hold : {a, b, other})
        mortise_hold_free(hold);
    mortise_locker_free(owner);
}

// The request that closes the wait cycle is refused. Its locker then releases what the other waits
// for.
TEST_F(CLockers, ThatWaitForEachOtherAreADeadlock) {  // S33
    auto* const one = locker("one");
    auto* const two = locker("two");
    mortise_hold* a = nullptr;
    mortise_hold* b = nullptr;
    ASSERT_EQ(acquire_with(one, "a", &a), MORTISE_OK);
    ASSERT_EQ(acquire_with(two, "b", &b), MORTISE_OK);
    const auto wants = [&](const mortise_locker* owner, const char* name, mortise_hold* has) {
        mortise_hold* wanted = nullptr;
        const int code = acquire_with(owner, name, &wanted);
        mortise_hold_free(wanted);
        mortise_hold_free(has);
        return code;
    };
    auto other = std::async(std::launch::async, [&] { return wants(one, "b", a); });
    const int code = wants(two, "a", b);
    EXPECT_EQ(code + other.get(), MORTISE_DEADLOCK) << "one of them is granted, with code 0";
    mortise_locker_free(one);
    mortise_locker_free(two);
}

TEST_F(CLockers, RefuseWhatMakesNoSense) {
    mortise_locker* made = nullptr;
    const std::string long_label(257, 'x');
    EXPECT_EQ(mortise_locker_new(nullptr, "", 0, &made, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_locker_new(node_, "", 0, nullptr, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_locker_new(node_, long_label.data(), long_label.size(), &made, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(mortise_locker_release_all(nullptr, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_locker_hold_count(nullptr), 0U);
    mortise_locker_free(nullptr);
}

// --- upgrades without a thread

struct UpgradeEnd {
    std::atomic<int> destroyed = 0;
    int calls = 0;
    int code = -1;
    int has_passed = -1;
    std::string reason;
};

void upgrade_ended(void* context, int code, int has_passed, mortise_error* error) {
    auto& end = *static_cast<UpgradeEnd*>(context);
    ++end.calls;
    end.code = code;
    end.has_passed = has_passed;
    end.reason = mortise_error_reason(error, nullptr);
    mortise_error_free(error);
}

void upgrade_forgotten(void* context) {
    ++static_cast<UpgradeEnd*>(context)->destroyed;
}

class CUpgrades : public OneCNode {
protected:
    mortise_hold* acquire_in(mortise_mode mode) {
        mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
        options.mode = mode;
        options.caching = MORTISE_CACHING_OFF;
        return acquire("x", &options);
    }
    int begin(mortise_hold* hold, std::int64_t wait_max_ns,
              const mortise_canceller* canceller = nullptr) {
        mortise_wait_options options = MORTISE_WAIT_OPTIONS_INIT;
        options.canceller = canceller;
        return mortise_hold_upgrade_async(hold, wait_max_ns, &options, upgrade_ended, &end_,
                                          upgrade_forgotten, nullptr);
    }
    bool ends_with(int code, int has_passed) {
        return comes_true([&] { return end_.destroyed == 1; }) && end_.calls == 1 &&
               end_.code == code && end_.has_passed == has_passed;
    }
    UpgradeEnd end_;
};

TEST_F(CUpgrades, PassWhenTheReadersHaveLeft) {  // S27
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    const auto token = mortise_hold_token(hold);
    ASSERT_EQ(begin(hold, INT64_MAX), MORTISE_OK);
    // Its mode is not known for certain until the upgrade has ended.
    mortise_error* error = nullptr;
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_SHARED, &error), MORTISE_INVALID_ARGUMENT);
    EXPECT_NE(std::string{mortise_error_message(error, nullptr)}.find("is being upgraded"),
              std::string::npos);
    mortise_error_free(error);
    int has_passed = 0;
    EXPECT_EQ(mortise_hold_upgrade_for(hold, 0, nullptr, &has_passed, nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(end_.destroyed, 0);
    mortise_hold_free(reader);
    EXPECT_TRUE(ends_with(MORTISE_OK, 1));
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_EXCLUSIVE);
    EXPECT_GT(mortise_hold_token(hold), token);
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_SHARED, nullptr), MORTISE_OK);
    mortise_hold_free(hold);
}

// Otherwise the call would wait for the other one.
TEST_F(CUpgrades, AreRefusedWhileAThreadUpgrades) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    int has_passed = 0;
    auto other = std::async(std::launch::async, [&] {
        return mortise_hold_upgrade_for(hold, patience, nullptr, &has_passed, nullptr);
    });
    EXPECT_TRUE(comes_true([&] {
        char* json = nullptr;
        std::size_t length = 0;
        EXPECT_EQ(mortise_node_inspect(node_, "x", 1, MORTISE_READ_LOCAL, &json, &length, nullptr),
                  MORTISE_OK);
        const bool waits = std::string{json}.find("\"upgrades\":true") != std::string::npos;
        mortise_bytes_free(json);
        return waits;
    }));
    EXPECT_EQ(begin(hold, 0), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(end_.destroyed, 1);
    EXPECT_EQ(end_.calls, 0);
    mortise_hold_free(reader);
    EXPECT_EQ(other.get(), MORTISE_OK);
    EXPECT_EQ(has_passed, 1);
    mortise_hold_free(hold);
}

TEST_F(CUpgrades, EndWithTheirTime) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    ASSERT_EQ(begin(hold, 5 * ms), MORTISE_OK);
    EXPECT_TRUE(ends_with(MORTISE_OK, 0));
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_UPDATE);
    mortise_hold_free(acquire_in(MORTISE_MODE_SHARED));  // nothing keeps readers out any more
    mortise_hold_free(reader);
    mortise_hold_free(hold);
}

TEST_F(CUpgrades, AreOneAttemptWithoutTime) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    ASSERT_EQ(begin(hold, 0), MORTISE_OK);
    EXPECT_TRUE(ends_with(MORTISE_OK, 0));
    mortise_hold_free(reader);
    mortise_hold_free(hold);
}

TEST_F(CUpgrades, AreCancelled) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    mortise_canceller* canceller = nullptr;
    ASSERT_EQ(mortise_canceller_new(&canceller, nullptr), MORTISE_OK);
    ASSERT_EQ(begin(hold, INT64_MAX, canceller), MORTISE_OK);
    mortise_canceller_cancel(canceller);
    EXPECT_TRUE(ends_with(MORTISE_CANCELLED, 0));
    EXPECT_EQ(mortise_hold_mode(hold), MORTISE_MODE_UPDATE);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    mortise_hold_free(reader);
    mortise_hold_free(hold);
    mortise_canceller_free(canceller);
}

TEST_F(CUpgrades, EndWithTheirHold) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    ASSERT_EQ(begin(hold, INT64_MAX), MORTISE_OK);
    mortise_hold_free(hold);
    EXPECT_TRUE(ends_with(MORTISE_CANCELLED, 0));
    mortise_hold_free(reader);
}

TEST_F(CUpgrades, EndWithTheirNode) {
    auto* const hold = acquire_in(MORTISE_MODE_UPDATE);
    auto* const reader = acquire_in(MORTISE_MODE_SHARED);
    ASSERT_EQ(begin(hold, INT64_MAX), MORTISE_OK);
    mortise_node_close(node_);
    EXPECT_TRUE(ends_with(MORTISE_NODE_STOPPED, 0));
    mortise_hold_free(reader);
    mortise_hold_free(hold);
}

TEST_F(CUpgrades, SayWhyTheyAreRefused) {
    auto* const hold = acquire_in(MORTISE_MODE_EXCLUSIVE);
    ASSERT_EQ(begin(hold, INT64_MAX), MORTISE_OK);
    EXPECT_TRUE(ends_with(MORTISE_INVALID_ARGUMENT, 0));
    EXPECT_EQ(end_.reason, "only a shared or an update hold can be upgraded");
    EXPECT_EQ(mortise_hold_downgrade(hold, MORTISE_MODE_SHARED, nullptr), MORTISE_OK);
    mortise_hold_free(hold);
}

TEST_F(CUpgrades, AreNotBegunWithoutAHold) {
    EXPECT_EQ(begin(nullptr, 0), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(end_.destroyed, 1);
    EXPECT_EQ(end_.calls, 0);
}

}  // namespace
}  // namespace mortise::capi
