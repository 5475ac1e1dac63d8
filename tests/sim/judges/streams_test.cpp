// Streams of requests made by hand, correct and incorrect.
#include "tests/sim/judges/streams.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "core/codec/command_codec.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/three_nodes.hpp"

namespace mortise::sim {
namespace {

constexpr core::NodeId sender{4};

core::Acquire acquire(std::string name = "name") {
    core::Acquire body;
    body.names.push_back({std::move(name)});
    return body;
}

core::Release release(std::uint64_t operation) {
    return {core::Seq{operation}};
}

class StreamsTest : public testing::Test {
protected:
    StreamsTest() {
        core::OpenSession opening;
        opening.nonce = 1;
        opening.node = sender;
        opening.generation.incarnation = core::Incarnation{1};
        opening.generation.boot_epoch = core::BootEpoch{1};
        opening.ttl_ms = 1'000;
        apply({opening});
        session_ = machine_.sessions().newest();
    }

    [[nodiscard]] core::Request of(std::uint64_t seq, core::RequestBody body) const {
        return {session_, core::Seq{seq}, std::move(body)};
    }
    // The next entry, as the machine applies it.
    core::Applied entry(const std::vector<core::Command>& commands) {
        core::BatchBuilder batch;
        for (const auto& command : commands)
            batch.add(command);
        last_ = last_.next();
        core::Applied applied{
            core::make_entry({core::Term{1}, last_}, core::EntryKind::commands, batch.take()), {}};
        machine_.apply(last_, commands, applied.outcomes);
        return applied;
    }
    void apply(const std::vector<core::Command>& commands) { streams_.applied(entry(commands)); }
    [[nodiscard]] core::Outcome answered(std::uint64_t seq, core::AnswerKind kind) const {
        return core::Answered{{session_, core::Seq{seq}}, {kind, {}, {}}};
    }
    // Sends requests with these numbers.
    void send(const std::vector<std::uint64_t>& numbers, core::NodeId leader = a) {
        std::vector<core::Command> commands;
        for (const auto number : numbers)
            commands.emplace_back(of(number, acquire()));
        send_commands(commands, leader);
    }
    void send_commands(const std::vector<core::Command>& commands, core::NodeId leader = a) {
        core::BatchBuilder batch;
        for (const auto& command : commands)
            batch.add(command);
        streams_.sent(sender, leader, {batch.take(), {}}, machine_.sessions());
    }
    [[nodiscard]] std::string found() const {
        return violations_.first() ? violations_.first()->what : "";
    }
    [[nodiscard]] std::uint64_t count(std::string_view probe) const {
        return tally_.probes().at(probe);
    }

