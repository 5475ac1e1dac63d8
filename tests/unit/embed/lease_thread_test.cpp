// The thread that ends holds when their lease has run out (S7).
#include "embed/holds/lease_thread.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <new>
#include <utility>

#include <gtest/gtest.h>

#include "embed/values/clocks.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Lease> lease_for(core::Nanoseconds time, core::Nanoseconds margin = 0ns) {
    return std::make_shared<Lease>(core::SessionId{1}, boot_now() + time, margin);
}

void is_not_told(const std::shared_ptr<Lease>&) {
    ADD_FAILURE();
}

TEST(LeaseThread, EndsALeaseWhenItHasRunOut) {  // P10
    std::promise<std::shared_ptr<Lease>> over;
    LeaseThread thread{is_not_told,
                       [&](std::shared_ptr<Lease> lease) { over.set_value(std::move(lease)); }};
    const auto lease = lease_for(20ms);
    thread.watch(lease);
    EXPECT_EQ(over.get_future().get(), lease);
    EXPECT_TRUE(lease->is_over());
}

TEST(LeaseThread, GoesOnWithoutMemory) {  // P10
    int told = 0;
    std::promise<void> again;
    LeaseThread thread{is_not_told, [&](const std::shared_ptr<Lease>&) {
                           if (++told == 1) throw std::bad_alloc{};
                           again.set_value();
                       }};
    const auto first = lease_for(1ms);
    thread.watch(first);
    while (!first->is_over())
        std::this_thread::yield();
    thread.watch(lease_for(1ms));
    again.get_future().wait();
}

TEST(LeaseThread, SaysEachTimeThatARenewalIsOverdue) {
    std::atomic<int> told{0};
    LeaseThread thread{[&](const std::shared_ptr<Lease>&) {
                           ++told;
                           told.notify_all();
                       },
                       is_not_told};
    const auto lease = lease_for(10min, 10min - 5ms);
    thread.watch(lease);
    told.wait(0);
    EXPECT_TRUE(lease->is_at_risk(boot_now()));
    thread.watch(lease);  // without an extension: this was reported
    lease->extend(lease->valid_until() + 20ms);
    thread.watch(lease);
    told.wait(1);
    EXPECT_EQ(told, 2);
    EXPECT_TRUE(lease->is_at_risk(boot_now()));
}

TEST(LeaseThread, EndsALeaseThatWasSaidToBeAtRisk) {
    std::atomic<bool> risky{false};
    std::promise<void> over;
    LeaseThread thread{[&](const std::shared_ptr<Lease>&) { risky = true; },
                       [&](const std::shared_ptr<Lease>&) { over.set_value(); }};
    thread.watch(lease_for(500ms, 495ms));
    over.get_future().wait();
    EXPECT_TRUE(risky);
}

}  // namespace
}  // namespace mortise::detail
