// Programs that run out of memory at any moment: no hold is left without an owner, no thread waits
// for ever, and no program ends.
#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include "core/base/paged_set.hpp"
#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

namespace {

// Which of the next allocations fails, on one thread or on all threads except the test's. Zero: the
// next one; negative: none.
class Memory {
public:
    void fail_at(int n, bool from_then_on) {
        from_then_on_ = from_then_on;
        has_failed_ = false;
        left_ = n;
    }
    // True if an allocation has failed.
    bool come_back() {
        left_ = -1;
        return has_failed_;
    }
    bool is_short() {
        if (left_ < 0) return false;
        if (left_ > 0 && left_-- > 0) return false;
        has_failed_ = true;
        if (!from_then_on_) left_ = -1;
        return true;
    }

private:
    std::atomic<int> left_ = -1;
    std::atomic<bool> from_then_on_ = false;
    std::atomic<bool> has_failed_ = false;
};

thread_local constinit Memory* mine = nullptr;  // of a thread of the test
Memory others;

}  // namespace

// Not inlined, because g++ would report a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    const bool is_short = mine != nullptr ? mine->is_short() : others.is_short();
    void* const place = is_short ? nullptr : std::malloc(size);
    if (place == nullptr) throw std::bad_alloc{};
    return place;
}
[[gnu::noinline]] void operator delete(void* place) noexcept {
    std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::size_t /*size*/) noexcept {
    std::free(place);
}

namespace mortise {
namespace {

using namespace std::chrono_literals;

class NoMemory : public OneNode {
protected:
    NoMemory() { mine = &memory_; }
    ~NoMemory() override { mine = nullptr; }

    // Calls `body` with the number of the allocation of this thread that is to fail, until none
    // fails any more: `body` returns whether one did. Once with a single failure, once with all
    // later allocations failing.
    template <class Body>
    static void with_each_failure(Body body) {
        for (const bool from_then_on : {false, true}) {
            int n = 0;
            while (body(n, from_then_on))
                ASSERT_LT(++n, 2'000);
        }
    }
    // A moment after the last release.
    bool becomes_free(const char* name) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (node_.inspect(name).is_held() || !node_.inspect(name).waiters.empty()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }

    Memory memory_;
};

// The holds of a node are in such a set, and each must be lost in the end (P5).
TEST_F(NoMemory, APagedSetLosesNothing) {
    with_each_failure([&](int n, bool from_then_on) {
        core::PagedMap<std::uint64_t, std::shared_ptr<int>> holds;
        for (std::uint64_t key = 0; key < 64; ++key)
            holds.insert({2 * key, std::make_shared<int>(1)});
        std::size_t added = 1;
        memory_.fail_at(n, from_then_on);
        try {
            holds.insert({21, nullptr});  // into the middle of a full page
        } catch (const std::bad_alloc&) {
            added = 0;
        }
        const bool has_failed = memory_.come_back();
        EXPECT_EQ(holds.size(), 64 + added);
        for (std::uint64_t key = 0; key < 64; ++key) {
            const auto* found = holds.find(2 * key);
            EXPECT_TRUE(found != nullptr && found->value) << "of " << key << " after " << n;
        }
        return has_failed;
    });
}

TEST_F(NoMemory, AnAcquireHoldsTheLockOrNothing) {
    Locker locker{node_, "me"};
    const std::string name(100, 'n');
    for (const auto& options : {AcquireOptions{}, AcquireOptions{.locker = locker}}) {
        with_each_failure([&](int n, bool from_then_on) {
            Hold hold;
            memory_.fail_at(n, from_then_on);
            try {
                hold = node_.acquire(name, options);
            } catch (const std::bad_alloc&) {
            }
            const bool failed = memory_.come_back();
            EXPECT_EQ(locker.hold_count(), hold && options.locker != Locker{} ? 1U : 0U);
            hold.unlock();
            EXPECT_TRUE(becomes_free(name.c_str())) << n;
            return failed;
        });
    }
}

TEST_F(NoMemory, WhatIsGivenBackIsFree) {  // P11
    enum class By { release, unlock, destructor, release_all, async };
    Locker locker{node_, "me"};
    for (const auto by : {By::release, By::unlock, By::destructor, By::release_all, By::async}) {
        with_each_failure([&](int n, bool from_then_on) {
            auto hold = std::make_optional(node_.acquire("x", {.locker = locker}));
            auto other = std::make_optional(node_.acquire("y"));
            std::atomic<bool> is_called = false;
            memory_.fail_at(n, from_then_on);
            try {
                if (by == By::release) std::ignore = hold->release();
                if (by == By::release) std::ignore = other->release();
                if (by == By::unlock) hold->unlock();
                if (by == By::release_all) locker.release_all();
                if (by == By::async) {
                    async_release(*std::move(hold), [](std::error_code) {});
                    async_release(*std::move(other), [](std::error_code) {});
                }
            } catch (const std::bad_alloc&) {
            }
            if (by != By::release_all) hold.reset();
            other.reset();
            const bool failed = memory_.come_back();
            EXPECT_TRUE(becomes_free("x")) << n;
            EXPECT_TRUE(becomes_free("y")) << n;
            return failed;
        });
    }
}

// Or the call is not begun at all.
TEST_F(NoMemory, AHandlerIsCalledOnceOrTheStartThrows) {
    Locker locker{node_, "me"};
    struct Told {
        std::promise<void> called;
        std::atomic<int> calls = 0;
    };
    for (const auto& options : {AcquireOptions{}, AcquireOptions{.locker = locker}}) {
        with_each_failure([&](int n, bool from_then_on) {
            const auto told = std::make_shared<Told>();
            std::stop_source stop;
            auto stoppable = options;
            stoppable.cancel = stop.get_token();
            asio::cancellation_signal signal;
            auto handler = [told](std::error_code, const Hold&) {
                if (++told->calls == 1) told->called.set_value();
            };
            memory_.fail_at(n, from_then_on);
            bool threw = false;
            try {
                async_acquire(node_, "x", std::move(stoppable),
                              asio::bind_cancellation_slot(signal.slot(), std::move(handler)));
            } catch (const std::bad_alloc&) {
                threw = true;
            }
            const bool failed = memory_.come_back();
            if (!threw) {
                EXPECT_EQ(told->called.get_future().wait_for(patience), std::future_status::ready);
            }
            EXPECT_TRUE(becomes_free("x")) << n;
            EXPECT_EQ(told->calls, threw ? 0 : 1) << n;
            EXPECT_EQ(locker.hold_count(), 0U);
            return failed;
        });
    }
}

TEST_F(NoMemory, AWaitCanBeCancelled) {
    const auto holder = node_.acquire("x");
    for (const bool by_slot : {false, true}) {
        std::stop_source stop;
        std::promise<std::error_code> told;
        asio::cancellation_signal signal;
        async_acquire(
            node_, "x", {.cancel = stop.get_token()},
            asio::bind_cancellation_slot(
                signal.slot(), [&](std::error_code ec, const Hold&) { told.set_value(ec); }));
        ASSERT_TRUE(wait_for_waiters("x", 1));
        std::error_code of_thread;
        std::thread waiting{
            [&] { std::ignore = node_.acquire("x", {.cancel = stop.get_token()}, of_thread); }};
        ASSERT_TRUE(wait_for_waiters("x", 2));
        memory_.fail_at(0, true);
        if (by_slot) signal.emit(asio::cancellation_type::total);
        stop.request_stop();
        memory_.come_back();
        waiting.join();
        EXPECT_EQ(of_thread, Errc::cancelled);
        auto answer = told.get_future();
        ASSERT_EQ(answer.wait_for(patience), std::future_status::ready);
        EXPECT_TRUE(answer.get());
        EXPECT_TRUE(wait_for_waiters("x", 0));
    }
}

TEST_F(NoMemory, AnUnlockOfWhatIsNotLockedDoesNothing) {
    Mutex mutex{node_, "m"};
    const auto events = node_.on_event([](const NodeEvent&) {});
    with_each_failure([&](int n, bool from_then_on) {
        bool failed = false;
        std::thread{[&] {
            Memory memory;
            mine = &memory;
            memory.fail_at(n, from_then_on);
            mutex.unlock();
            failed = memory.come_back();
            mine = nullptr;
        }}.join();
        return failed;
    });
}

// --- the end of a node

class NoMemoryToClose : public ::testing::Test {
protected:
    NoMemoryToClose() { mine = &memory_; }
    ~NoMemoryToClose() override { mine = nullptr; }