    static constexpr std::size_t window = 2;
    Violations violations_;
    Tally tally_;
    Streams streams_{violations_, tally_, window};
    core::LockMachine machine_;
    core::LogIndex last_;
    core::SessionId session_;
};

// --- requests that are applied ------------------------------------------------------------------

TEST_F(StreamsTest, AreContentWithRepeatsAndWaiters) {
    apply({of(1, acquire()), of(2, acquire("other")), of(2, acquire("other"))});
    apply({of(3, acquire()), of(4, release(2))});
    apply({of(3, acquire()), of(5, release(1)), of(4, release(2))});
    apply({of(6, core::CloseSession{}), of(7, acquire()), of(6, core::CloseSession{})});
    apply({of(7, acquire())});
    EXPECT_EQ(found(), "");
}

TEST_F(StreamsTest, AnEntryCountsOnce) {
    auto first = entry({of(1, acquire())});
    streams_.applied(first);
    first.outcomes.clear();
    streams_.applied(first);
    EXPECT_EQ(found(), "");
}

TEST_F(StreamsTest, SeeOneThatIsAppliedBehindAGap) {
    apply({of(1, acquire())});
    auto next = entry({of(3, acquire("other"))});
    next.outcomes.push_back(answered(3, core::AnswerKind::busy));
    streams_.applied(next);
    EXPECT_VIOLATION("operation 1/3 took effect though it was not its turn");
}

TEST_F(StreamsTest, SeeOneThatWaitsBehindAGap) {
    auto next = entry({of(2, acquire())});
    next.outcomes.emplace_back(core::Queued{{session_, core::Seq{2}}});
    streams_.applied(next);
    EXPECT_VIOLATION("took effect though it was not its turn");
}

TEST_F(StreamsTest, SeeTwoThatTakeEffectInTheOtherOrder) {
    auto both = entry({of(1, acquire()), of(2, acquire("other"))});
    std::swap(both.outcomes.front(), both.outcomes.back());
    streams_.applied(both);
    EXPECT_VIOLATION("operation 1/2 took effect before one in front of it");
}

TEST_F(StreamsTest, SeeOneThatHasNoEffectAtItsTurn) {
    auto both = entry({of(1, acquire()), of(2, core::Declined{})});
    both.outcomes.pop_back();
    streams_.applied(both);
    EXPECT_VIOLATION("operation 1/2 had no effect");
}

TEST_F(StreamsTest, SeeARepeatThatTakesEffect) {
    apply({of(1, acquire()), of(2, release(1))});
    auto again = entry({of(2, release(1))});
    again.outcomes = {answered(2, core::AnswerKind::not_held)};
    streams_.applied(again);
    EXPECT_VIOLATION("operation 1/2 took effect twice");
}

TEST_F(StreamsTest, SeeARepeatThatWaitsThoughItWasGranted) {
    apply({of(1, acquire())});
    auto again = entry({of(1, acquire())});
    again.outcomes = {core::Queued{{session_, core::Seq{1}}}};
    streams_.applied(again);
    EXPECT_VIOLATION("operation 1/1 waits though it was answered");
}

TEST_F(StreamsTest, SeeAnAnswerThatIsForgottenBeforeItWasGiven) {
    auto first = entry({of(1, acquire())});
    first.outcomes = {answered(1, core::AnswerKind::stale_request)};
    streams_.applied(first);
    EXPECT_VIOLATION("was never answered, and its answer is forgotten");
}

TEST_F(StreamsTest, SeeOneThatTakesEffectBehindTheEndOfItsSession) {
    apply({of(1, core::CloseSession{})});
    auto late = entry({of(2, acquire())});
    late.outcomes = {answered(2, core::AnswerKind::granted)};
    streams_.applied(late);
    EXPECT_VIOLATION("operation 1/2 goes on behind its session's end");
}

TEST_F(StreamsTest, SeeASessionThatIsClosedAheadOfItsTurn) {
    auto early = entry({of(2, core::CloseSession{})});
    early.outcomes = {core::SessionEnded{session_, core::SessionEnd::closed}};
    streams_.applied(early);
    EXPECT_VIOLATION("session 1 is closed, which was not its turn");
}

TEST_F(StreamsTest, CountAReleaseBehindOneThatWasDeclined) {
    apply({of(1, acquire()), of(2, acquire("other")), of(3, acquire("third"))});
    send({4, 5});
    apply({of(4, core::Declined{}), of(5, core::Declined{})});
    send_commands({of(6, release(1)), of(7, acquire())});
    apply({of(6, release(1)), of(7, core::Declined{})});
    EXPECT_EQ(count("declined under overload with releases behind it"), 0U);
    send_commands({of(8, acquire()), of(9, release(2)), of(10, release(3))});
    apply({of(8, core::Declined{}), of(9, release(2)), of(10, release(3))});
    EXPECT_EQ(count("declined under overload with releases behind it"), 2U);
}

TEST_F(StreamsTest, DoNotCountWhatItsNodeHasWithdrawn) {
    apply({of(1, acquire())});
    const std::vector<core::Command> withdrawn{of(2, core::Declined{}), of(3, release(1))};
    send_commands(withdrawn);
    apply(withdrawn);
    EXPECT_EQ(count("declined under overload with releases behind it"), 0U);
}

// --- requests that nodes send -------------------------------------------------------------------

TEST_F(StreamsTest, AreContentWithRoundsThatBeginAgain) {
    send({1, 2});
    send({3});
    send({1, 2, 3});
    apply({of(1, acquire()), of(2, acquire("other"))});
    send({3, 4}, b);
    send({5}, b);
    EXPECT_EQ(found(), "");
}

TEST_F(StreamsTest, SeeAGapInAMessage) {
    send({1, 3});
    EXPECT_VIOLATION("operation 1/3 does not follow in its message");
}

TEST_F(StreamsTest, SeeAGapBetweenMessages) {
    send({1});
    send({3});
    EXPECT_VIOLATION("operation 1/3 leaves out one before it");
}

TEST_F(StreamsTest, SeeAGapBehindWhatIsSentAgain) {
    send({1, 2, 3});
    send({1});
    send({3});
    EXPECT_VIOLATION("operation 1/3 leaves out one before it");
}

TEST_F(StreamsTest, SeeAnotherLeaderThatIsNotToldAll) {
    send({1, 2});
    send({2}, b);
    EXPECT_VIOLATION("operation 1/2 is sent first, and one before it is not applied");
}

TEST_F(StreamsTest, SeeAConnectionThatIsNotToldAll) {
    send({1});
    streams_.connected(sender, b);
    send({2});
    EXPECT_EQ(found(), "");
    streams_.connected(sender, a);
    send({1, 2});
    EXPECT_EQ(found(), "");
    streams_.connected(sender, a);
    send({3});
    EXPECT_VIOLATION("operation 1/3 is sent first, and one before it is not applied");
}

TEST_F(StreamsTest, SeeARequestAheadOfItsTurnInTheLog) {
    apply({of(1, acquire())});
    apply({of(3, acquire("other"))});
    EXPECT_VIOLATION("operation 1/3 is in the log ahead of its turn");
}

TEST_F(StreamsTest, BeginAnewWithTheProcess) {
    send({1, 2});
    streams_.node_lost(sender);
    send({1});
    EXPECT_EQ(found(), "");
}

TEST_F(StreamsTest, CountWhatIsSentAgainToAThirdLeader) {
    send({1, 2});
    send({1, 2}, b);
    send({1, 2}, b);
    apply({of(1, acquire())});
    EXPECT_EQ(count("stream sent again to a third leader"), 0U);
    send({2, 3}, c);
    send({4}, c);
    EXPECT_EQ(count("stream sent again to a third leader"), 1U);
}

TEST_F(StreamsTest, CountWhatIsSentAgainAfterAnInstall) {
    send({1, 2});
    send({1, 2});
    streams_.state_replaced(sender);
    send({3});
    EXPECT_EQ(count("stream sent again after a state was installed"), 0U);
    send({1, 2, 3});
    send({1, 2, 3});
    EXPECT_EQ(count("stream sent again after a state was installed"), 1U);
}

TEST_F(StreamsTest, CountASessionThatEndsWithAFullWindow) {
    send_commands({of(1, acquire()), of(2, acquire()), of(3, core::CloseSession{})});
    EXPECT_EQ(count("session ended with a full window"), 0U);
    send_commands({of(1, acquire()), of(2, acquire()), of(3, release(1))});
    send_commands({of(4, core::CloseSession{})});
    send_commands({of(4, core::CloseSession{})});
    EXPECT_EQ(count("session ended with a full window"), 1U);
}

}  // namespace
}  // namespace mortise::sim
