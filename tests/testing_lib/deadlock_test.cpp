// Wait cycles across the nodes of a cluster (S33).
#include <barrier>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <mortise/locker.hpp>
#include <mortise/mutex.hpp>
#include <mortise/recursive_mutex.hpp>
#include <mortise/shared_mutex.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise::testkit {
namespace {

using namespace std::chrono_literals;

// Two nodes that each hold one name and then request the other's.
class DeadlockAcrossNodes : public ::testing::Test {
protected:
    using Told = std::optional<ErrorDetail>;

    // What each of them got, if it was refused; the other one has both names in the end.
    template <class Owner>
    static std::pair<Told, Told> meet(Owner one, Owner other) {
        std::barrier both{2};
        const auto run = [&both](Owner& owner) -> Told {
            owner.take_first();
            both.arrive_and_wait();
            Told told;
            try {
                owner.take_second();
            } catch (const LockError& error) {
                EXPECT_EQ(error.code(), Errc::deadlock) << error.what();
                told = error.detail();
            }
            owner.give_back();
            return told;
        };
        auto first = std::async(std::launch::async, run, std::ref(one));
        auto second = std::async(std::launch::async, run, std::ref(other));
        return {first.get(), second.get()};
    }

    struct LockerOwner {
        Node& node;
        Locker locker;
        std::string first;
        std::string second;
        std::optional<Hold> holds[2]{};

        AcquireOptions options() const {
            AcquireOptions options;
            options.locker = locker;
            return options;
        }
        void take_first() { holds[0] = node.acquire(first, options()); }
        void take_second() { holds[1] = node.acquire_for(second, 1s, options()); }
        void give_back() {
            for (auto& hold : holds)
                hold.reset();
        }
    };

    template <class AnyMutex>
    struct MutexOwner {
        AnyMutex& first;
        AnyMutex& second;
        bool has_second = false;

        void take_first() { first.lock(); }
        void take_second() {
            second.lock();
            has_second = true;
        }
        void give_back() {
            if (has_second) second.unlock();
            first.unlock();
        }
    };

    std::pair<Told, Told> meet_as_lockers() {
        return meet(LockerOwner{cluster_.node(0), Locker{cluster_.node(0), "billing"}, "a", "b"},
                    LockerOwner{cluster_.node(1), Locker{cluster_.node(1), "shipping"}, "b", "a"});
    }

    // Lockers take part once every member is known to support that.
    std::pair<Told, Told> meet_until_refused() {
        const auto end = std::chrono::steady_clock::now() + 60s;
        for (;;) {
            auto told = meet_as_lockers();
            if (told.first || told.second) return told;
            if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"no deadlock"};
        }
    }

    LocalCluster cluster_{3, quick_timing()};
};

TEST_F(DeadlockAcrossNodes, OneLockerIsRefusedAndToldOfTheCycle) {  // S33
    const auto [one, other] = meet_until_refused();
    ASSERT_NE(one.has_value(), other.has_value());
    const auto& told = one ? *one : *other;
    using Wait = ErrorDetail::Wait;
    const Wait billing{"billing", "b"};
    const Wait shipping{"shipping", "a"};
    const auto cycle = one ? std::vector{billing, shipping} : std::vector{shipping, billing};
    EXPECT_EQ(told.cycle, cycle);
    EXPECT_EQ(told.name, one ? "b" : "a");
    ASSERT_EQ(told.holders.size(), 1U);
    EXPECT_EQ(told.holders.front().node, one ? 2U : 1U);
}

template <class AnyMutex>
class DeadlockOfMutexes : public DeadlockAcrossNodes {
protected:
    std::pair<Told, Told> meet_as_threads() {
        AnyMutex a_here{cluster_.node(0), "a"};
        AnyMutex b_here{cluster_.node(0), "b"};
        AnyMutex a_there{cluster_.node(1), "a"};
        AnyMutex b_there{cluster_.node(1), "b"};
        return meet(MutexOwner<AnyMutex>{a_here, b_here}, MutexOwner<AnyMutex>{b_there, a_there});
    }
};

using EveryMutex = ::testing::Types<Mutex, SharedMutex, RecursiveMutex>;
TYPED_TEST_SUITE(DeadlockOfMutexes, EveryMutex);

TYPED_TEST(DeadlockOfMutexes, OneOfTwoTakenInOppositeOrderIsRefused) {  // S22, S33, P9
    this->meet_until_refused();
    const auto [one, other] = this->meet_as_threads();
    ASSERT_NE(one.has_value(), other.has_value());
    const auto& told = one ? *one : *other;
    ASSERT_EQ(told.cycle.size(), 2U);
    EXPECT_EQ(told.cycle.front().waits_for, one ? "b" : "a");
    EXPECT_EQ(told.cycle.back().waits_for, one ? "a" : "b");
    EXPECT_TRUE(told.cycle.front().locker.starts_with(one ? "node 1, locker " : "node 2, locker "));
    EXPECT_TRUE(told.cycle.back().locker.starts_with(one ? "node 2, locker " : "node 1, locker "));
}

}  // namespace
}  // namespace mortise::testkit
