#include "core/agent/session_agent.hpp"

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"

namespace mortise::core::test {
namespace {

using namespace std::chrono_literals;

constexpr SessionId session{7};

// Its session is open, its leader is known, and whether anything is applied is up to the test.
struct Agent {
    Agent() {
        agent.on_leader(true, now);
        const auto sent = agent.collect(now).outbound;
        const auto batch = decode_batch(sent.value().urgent);
        const auto& opening = std::get<OpenSession>(batch.value().front());
        agent.on_outcome(SessionOpened{session, opening.nonce}, LogIndex{1}, now);
    }

    static AgentOptions options() {
        AgentOptions options;
        options.node = NodeId{1};
        options.incarnation = Incarnation{9};
        options.boot_epoch = BootEpoch{1};
        return options;
    }
    // How many of them were refused at once.
    std::size_t acquire(std::size_t count, Instant deadline) {
        for (std::size_t i = 0; i < count; ++i) {
            AcquireCall call;
            call.tag = CallTag{++tag};
            call.request.name = "name";
            call.deadline = deadline;
            agent.on_acquire(std::move(call), now);
        }
        std::size_t refused = 0;
        for (const auto& answer : agent.collect(now).answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (error != nullptr && *error == CallError::resource_exhausted) ++refused;
        }
        return refused;
    }
    // Until everything that waits was sent once.
    void send_all() {
        while (agent.collect(now).outbound) {
        }
    }
    void pass(Nanoseconds time) {
        now = {now.steady + time, now.boot + time};
        agent.begin(now);
        agent.on_timer(now);
    }

    Now now{Instant{1'000'000'000}, Instant{1'000'000'000}};
    SessionAgent agent{options(), Prng{1}, now};
    std::uint64_t tag = 0;
};

TEST(SessionAgent, TakesSoManyCallsAndNoMore) {
    Agent of;
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(3, Instant::never()), 3U);
}

// P11: each that was sent leaves a Cancel behind, for as long as nobody confirms it.
TEST(SessionAgent, CountsWhatItHasStillToEnd) {
    Agent of;
    EXPECT_EQ(of.acquire(operations_max / 2, of.now.steady + 1ms), 0U);
    of.send_all();
    of.pass(2ms);
    of.send_all();
    EXPECT_EQ(of.acquire(operations_max / 2, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
}

TEST(SessionAgent, ACallThatWasNeverSentLeavesNothingBehind) {
    Agent of;
    of.agent.on_leader(false, of.now);
    EXPECT_EQ(of.acquire(operations_max, of.now.steady + 1ms), 0U);
    of.pass(2ms);
    EXPECT_EQ(of.agent.outstanding(), 0U);
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
}

}  // namespace
}  // namespace mortise::core::test
