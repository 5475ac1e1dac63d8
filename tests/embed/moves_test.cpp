// What a move leaves behind: an object that is moved to itself is as before, and one that was moved
// from refuses its calls before anything is sent.
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "tests/embed/one_node.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

class Moves : public OneNode {
protected:
    std::error_code ec_;
};

// std::swap() of an element with itself, and some algorithms, do that.
template <class T>
void move_to_itself(T& object) {
    auto& same = object;
    object = std::move(same);
}

TEST_F(Moves, ToItselfKeepsAHold) {
    auto hold = node_.acquire("x");
    move_to_itself(hold);
    EXPECT_TRUE(hold.valid());
    auto holds = node_.acquire_all({"a", "b"});
    move_to_itself(holds);
    EXPECT_TRUE(holds.valid());
    EXPECT_EQ(holds.size(), 2U);
    EXPECT_NE(holds.find("a"), nullptr);
}

TEST_F(Moves, ToItselfKeepsAName) {
    Semaphore pool{node_, "pool", 1};
    move_to_itself(pool);
    EXPECT_EQ(pool.name(), "pool");
    EXPECT_TRUE(pool.acquire().valid());
    Latch latch{node_, "latch", 1};
    move_to_itself(latch);
    EXPECT_EQ(latch.name(), "latch");
    latch.count_down();
    EXPECT_TRUE(latch.try_wait());
    Barrier barrier{node_, "barrier", 1};
    move_to_itself(barrier);
    EXPECT_EQ(barrier.name(), "barrier");
    barrier.arrive_and_wait();
    Election election{node_, "election"};
    move_to_itself(election);
    EXPECT_EQ(election.name(), "election");
    EXPECT_TRUE(election.campaign("").valid());
    RateLimiter calls{node_, "calls", 1, std::chrono::seconds{1}};
    move_to_itself(calls);
    EXPECT_TRUE(calls.try_acquire());
}

TEST_F(Moves, ToItselfKeepsTheRest) {
    move_to_itself(node_);
    EXPECT_TRUE(node_.acquire("x").valid());
    Locker locker{node_};
    move_to_itself(locker);
    EXPECT_TRUE(node_.acquire("y", {.locker = locker}).valid());
    auto events = node_.on_event([](const NodeEvent&) {});
    move_to_itself(events);
    EXPECT_TRUE(events);
}

TEST(MovesOfAGate, ToItselfKeepsIt) {
    const testkit::TempDirectory directory{"mortise-moves"};
    auto gate = FenceGate::open(directory.path() / "gate");
    move_to_itself(gate);
    EXPECT_TRUE(gate.check("x", FencingToken::from_raw(1)));
}

TEST_F(Moves, WhatWasMovedFromRefusesItsCalls) {
    Semaphore pool{node_, "pool", 1};
    Latch latch{node_, "latch", 1};
    Barrier barrier{node_, "barrier", 1};
    const auto new_pool = std::move(pool);
    const auto new_latch = std::move(latch);
    const auto new_barrier = std::move(barrier);
    const auto refused = [&] { return std::exchange(ec_, {}) == Errc::node_stopped; };
    // NOLINTBEGIN(bugprone-use-after-move,hicpp-invalid-access-moved): that is what it is about
    EXPECT_TRUE(!pool.acquire(ec_) && refused());
    EXPECT_TRUE((pool.resize(2, ec_), refused()));
    EXPECT_TRUE((latch.count_down(ec_), refused()));
    EXPECT_TRUE((latch.wait(ec_), refused()));
    EXPECT_TRUE((barrier.arrive_and_wait(ec_), refused()));
    EXPECT_TRUE((barrier.arrive_and_drop(ec_), refused()));
    // NOLINTEND(bugprone-use-after-move,hicpp-invalid-access-moved)
}

class Told final : public detail::Finish {
public:
    explicit Told(std::promise<std::error_code> told) : told_{std::move(told)} {}
    void operator()(std::error_code ec, Hold) override { told_.set_value(ec); }

private:
    std::promise<std::error_code> told_;
};

TEST_F(Moves, AWaitWithoutANameIsNotSent) {
    using Kind = detail::WaitOrder::Kind;
    for (const auto kind : {Kind::latch, Kind::count, Kind::barrier}) {
        const detail::WaitOrder order{kind, "", 1, 1};
        std::promise<std::error_code> told;
        auto answer = told.get_future();
        const auto cancel = detail::start_wait(detail::runtime_of(node_), order,
                                               std::make_unique<Told>(std::move(told)));
        EXPECT_EQ(answer.get(), Errc::invalid_argument);
    }
}

}  // namespace
}  // namespace mortise
