#include "embed/lease_thread.hpp"

#include <future>
#include <memory>
#include <new>

#include <gtest/gtest.h>

#include "embed/clocks.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Lease> lease_for(core::Nanoseconds time) {
    return std::make_shared<Lease>(core::SessionId{1}, boot_now() + time, 0ns);
}

TEST(LeaseThread, EndsALeaseWhenItHasRunOut) {
    std::promise<std::shared_ptr<Lease>> over;
    LeaseThread thread{[&](std::shared_ptr<Lease> lease) { over.set_value(std::move(lease)); }};
    const auto lease = lease_for(20ms);
    thread.watch(lease);
    EXPECT_EQ(over.get_future().get(), lease);
    EXPECT_TRUE(lease->is_over());
}

TEST(LeaseThread, GoesOnWithoutMemory) {
    int told = 0;
    std::promise<void> again;
    LeaseThread thread{[&](const std::shared_ptr<Lease>&) {
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

}  // namespace
}  // namespace mortise::detail
