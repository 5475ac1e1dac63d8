#include "embed/holds/grant_cache.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "embed/holds/hold_record.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

constexpr core::OperationId grant{core::SessionId{7}, core::Seq{1}};

class Answered final : public Completion {
public:
    void complete(CallOutcome outcome) noexcept override { outcome_.emplace(std::move(outcome)); }
    [[nodiscard]] bool is_complete() const { return outcome_.has_value(); }
    [[nodiscard]] std::error_code error() const { return outcome_->error; }
    [[nodiscard]] Hold take() { return std::move(outcome_->hold); }

private:
    std::optional<CallOutcome> outcome_;
};

class GrantCacheTest : public testing::Test {
protected:
    GrantCacheTest() {
        core::Acquired acquired;
        acquired.hold = grant;
        acquired.parts.push_back({"x", core::LockMode::exclusive, core::FencingToken{5}, {}});
        acquired.cached_tokens = 100;
        used_ = cache_->granted(
            HoldRecord::hold_on(std::make_shared<HoldRecord>(std::move(acquired), lease_, gate_)),
            100, {});
    }
    // As a node does when it stops: a grant in the cache refers to the cache.
    ~GrantCacheTest() override {
        std::ignore = gate_->close();
        cache_->close();
        used_ = Hold{};
        std::ignore = cache_->lost(grant);
    }

    std::shared_ptr<Answered> acquire(std::error_code expected = {}) {
        core::AcquireCall call{gate_->next_tag(), {}};
        call.request.names.push_back({"x", core::LockMode::exclusive});
        auto caller = std::make_shared<Answered>();
        tags_.push_back(call.tag);
        call.may_be_cached = true;
        auto submitted = prepared(std::move(call));
        submitted->answer_to(caller);
        EXPECT_EQ(cache_->submit(std::move(submitted)), expected);
        return caller;
    }
    void cancel(std::size_t caller) {
        EXPECT_FALSE(gate_->submit(core::CancelCall{tags_.at(caller)}, nullptr));
    }
    // What the core would do now, by kind: a for acquire, r for release, c for cancel.
    std::string submitted() {
        auto calls = gate_->take();
        cache_->pass(calls);
        std::string kinds;
        for (const auto& one : calls) {
            if (one.is<core::AcquireCall>()) kinds += 'a';
            if (one.is<core::ReleaseCall>()) kinds += 'r';
            if (one.is<core::CancelCall>()) kinds += 'c';
        }
        return kinds;
    }

    const std::shared_ptr<Lease> lease_ =
        std::make_shared<Lease>(core::SessionId{7}, boot_now() + 100s, core::Nanoseconds{0});
    const std::shared_ptr<CallGate> gate_ =
        std::make_shared<CallGate>([this] { ++wakes_; }, 1s, std::make_shared<Notifier>("test"), 3);
    const std::shared_ptr<GrantCache> cache_ = std::make_shared<GrantCache>(gate_);
    Hold used_;
    std::vector<core::CallTag> tags_;
    int wakes_ = 0;
};

TEST_F(GrantCacheTest, AReleaseHandsTheLockOn) {
    const auto first = acquire();
    const auto second = acquire();
    EXPECT_FALSE(first->is_complete());
    used_.unlock();
    ASSERT_TRUE(first->is_complete());
    EXPECT_FALSE(second->is_complete());
    auto hold = first->take();
    EXPECT_EQ(hold.token(), FencingToken::from_raw(6));
    hold.unlock();
    EXPECT_EQ(second->take().token(), FencingToken::from_raw(7));
    EXPECT_EQ(submitted(), "");
    EXPECT_EQ(cache_->served(), 2U);
}

TEST_F(GrantCacheTest, TheCoreThreadIsWokenOnceForItsTimer) {
    std::ignore = cache_->deadline();
    acquire();
    EXPECT_EQ(wakes_, 1);
    acquire();
    EXPECT_EQ(wakes_, 1);
}

