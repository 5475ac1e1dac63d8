// Conversions of holds without a core: the effect of late answers.
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "embed/holds/locker_state.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

class HoldConvert : public testing::Test {
protected:
    // A hold in update mode.
    Hold granted() {
        core::Acquired granted;
        granted.parts.push_back({"name", core::LockMode::update, {}, {}});
        grant_ = std::make_shared<HoldRecord>(std::move(granted), lease_, gate_);
        return HoldRecord::hold_on(grant_);
    }
    Hold granted_to_locker() {
        EXPECT_TRUE(locker_->begin("name", LockMode::update).asks());
        return locker_->ended("name", granted());
    }
    // The next submitted call. On a busy machine several calls come at once.
    std::shared_ptr<Submitted> taken() {
        while (taken_.empty())
            taken_ = gate_->take();
        return taken_.pop_front();
    }
    // The caller of the upgrade got no answer in time.
    std::shared_ptr<Submitted> upgrade_given_up(Hold& hold) {
        std::error_code ec;
        std::thread asks{[&] { hold.upgrade(std::chrono::steady_clock::now() + 1ms, ec); }};
        auto call = taken();
        asks.join();
        EXPECT_EQ(ec, Errc::no_quorum);
        return call;
    }
    // As the core thread does.
    void is_upgraded(const std::shared_ptr<Submitted>& call) {
        grant_->upgraded(token_);
        call->answer({});
    }
    // Empty if no downgrade was submitted.
    std::optional<core::LockMode> downgraded_to() {
        const auto calls = gate_->take();
        if (calls.empty()) return std::nullopt;
        return calls.front().get<core::DowngradeCall>().mode;
    }

    const FencingToken token_ = FencingToken::from_raw(7);
    std::shared_ptr<Lease> lease_ =
        std::make_shared<Lease>(core::SessionId{1}, core::Instant::never(), 1s);
    std::shared_ptr<CallGate> gate_ =
        std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"));
    std::shared_ptr<LockerState> locker_ = std::make_shared<LockerState>(gate_, "");
    std::shared_ptr<HoldRecord> grant_;
    SubmittedCalls taken_;  // and not examined yet
};

TEST_F(HoldConvert, AnUpgradeThatComesAfterItsCallerGaveUpIsUndone) {  // S27, P6
    for (const bool by_locker : {false, true}) {
        auto hold = by_locker ? granted_to_locker() : granted();
        is_upgraded(upgrade_given_up(hold));
        EXPECT_EQ(hold.mode(), LockMode::update);
        EXPECT_EQ(grant_->mode(), LockMode::update);
        EXPECT_EQ(hold.token(), token_);
        EXPECT_EQ(downgraded_to(), core::LockMode::update);
        hold.unlock();
        std::ignore = gate_->take();
    }
}

// The owner's downgrade may be submitted first: the other one is then not a downgrade for the
// cluster.
TEST_F(HoldConvert, ALateUpgradeLeavesADowngradeOfItsOwner) {  // S27
    auto hold = granted();
    const auto upgrade = upgrade_given_up(hold);
    std::thread owner{[&] { hold.downgrade(LockMode::shared); }};
    taken()->answer({});
    owner.join();
    is_upgraded(upgrade);
    EXPECT_EQ(hold.mode(), LockMode::shared);
    EXPECT_EQ(downgraded_to(), core::LockMode::update);
}

// An exclusive hold cannot be upgraded.
TEST_F(HoldConvert, ALateUpgradeIsUndoneBeforeItIsTriedAgain) {  // S27, P6
    auto hold = granted();
    const auto upgrade = upgrade_given_up(hold);
    const core::UpgradeCall again{gate_->next_tag(), grant_->operation()};
    EXPECT_FALSE(gate_->submit(again, {}));
    is_upgraded(upgrade);
    const auto calls = gate_->take();
    ASSERT_EQ(calls.size(), 2U);
    const auto* undo = calls.front().get_if<core::DowngradeCall>();
    ASSERT_NE(undo, nullptr);
    EXPECT_TRUE(undo->undoes);
    EXPECT_TRUE(std::next(calls.begin())->is<core::UpgradeCall>());
}

TEST_F(HoldConvert, NothingIsUndoneOfAnUpgradeThatCameToNothing) {
    auto hold = granted();
    upgrade_given_up(hold)->answer({Errc::timed_out, {}, {}});
    EXPECT_EQ(downgraded_to(), std::nullopt);
    CallOutcome busy;
    busy.is_busy = true;
    upgrade_given_up(hold)->answer(std::move(busy));
    EXPECT_EQ(downgraded_to(), std::nullopt);
}

// Suspended in the step that made it exclusive, it is exclusive when it is held again.
TEST_F(HoldConvert, AnUpgradeOfWhatIsSuspendedMeanwhileCounts) {  // S6, S27
    lease_ = Lease::make_lasting(core::SessionId{1}, boot_now() + 200ms, 0ns);
    auto hold = granted_to_locker();
    std::error_code ec;
    std::thread asks{[&] { hold.upgrade(ec); }};
    const auto call = taken();
    while (hold.valid()) {
    }
    is_upgraded(call);
    asks.join();
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(hold.state(), HoldState::suspended);
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
    EXPECT_EQ(grant_->mode(), LockMode::exclusive);
    EXPECT_EQ(downgraded_to(), std::nullopt);
}

}  // namespace
}  // namespace mortise::detail
