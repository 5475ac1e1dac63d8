// <mortise/async.hpp>: tokens, executors, cancellation, the end of the node.
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/experimental/deferred.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

struct Answer {
    std::error_code ec;
    Hold hold;
    std::thread::id thread;
};

// A handler that keeps its result. Movable and not copyable, as handlers may be.
class Asked {
public:
    auto handler() {
        return [told = std::move(told_)](std::error_code ec, Hold hold) mutable {
            told.set_value({ec, std::move(hold), std::this_thread::get_id()});
        };
    }
    Answer get() {
        if (answer_.wait_for(patience) != std::future_status::ready) {
            throw std::runtime_error{"the handler was not called"};
        }
        return answer_.get();
    }
    bool is_pending() { return answer_.wait_for(0s) != std::future_status::ready; }

private:
    std::promise<Answer> told_;
    std::future<Answer> answer_ = told_.get_future();
};

class Async : public OneNode {};

// --- tokens

TEST_F(Async, ACallbackGetsTheHold) {
    Asked asked;
    async_acquire(node_, "x", asked.handler());
    auto answer = asked.get();
    EXPECT_FALSE(answer.ec);
    EXPECT_EQ(answer.hold.name(), "x");
    EXPECT_TRUE(answer.hold.valid());
    EXPECT_NE(answer.thread, std::this_thread::get_id());
}

TEST_F(Async, ACallbackMayBeKeptAndUsedAgain) {
    std::promise<void> called[2];
    int calls = 0;
    const auto handler = [&](std::error_code, const Hold&) { called[calls++].set_value(); };
    for (auto& call : called) {
        async_acquire(node_, "x", handler);
        EXPECT_EQ(call.get_future().wait_for(patience), std::future_status::ready);
    }
}

TEST_F(Async, AFutureGetsTheHold) {
    std::future<Hold> future = async_acquire(node_, "x", {.label = "me"}, asio::use_future);
    auto hold = future.get();
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(node_.inspect("x").holders.at(0).label, "me");
    async_release(std::move(hold), asio::use_future).get();
    EXPECT_FALSE(node_.inspect("x").is_held());
}