TEST_F(GrantCacheTest, ACallerInTheLocalQueueIsSentToTheClusterWhenTheLeaseHasEnded) {  // S42
    const auto first = acquire();
    const auto second = acquire();
    lease_->end();
    used_.unlock();
    EXPECT_FALSE(first->is_complete());
    EXPECT_FALSE(second->is_complete());
    EXPECT_EQ(submitted(), "aa");
    EXPECT_EQ(cache_->served(), 0U);
}

TEST_F(GrantCacheTest, ACallerWhoseTimeInTheLocalQueueIsOverIsSentToTheCluster) {
    const auto caller = acquire();
    cache_->look(cache_->deadline());
    EXPECT_EQ(submitted(), "a");
    cancel(0);
    EXPECT_EQ(submitted(), "c");
    EXPECT_FALSE(caller->is_complete());  // the core ends it
}

TEST_F(GrantCacheTest, ACancellationDoesNotOvertakeTheAcquire) {  // P6
    const auto caller = acquire();
    cancel(0);
    cache_->look(cache_->deadline());  // the acquire is behind the cancellation now
    EXPECT_EQ(submitted(), "cac");
    EXPECT_FALSE(caller->is_complete());
}

TEST_F(GrantCacheTest, ACancelledCallerHasLeftTheLocalQueue) {
    const auto first = acquire();
    const auto second = acquire();
    cancel(0);
    EXPECT_EQ(submitted(), "c");
    ASSERT_TRUE(first->is_complete());
    EXPECT_EQ(first->error(), Errc::cancelled);
    EXPECT_EQ(cache_->cancelled(), 1U);
    used_.unlock();
    EXPECT_TRUE(second->take().valid());
}

TEST_F(GrantCacheTest, TheFirstOfTheLineAsksBehindTheReleaseOfARecalledGrant) {  // S40
    cache_->recalled(grant);
    const auto caller = acquire();
    lease_->end();  // so that it cannot be handed on
    used_.unlock();
    EXPECT_FALSE(caller->is_complete());
    EXPECT_EQ(submitted(), "ar");
}

TEST_F(GrantCacheTest, CallersThatTheGateRefusesAreToldSo) {  // P10
    std::vector<std::shared_ptr<Answered>> callers;
    for (int count = 0; count < 5; ++count)
        callers.push_back(acquire());
    lease_->end();
    used_.unlock();
    EXPECT_EQ(submitted(), "aaa");
    for (const auto& caller : callers)
        EXPECT_EQ(caller->is_complete(), caller == callers[3] || caller == callers[4]);
    EXPECT_EQ(callers[4]->error(), Errc::resource_exhausted);
}

TEST_F(GrantCacheTest, NothingIsTakenAfterTheLease) {  // S42
    used_.unlock();
    AcquireOrder order;
    order.name = "x";
    cache_->take(order).unlock();
    EXPECT_EQ(cache_->served(), 1U);
    lease_->end();
    EXPECT_FALSE(cache_->take(order));
    EXPECT_EQ(cache_->served(), 1U);
}

TEST_F(GrantCacheTest, TheRecordOfAReleasedUseIsUsedAgain) {  // P3
    used_.unlock();
    const auto record = HoldRecord::take(used_);
    const auto take = [&] {
        AcquireOrder order;
        order.name = "x";
        return cache_->take(order);
    };
    auto other = take();  // somebody still has the record of the first use
    EXPECT_NE(HoldRecord::of(other), record);
    EXPECT_EQ(other.token(), FencingToken::from_raw(6));
    const auto* const used = HoldRecord::of(other).get();
    other = {};
    auto again = take();
    EXPECT_EQ(HoldRecord::of(again).get(), used);
    EXPECT_EQ(again.token(), FencingToken::from_raw(7));
    EXPECT_EQ(again.previous().token, FencingToken::from_raw(6));
    EXPECT_TRUE(again.valid());
    const auto lost = again.lost();
    again = {};
    auto listened = take();  // the owner of the token is not notified of a later loss (S6)
    EXPECT_NE(HoldRecord::of(listened).get(), used);
}

