// What the child of a fork must not wait for: a lock that a thread of its parent had (S25). A
// thread uses the lock all the time, so at some of the forks it has it.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "embed/holds/hold_record.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/threads/call_gate.hpp"
#include "tests/support/child.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

class Forked : public testing::Test {
protected:
    ~Forked() override {
        enough_ = true;
        if (busy_.joinable()) busy_.join();
    }

    Hold granted() {
        core::Acquired granted;
        granted.parts.push_back({"name", core::LockMode::exclusive, core::FencingToken{1}, {}});
        return HoldRecord::hold_on(std::make_shared<HoldRecord>(std::move(granted), lease_, gate_));
    }
    void keep_busy(std::function<void()> body) {
        busy_ = std::thread{[this, body = std::move(body)] {
            while (!enough_)
                body();
        }};
    }
    // How many of many children did not find it true, or waited for ever.
    static int bad_children(const std::function<bool()>& check) {
        int bad = 0;
        for (int fork_number = 0; fork_number < 100 && bad == 0; ++fork_number) {
            if (tests::exit_of_child([&] { return check() ? 0 : 1; }) != 0) ++bad;
        }
        return bad;
    }

    std::shared_ptr<Lease> lease_ =
        std::make_shared<Lease>(core::SessionId{1}, core::Instant::never(), 1s);
    std::shared_ptr<CallGate> gate_ =
        std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"));

private:
    std::atomic<bool> enough_ = false;
    std::thread busy_;
};

TEST_F(Forked, AHoldWithCallbacksIsDestroyed) {
    auto hold = granted();
    HoldRecord::watch(HoldRecord::of(hold), {[](Duration) {}, {}, {}});
    keep_busy([this] {
        std::ignore = lease_->risk_watchers();
        std::ignore = lease_->listeners({});
    });
    EXPECT_EQ(bad_children([&] {
                  hold.unlock();
                  hold = {};
                  return true;
              }),
              0);
    EXPECT_TRUE(hold.valid());
}

TEST_F(Forked, ALockerAcquiresNothing) {
    const auto locker = std::make_shared<LockerState>(gate_, "");
    keep_busy([locker] { std::ignore = locker->hold_count(); });
    EXPECT_EQ(bad_children(
                  [&] { return locker->begin("name", LockMode::exclusive).error == Errc::forked; }),
              0);
    EXPECT_FALSE(locker->begin("name", LockMode::exclusive).error);
}

}  // namespace
}  // namespace mortise::detail