TEST_F(Async, AFutureGetsTheError) {
    auto future = async_acquire(node_, "", asio::use_future);
    try {
        std::ignore = future.get();
        FAIL() << "no lock has no name";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
}

TEST_F(Async, ADeferredOneBeginsWhenItIsCalled) {
    const AcquireOptions uncached{.caching = Caching::off};
    auto operation = async_acquire(node_, "x", uncached, asio::experimental::deferred);
    EXPECT_TRUE(node_.try_acquire("x", uncached));
    auto hold = std::move(operation)(asio::use_future).get();
    EXPECT_TRUE(hold.valid());
    auto release = async_release(std::move(hold), asio::experimental::deferred);
    EXPECT_TRUE(node_.inspect("x").is_held());
    std::move(release)(asio::use_future).get();
    EXPECT_FALSE(node_.inspect("x").is_held());
}

TEST_F(Async, NamesAndOptionsAreTakenByValue) {
    auto holder = node_.acquire("x");
    Asked asked;
    {
        std::string name = "x";
        AcquireOptions options{.label = std::string(100, 'l')};
        async_acquire(node_, name, options, asked.handler());
        name = "y";
        options.label.clear();
    }
    ASSERT_TRUE(wait_for_waiters("x", 1));
    holder.unlock();
    const auto answer = asked.get();
    EXPECT_EQ(answer.hold.name(), "x");
    EXPECT_EQ(node_.inspect("x").holders.at(0).label.size(), 100U);
}

// --- answers

TEST_F(Async, BusyIsAnEmptyHold) {
    const auto holder = node_.acquire("x");
    for (int form = 0; form < 3; ++form) {
        Asked asked;
        const auto soon = std::chrono::steady_clock::now() + 5ms;
        if (form == 0) async_try_acquire(node_, "x", asked.handler());
        if (form == 1) async_acquire_for(node_, "x", 5ms, asked.handler());
        if (form == 2) async_acquire_until(node_, "x", soon, asked.handler());
        const auto answer = asked.get();
        EXPECT_FALSE(answer.ec) << answer.ec.message();
        EXPECT_FALSE(answer.hold);
    }
    // a caller that gave up is answered before the cluster is informed (S18)
    EXPECT_TRUE(wait_for_waiters("x", 0));
}

TEST_F(Async, AFreeLockIsGrantedToEachForm) {
    EXPECT_TRUE(async_try_acquire(node_, "a", asio::use_future).get().valid());
    EXPECT_TRUE(async_acquire_for(node_, "b", patience, asio::use_future).get().valid());
    const auto later = std::chrono::steady_clock::now() + patience;
    EXPECT_TRUE(async_acquire_until(node_, "c", later, asio::use_future).get().valid());
}

TEST_F(Async, AnAcquireWithALimitTimesOut) {
    const auto holder = node_.acquire("x");
    Asked asked;
    async_acquire(node_, "x", {.wait_max = 5ms}, asked.handler());
    EXPECT_EQ(asked.get().ec, Errc::timed_out);
}

TEST_F(Async, ATryWithALimitIsRefused) {
    Asked asked;
    async_try_acquire(node_, "x", {.wait_max = 5ms}, asked.handler());
    EXPECT_EQ(asked.get().ec, Errc::invalid_argument);
}

TEST_F(Async, ReleaseAnswersForWhatThereIs) {
    std::promise<std::error_code> empty;
    async_release(Hold{}, [&](std::error_code ec) { empty.set_value(ec); });
    EXPECT_EQ(empty.get_future().get(), Errc::not_held);
}

TEST_F(Async, AHoldThatTheHandlerDropsIsReleased) {
    std::promise<void> called;
    async_acquire(node_, "x", [&](std::error_code, Hold) { called.set_value(); });
    called.get_future().wait();
    EXPECT_TRUE(node_.acquire_for("x", patience));
}

// Exceptions of a handler are dropped, whichever thread it runs on.
TEST_F(Async, AHandlerMayThrowWhereverItRuns) {
    std::promise<void> without_a_node;
    async_release(Hold{}, [&](std::error_code ec) {
        without_a_node.set_value();
        throw std::system_error{ec};
    });
    without_a_node.get_future().wait();
    node_.close();
    std::promise<void> after_the_end;
    async_acquire(node_, "x", [&](std::error_code ec, const Hold&) {
        after_the_end.set_value();
        throw std::system_error{ec};
    });
    after_the_end.get_future().wait();
}

TEST_F(Async, ANodeThatWasMovedFromIsStopped) {
    const Node moved{std::move(node_)};
    Asked asked;
    async_acquire(node_, "x", asked.handler());
    const auto answer = asked.get();
    EXPECT_EQ(answer.ec, Errc::node_stopped);
    EXPECT_NE(answer.thread, std::this_thread::get_id());
}

// --- where the handler runs

TEST_F(Async, IsNeverCalledFromWithin) {  // P10
    const auto here = std::this_thread::get_id();
    Asked bad;
    async_acquire(node_, "", bad.handler());
    EXPECT_NE(bad.get().thread, here);
    // Also from a handler that runs on the thread of the next one.
    std::promise<bool> returned_first;
    async_acquire(node_, "x", [&](std::error_code, Hold) {
        auto returned = std::make_shared<bool>(false);
        async_acquire(node_, "", [&, returned](std::error_code, Hold) {
            returned_first.set_value(*returned);
        });
        *returned = true;
    });
    EXPECT_TRUE(returned_first.get_future().get());
}

TEST_F(Async, RunsOnTheHandlersExecutor) {
    asio::io_context io;
    Asked asked;
    async_acquire(node_, "x", asio::bind_executor(io, asked.handler()));
    EXPECT_TRUE(asked.is_pending());
    // It counts as outstanding work from the start: run() does not return before.
    EXPECT_EQ(io.run(), 1U);
    const auto answer = asked.get();
    EXPECT_EQ(answer.thread, std::this_thread::get_id());
    EXPECT_TRUE(answer.hold.valid());
}

TEST_F(Async, AWaitingOperationIsWorkOfItsExecutor) {
    asio::io_context io;
    auto holder = node_.acquire("x");
    Asked asked;
    const auto strand = asio::make_strand(io);
    async_acquire(node_, "x", asio::bind_executor(strand, asked.handler()));
    ASSERT_TRUE(wait_for_waiters("x", 1));
    EXPECT_EQ(io.poll(), 0U);
    EXPECT_FALSE(io.stopped());
    holder.unlock();
    io.run();
    EXPECT_TRUE(asked.get().hold.valid());
}

TEST_F(Async, AReleaseRunsOnTheHandlersExecutor) {
    asio::io_context io;
    std::thread::id thread;
    std::error_code told = Errc::not_held;
    async_release(node_.acquire("x"), asio::bind_executor(io, [&](std::error_code ec) {
                      thread = std::this_thread::get_id();
                      told = ec;
                  }));
    EXPECT_EQ(io.run(), 1U);
    EXPECT_EQ(thread, std::this_thread::get_id());
    EXPECT_FALSE(told);
}

TEST_F(Async, AHandlerThatNeverRunsGoesWithItsExecutor) {
    std::weak_ptr<int> handler;
    {
        asio::io_context io;
        auto kept = std::make_shared<int>();
        handler = kept;
        async_acquire(node_, "x",
                      asio::bind_executor(io, [kept = std::move(kept)](std::error_code, Hold) {}));
        node_.close();  // from now on nothing reaches `io` any more
        EXPECT_FALSE(handler.expired());
    }
    EXPECT_TRUE(handler.expired());
}

// --- cancellation

class AsyncCancel : public Async {
protected:
    auto with_slot(Asked& asked) {
        return asio::bind_cancellation_slot(signal_.slot(),
                                            asio::bind_executor(io_, asked.handler()));
    }

    asio::io_context io_;
    asio::cancellation_signal signal_;
};

TEST_F(AsyncCancel, TheSlotEndsAWaitWithAnyType) {
    const auto holder = node_.acquire("x");
    using Type = asio::cancellation_type;
    for (const auto type : {Type::total, Type::partial, Type::terminal}) {
        Asked asked;
        async_acquire(node_, "x", with_slot(asked));
        ASSERT_TRUE(wait_for_waiters("x", 1));
        signal_.emit(Type::none);
        EXPECT_EQ(io_.poll(), 0U);
        signal_.emit(type);
        io_.restart();
        io_.run();
        const auto answer = asked.get();
        EXPECT_EQ(answer.ec, asio::error::operation_aborted);
        EXPECT_FALSE(answer.hold);
        EXPECT_TRUE(wait_for_waiters("x", 0));
        EXPECT_FALSE(signal_.slot().has_handler());
        io_.restart();
    }
}

TEST_F(AsyncCancel, RightAfterTheStartItHoldsNothingOrTheLock) {
    for (int round = 0; round < 50; ++round) {
        Asked asked;
        async_acquire(node_, "x", with_slot(asked));
        signal_.emit(asio::cancellation_type::total);
        io_.restart();
        io_.run();
        const auto answer = asked.get();
        if (answer.ec) {
            EXPECT_EQ(answer.ec, asio::error::operation_aborted);
        } else {
            EXPECT_TRUE(answer.hold.valid());
        }
    }
    EXPECT_TRUE(node_.acquire_for("x", patience));
}

TEST_F(AsyncCancel, AfterTheEndItDoesNothing) {
    Asked asked;
    async_acquire(node_, "x", with_slot(asked));
    io_.run();
    signal_.emit(asio::cancellation_type::total);
    EXPECT_TRUE(asked.get().hold.valid());
}

TEST_F(AsyncCancel, BetweenTheGrantAndTheHandlerItComesTooLate) {
    Asked asked;
    async_acquire(node_, "x", with_slot(asked));
    while (!node_.inspect("x").is_held())
        std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // the answer is on its way to `io_`, or has arrived
    signal_.emit(asio::cancellation_type::total);
    io_.run();
    const auto answer = asked.get();
    EXPECT_FALSE(answer.ec);
    EXPECT_TRUE(answer.hold.valid());
}

TEST_F(AsyncCancel, TheStopTokenHasItsOwnCode) {
    const auto holder = node_.acquire("x");
    std::stop_source stop;
    Asked asked;
    async_acquire(node_, "x", {.cancel = stop.get_token()}, with_slot(asked));
    ASSERT_TRUE(wait_for_waiters("x", 1));
    stop.request_stop();
    io_.run();
    EXPECT_EQ(asked.get().ec, Errc::cancelled);
}

TEST_F(AsyncCancel, AStopThatWasRequestedBeforeIsSeen) {
    std::stop_source stop;
    stop.request_stop();
    Asked asked;
    async_acquire(node_, "x", {.cancel = stop.get_token()}, asked.handler());
    EXPECT_EQ(asked.get().ec, Errc::cancelled);
    EXPECT_TRUE(node_.acquire_for("x", patience));
}

// --- the end of the node

TEST_F(Async, CloseEndsWhatIsPendingBeforeItReturns) {
    const auto holder = node_.acquire("x");
    std::error_code told;
    bool holder_was_valid = false;
    async_acquire(node_, "x", [&](std::error_code ec, Hold) {
        told = ec;
        holder_was_valid = holder.valid();
    });
    ASSERT_TRUE(wait_for_waiters("x", 1));
    node_.close();
    EXPECT_EQ(told, Errc::node_stopped);
    EXPECT_FALSE(holder.valid());
}

TEST_F(Async, AClosedNodeRefuses) {
    auto hold = node_.acquire("x");
    node_.close();
    Asked asked;
    async_acquire(node_, "x", asked.handler());
    auto answer = asked.get();
    EXPECT_EQ(answer.ec, Errc::node_stopped);
    EXPECT_NE(answer.thread, std::this_thread::get_id());
    std::promise<std::error_code> released;
    async_release(std::move(hold), [&](std::error_code ec) { released.set_value(ec); });
    EXPECT_EQ(released.get_future().get(), Errc::node_stopped);
}

TEST_F(Async, AHandlerMayCloseTheNode) {
    std::promise<void> closed;
    async_acquire(node_, "x", [&](std::error_code, Hold hold) {
        node_.close();
        hold.unlock();
        closed.set_value();
    });
    EXPECT_EQ(closed.get_future().wait_for(patience), std::future_status::ready);
}

}  // namespace
}  // namespace mortise