// --- a grant that is lent to its last use

// By the owner of its record, or by name; and each time with another token.
class GrantCacheLent : public GrantCacheTest {
protected:
    GrantCacheLent() { used_.unlock(); }

    bool take() { return cache_->take_again(*HoldRecord::of(used_)); }
    Hold take_by_name(const AcquireOptions& options = {}) {
        return cache_->take_again("x", options);
    }
};

TEST_F(GrantCacheLent, ItsOwnerTakesItAgain) {  // S39
    for (int times = 1; times <= 3; ++times) {
        EXPECT_FALSE(used_);
        ASSERT_TRUE(take());
        EXPECT_FALSE(take());
        EXPECT_TRUE(used_.valid());
        EXPECT_EQ(used_.token(), FencingToken::from_raw(5 + times));
        EXPECT_EQ(used_.previous().token, FencingToken::from_raw(4 + times));  // S23
        EXPECT_EQ(used_.previous().how, Predecessor::clean);
        EXPECT_EQ(cache_->served(), static_cast<std::uint64_t>(times));
        used_.unlock();
    }
    EXPECT_EQ(submitted(), "");
}

TEST_F(GrantCacheLent, ItIsFoundByItsName) {  // S39
    EXPECT_FALSE(take_by_name());             // somebody still has the record of the use before
    used_ = {};
    auto hold = take_by_name();
    ASSERT_TRUE(hold);
    EXPECT_EQ(hold.token(), FencingToken::from_raw(6));
    EXPECT_FALSE(take_by_name());
    hold = {};
    EXPECT_EQ(take_by_name().token(), FencingToken::from_raw(7));
    EXPECT_FALSE(cache_->take_again("y", {}));
    EXPECT_EQ(cache_->served(), 2U);
}

// The node refuses calls then.
TEST_F(GrantCacheLent, ItIsNotTakenFromAClosedCache) {
    used_ = Hold{};
    ASSERT_TRUE(take_by_name());  // and released
    cache_->close();
    EXPECT_FALSE(take_by_name());
}

TEST_F(GrantCacheLent, ItIsForNoOtherUser) {  // S23
    used_ = {};
    EXPECT_FALSE(take_by_name({.label = "other"}));
    EXPECT_FALSE(take_by_name({.mode = LockMode::shared}));
    EXPECT_FALSE(take_by_name({.max_hold = 1s}));
    EXPECT_FALSE(take_by_name({.priority = 1}));
    EXPECT_FALSE(take_by_name({.caching = Caching::off}));
    EXPECT_FALSE(take_by_name({.on_at_risk = [](Duration) {}}));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(take_by_name({.cancel = stop.get_token()}));
    EXPECT_EQ(cache_->served(), 0U);
    EXPECT_TRUE(take_by_name());
    EXPECT_EQ(cache_->served(), 1U);
}

TEST_F(GrantCacheLent, ItIsNotTakenAfterTheLease) {  // S42
    lease_->end();
    EXPECT_FALSE(take());
    EXPECT_FALSE(used_);
    used_ = {};
    EXPECT_FALSE(take_by_name());
    EXPECT_EQ(cache_->served(), 0U);
}

TEST_F(GrantCacheLent, ARecallOfAnUnusedOneIsAnsweredAtOnce) {  // S40
    ASSERT_TRUE(take());
    used_.unlock();
    cache_->recalled(grant);
    EXPECT_EQ(submitted(), "r");
    EXPECT_FALSE(take());
    used_ = {};
    EXPECT_FALSE(take_by_name());
    EXPECT_EQ(cache_->served(), 1U);
}

TEST_F(GrantCacheLent, ARecallIsAnsweredByTheUser) {  // S40
    ASSERT_TRUE(take());
    cache_->recalled(grant);
    EXPECT_EQ(submitted(), "");
    EXPECT_TRUE(used_.valid());
    used_.unlock();
    EXPECT_EQ(submitted(), "r");
    EXPECT_FALSE(take());
}

