// Cached grants that threads take again and again, while others recall them and end their leases.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "embed/holds/grant_cache.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

// One grant after the other, each with greater tokens, as the cluster gives them to one node.
class GrantCacheStress : public ::testing::Test {
protected:
    ~GrantCacheStress() override {
        std::ignore = gate_->close();
        cache_->close();
    }

    // Its first use is over.
    void grant() {
        ++grants_;
        lease_ =
            std::make_shared<Lease>(core::SessionId{7}, boot_now() + 100s, core::Nanoseconds{0});
        const core::FencingToken token{grants_ * tokens};
        core::Acquired acquired;
        acquired.hold = present();
        acquired.parts.push_back({"x", core::LockMode::exclusive, token, {}});
        acquired.cached_tokens = tokens;
        auto record = std::make_shared<HoldRecord>(std::move(acquired), lease_, gate_);
        auto hold = cache_->granted(HoldRecord::hold_on(std::move(record)), tokens, {});
        use(hold);
    }
    [[nodiscard]] core::OperationId present() const {
        return {core::SessionId{7}, core::Seq{grants_}};
    }
    void use(const Hold& hold) {
        EXPECT_EQ(users_.fetch_add(1), 0);
        EXPECT_GT(hold.token(), newest_);
        newest_ = hold.token();  // of the only user
        users_.fetch_sub(1);
        ++uses_;
    }
    // These two use the lock as a program with a name does, and as one with a mutex.
    void use_by_name() {
        AcquireOrder order;
        order.name = "x";
        auto hold = cache_->take_again("x", {});
        if (!hold) hold = cache_->take(order);
        if (hold) use(hold);
    }
    void use_by_mutex(Hold& mutex) {
        const bool is_mine = HoldRecord::of(mutex) && HoldRecord::of(mutex)->as_use() != nullptr;
        if (!is_mine || !cache_->take_again(*HoldRecord::of(mutex))) {
            AcquireOrder order;
            order.name = "x";
            mutex = cache_->take(order);
        }
        if (!mutex) return;
        use(mutex);
        mutex.unlock();
    }
    template <class Turn>
    std::jthread program(std::size_t number, Turn turn) {
        return std::jthread{[this, number, turn](const std::stop_token& stop) mutable {
            for (; !stop.stop_requested(); ++turns_[number])
                turn();
        }};
    }
    // Waits until every program has finished the turn that it is in.
    void wait_for_turns() {
        for (auto& turns : turns_) {
            const auto before = turns.load();
            while (turns < before + 2)
                std::this_thread::yield();
        }
    }
    // Waits until the node has given the grant back.
    void wait_for_release() {
        for (;;) {
            for (const auto& one : gate_->take()) {
                if (one.is<core::ReleaseCall>()) return;
            }
            std::this_thread::yield();
        }
    }

    static constexpr std::uint32_t tokens = 1'000'000;

    const std::shared_ptr<CallGate> gate_ =
        std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"), 3);
    const std::shared_ptr<GrantCache> cache_ = std::make_shared<GrantCache>(gate_);
    std::shared_ptr<Lease> lease_;
    std::uint64_t grants_ = 0;
    std::atomic<int> users_ = 0;
    FencingToken newest_;
    std::atomic<std::uint64_t> uses_ = 0;
    std::array<std::atomic<std::uint64_t>, 3> turns_{};
};

TEST_F(GrantCacheStress, UsersARecallAndTheEndOfALease) {  // P1, P2, S40, S42
    Hold mutex;                                            // of the third program
    std::vector<std::jthread> programs;
    programs.push_back(program(0, [this] { use_by_name(); }));
    programs.push_back(program(1, [this] { use_by_name(); }));
    programs.push_back(program(2, [&] { use_by_mutex(mutex); }));
    for (int turn = 0; turn < 60; ++turn) {
        grant();
        std::this_thread::sleep_for(1ms);
        if (turn % 3 == 2) {  // nobody else gets the lock before a user has seen that
            lease_->end();
            wait_for_turns();
            std::ignore = cache_->lost(present());
        } else {
            if (turn % 3 == 1) cache_->look(steady_now() + 300ms);
            cache_->recalled(present());
            wait_for_release();
        }
    }
    programs.clear();
    EXPECT_GT(cache_->served(), 60U);
    EXPECT_EQ(cache_->served() + grants_, uses_);
}

}  // namespace
}  // namespace mortise::detail