    static std::unique_ptr<Node> ready_node() {
        auto config = Config::in_memory();
        config.timing.close_timeout = 100ms;
        config.log.level = LogLevel::off;
        auto node = std::make_unique<Node>(std::move(config));
        EXPECT_TRUE(node->wait_ready(std::chrono::steady_clock::now() + patience));
        return node;
    }
    static bool is_told(const Hold& hold) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!hold.lost().stop_requested() && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        return hold.lost().stop_requested();
    }

    Memory memory_;
};

TEST_F(NoMemoryToClose, ANodeEndsAndItsHoldsAndCallsWithIt) {
    for (const bool destroys : {false, true}) {
        for (const bool from_then_on : {false, true}) {
            bool failed = true;
            for (int n = 0; failed; ++n) {
                ASSERT_LT(n, 200);
                auto node = ready_node();
                const auto hold = node->acquire("x");
                std::promise<std::error_code> told;
                async_acquire(*node, "x",
                              [&](std::error_code ec, const Hold&) { told.set_value(ec); });
                memory_.fail_at(n, from_then_on);
                if (destroys) node.reset();
                if (!destroys) node->close();
                failed = memory_.come_back();
                EXPECT_FALSE(hold.valid());
                EXPECT_TRUE(is_told(hold)) << n;
                auto answer = told.get_future();
                ASSERT_EQ(answer.wait_for(patience), std::future_status::ready) << n;
                EXPECT_EQ(answer.get(), Errc::node_stopped);
            }
        }
    }
}

// On the threads of the node: it may stop, and reports that to every caller; nothing else may
// happen.
TEST_F(NoMemoryToClose, ANodeThatGetsNoneStopsOrGoesOn) {
    int stopped = 0;
    bool failed = true;
    for (int n = 0; failed; ++n) {
        ASSERT_LT(n, 2'000);
        auto node = ready_node();
        const auto hold = node->acquire("x");
        std::promise<std::error_code> told;
        others.fail_at(n, false);
        async_acquire(*node, "x", [&](std::error_code ec, const Hold&) { told.set_value(ec); });
        std::error_code ec;
        auto other = node->acquire("y", ec);
        const bool is_stopped = node->status().stopped;
        failed = others.come_back();
        EXPECT_TRUE(other || is_stopped) << n << ": " << ec.message();
        if (is_stopped) {
            ++stopped;
            EXPECT_FALSE(hold.valid());
            EXPECT_TRUE(is_told(hold)) << n;
        }
        node.reset();
        auto answer = told.get_future();
        ASSERT_EQ(answer.wait_for(patience), std::future_status::ready) << n;
        EXPECT_EQ(answer.get(), Errc::node_stopped) << n;
    }
    EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace mortise