TEST_F(GrantCacheLent, ItIsHandedOverToACallerThatWaits) {  // S41
    ASSERT_TRUE(take());
    const auto caller = acquire();
    EXPECT_FALSE(caller->is_complete());
    used_.unlock();
    ASSERT_TRUE(caller->is_complete());
    EXPECT_EQ(caller->take().token(), FencingToken::from_raw(7));
    EXPECT_FALSE(take());  // it is lent to the newer use
    EXPECT_EQ(cache_->served(), 2U);
}

TEST_F(GrantCacheLent, ItsLossConcernsItsUser) {  // S6
    ASSERT_TRUE(take());
    const auto lost = cache_->lost(grant);
    EXPECT_FALSE(lost.was_unused);
    EXPECT_EQ(lost.token, core::FencingToken{6});
    used_.unlock();
    EXPECT_FALSE(take());
}

TEST_F(GrantCacheLent, ItsLossConcernsNobodyWhileItIsUnused) {
    ASSERT_TRUE(take());
    used_.unlock();
    EXPECT_TRUE(cache_->lost(grant).was_unused);
    EXPECT_FALSE(take());
}

TEST_F(GrantCacheLent, AUseToWhoseLossSomebodyListensIsNotTakenAgain) {  // S6
    ASSERT_TRUE(take());
    const auto lost = used_.lost();
    used_.unlock();
    EXPECT_FALSE(take());
    EXPECT_FALSE(lost.stop_requested());
}

TEST_F(GrantCacheLent, ItGoesBackWithItsLastToken) {  // S39
    for (int times = 1; times < 99; ++times) {
        ASSERT_TRUE(take());
        used_.unlock();
    }
    EXPECT_EQ(submitted(), "");
    ASSERT_TRUE(take());
    EXPECT_EQ(used_.token(), FencingToken::from_raw(104));
    used_.unlock();
    EXPECT_EQ(submitted(), "r");
    EXPECT_FALSE(take());
    EXPECT_EQ(cache_->served(), 99U);
}

TEST_F(GrantCacheLent, ItGoesBackWhenNobodyHasUsedItSinceTheLastLook) {  // S43
    ASSERT_TRUE(take());
    used_.unlock();
    cache_->look(cache_->deadline());
    EXPECT_EQ(submitted(), "");
    EXPECT_FALSE(take());  // its next use is for the cache to begin
    cache_->look(cache_->deadline());
    EXPECT_EQ(submitted(), "r");
}

TEST_F(GrantCacheLent, AUserThatIsFoundByALookReleasesItToTheCache) {  // S43
    ASSERT_TRUE(take());
    cache_->look(cache_->deadline());
    EXPECT_EQ(cache_->deadline(), core::Instant::never());
    used_.unlock();
    EXPECT_EQ(submitted(), "");
    EXPECT_TRUE(take());
}

TEST_F(GrantCacheTest, TheEndOfTheNodeAnswersTheLocalQueue) {  // P6
    const auto caller = acquire();
    EXPECT_TRUE(gate_->close().empty());
    cache_->close();
    ASSERT_TRUE(caller->is_complete());
    EXPECT_EQ(caller->error(), Errc::node_stopped);
    acquire(Errc::node_stopped);
}

TEST_F(GrantCacheTest, AClosedGateRefusesAllOfALongLocalQueue) {  // P6
    std::vector<std::shared_ptr<Answered>> callers;
    for (int count = 0; count < 4'000; ++count)
        callers.push_back(acquire());
    EXPECT_TRUE(gate_->close().empty());
    lease_->end();
    used_.unlock();
    for (const auto& caller : callers) {
        ASSERT_TRUE(caller->is_complete());
        EXPECT_EQ(caller->error(), Errc::node_stopped);
    }
}

}  // namespace
}  // namespace mortise::detail
