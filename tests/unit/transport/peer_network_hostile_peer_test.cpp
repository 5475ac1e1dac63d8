// What a member can do to another with the calls of Peer.send, which this node reads and writes by
// hand: the bounds are those of all messages (P11). The other member is made of bytes, and checks
// nothing.
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_callee.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/rpc/rpc_guard.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using core::NodeId;
using testing::ElementsAre;
using testing::HasSubstr;

class PeerNetworkHostilePeer : public testing::Test {
protected:
    void SetUp() override {
        node_.emplace(io_, 1, addresses_, [this](NetworkOptions& options, core::Hello&) {
            options.log = [this](LogLevel level, const std::string& text) {
                if (level == LogLevel::warning) lines_.push_back(text);
            };
        });
        ASSERT_TRUE(node_->start());
        caller_.emplace(io_, addresses_[0]);
        caller_->say(peer_hello(hello_of(2)));
        ASSERT_TRUE(wait([this] { return node_->is_up(2); }));
    }
    bool wait(const std::function<bool()>& done) {
        return run_until(io_, [&] {
            callee_.run();
            return done();
        });
    }
    void wait_a_moment() {
        wait([end = std::chrono::steady_clock::now() + 50ms] {
            return std::chrono::steady_clock::now() > end;
        });
    }
    [[nodiscard]] NetworkCounters counters() const { return node_->network->counters(); }
    void expect_closed(const std::string& said, const std::string& cause) {
        caller_->say(said);
        EXPECT_TRUE(wait([this] { return caller_->is_closed(); })) << cause;
        EXPECT_EQ(counters().forbidden_messages, cause.empty() ? 0U : 1U);
        if (cause.empty()) return;
        EXPECT_THAT(lines_, testing::Contains(HasSubstr(cause)));
    }
    [[nodiscard]] std::vector<std::uint64_t> received() const {
        std::vector<std::uint64_t> numbers;
        for (const auto& [from, message] : node_->events.messages)
            numbers.push_back(number_of(message));
        return numbers;
    }

    asio::io_context io_;
    std::vector<std::string> addresses_{free_address(), free_address()};
    RawCallee callee_{io_, addresses_[1], hello_of(2)};
    std::vector<std::string> lines_;
    std::optional<Node> node_;
    std::optional<Stranger> caller_;
};

// --- its calls -----------------------------------------------------------------------------------

TEST_F(PeerNetworkHostilePeer, IsHeardAsLongAsItFollowsTheProtocol) {
    caller_->say(finish(0) + finish(1));
    for (std::uint64_t number = 1; number <= 200; ++number) {
        const auto question = static_cast<unsigned>(2 + number % 30);
        caller_->say(send_call(question, {numbered(number)}) + finish(question));
        caller_->is_closed();  // it reads
    }
    EXPECT_TRUE(wait([this] { return received().size() == 200; }));
    EXPECT_TRUE(std::ranges::is_sorted(received()));
    EXPECT_FALSE(caller_->is_closed());
}

TEST_F(PeerNetworkHostilePeer, CallsNothingThatWasNotOffered) {
    expect_closed(send_call(2, {numbered(1)},
                            [](rpc::Call::Builder call) { call.initTarget().setImportedCap(9); }),
                  "");
    EXPECT_THAT(received(), ElementsAre());
}

TEST_F(PeerNetworkHostilePeer, CallsNothingThatItHasReleased) {
    const auto release = frame([](auto message) {
        message.initRelease().setId(1);
        message.getRelease().setReferenceCount(1);
    });
    expect_closed(send_call(2, {numbered(1)}) + release + send_call(3, {numbered(2)}), "");
    EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(PeerNetworkHostilePeer, DoesNotUseANumberTwice) {
    expect_closed(send_call(2, {numbered(1)}) + send_call(2, {numbered(2)}), "still open");
    EXPECT_THAT(received(), ElementsAre(1));
}

TEST_F(PeerNetworkHostilePeer, HasSoManyQuestionsOpenAndNoMore) {
    std::string said;
    for (unsigned question = 2; question < 3 + questions_max; ++question)
        said += send_call(question, {});
    expect_closed(said, "too many questions");
}

TEST_F(PeerNetworkHostilePeer, EndsNothingThatIsNotOpen) {
    expect_closed(send_call(2, {}) + finish(2) + finish(2), "question that is not open");
}

TEST_F(PeerNetworkHostilePeer, BringsNoCapabilities) {
    expect_closed(send_call(2, {},
                            [](rpc::Call::Builder call) {
                                call.getParams().initCapTable(1)[0].setSenderHosted(1);
                            }),
                  "capabilities in a call");
}

TEST_F(PeerNetworkHostilePeer, SendsNoFrameThatIsTooLong) {
    std::string head(word_bytes, '\0');
    const std::uint32_t words = peer_frame_words_max;
    std::memcpy(head.data() + 4, &words, 4);
    expect_closed(head, "");
    EXPECT_EQ(counters().malformed_frames, 1U);
}

TEST_F(PeerNetworkHostilePeer, SendsNoMalformedMessage) {
    expect_closed(
        send_call(2, {numbered(1)}) + send_call(3, {},
                                                [](rpc::Call::Builder call) {
                                                    auto params = call.getParams().initContent();
                                                    params.initAs<wire::Peer::SendParams>()
                                                        .initMessages(1)[0]
                                                        .initFormationOffer()
                                                        .setKind(static_cast<wire::EntryKind>(99));
                                                }),
        "");
    EXPECT_EQ(counters().malformed_messages, 1U);
    EXPECT_THAT(received(), ElementsAre(1));
}

// A long message must not delay those of replication.
TEST_F(PeerNetworkHostilePeer, SendsNothingOfTheOtherLane) {
    expect_closed(send_call(2, {core::Forward{core::Bytes{"batch"}, std::nullopt}}), "");
    EXPECT_EQ(counters().malformed_messages, 1U);
}

TEST_F(PeerNetworkHostilePeer, IsLeftIfThereIsNoMemoryForWhatItSays) {
    node_->events.on_message = [] { throw std::bad_alloc{}; };
    expect_closed(send_call(2, {numbered(1)}), "");
    EXPECT_EQ(counters().lost_silent, 0U);
}

// --- its answers ---------------------------------------------------------------------------------

class PeerNetworkHostileCallee : public PeerNetworkHostilePeer {
protected:
    void SetUp() override {
        callee_.answer_no_calls();
        PeerNetworkHostilePeer::SetUp();
    }
};

TEST_F(PeerNetworkHostileCallee, IsCalledWithNumbersThatCapnProtoDoesNotUse) {
    node_->send(NodeId{2}, numbered(1));
    ASSERT_TRUE(wait([this] { return callee_.calls().size() == 1; }));
    node_->send(NodeId{2}, numbered(2));
    ASSERT_TRUE(wait([this] { return callee_.calls().size() == 2; }));
    EXPECT_THAT(callee_.calls(), ElementsAre(send_questions_from, send_questions_from + 1));
    callee_.say(answer(send_questions_from));
    wait_a_moment();
    node_->send(NodeId{2}, numbered(3));
    ASSERT_TRUE(wait([this] { return callee_.calls().size() == 3; }));
    EXPECT_EQ(callee_.calls().back(), send_questions_from);
    EXPECT_EQ(callee_.finished().back(), send_questions_from);
}

TEST_F(PeerNetworkHostileCallee, IsSentNoMoreThanSoManyCallsWithoutAnAnswer) {
    for (std::uint64_t number = 1; number <= 100; ++number)
        node_->send(NodeId{2}, numbered(number));
    const auto calls_max = node_->options.limits.calls_in_flight_max;
    EXPECT_TRUE(wait([&] { return callee_.calls().size() == calls_max; }));
    wait_a_moment();
    EXPECT_EQ(callee_.calls().size(), calls_max);
}

TEST_F(PeerNetworkHostileCallee, AnswersNothingThatWasNotAsked) {
    node_->send(NodeId{2}, numbered(1));
    ASSERT_TRUE(wait([this] { return callee_.calls().size() == 1; }));
    callee_.say(answer(send_questions_from + 1));
    EXPECT_TRUE(wait([this] { return !node_->is_up(2); }));
    EXPECT_EQ(counters().forbidden_messages, 1U);
    EXPECT_THAT(lines_, testing::Contains(HasSubstr("answer to no question")));
}

TEST_F(PeerNetworkHostileCallee, AnswersOnce) {
    node_->send(NodeId{2}, numbered(1));
    ASSERT_TRUE(wait([this] { return callee_.calls().size() == 1; }));
    callee_.say(answer(send_questions_from) + answer(send_questions_from));
    EXPECT_TRUE(wait([this] { return !node_->is_up(2); }));
    EXPECT_EQ(counters().forbidden_messages, 1U);
}

TEST_F(PeerNetworkHostileCallee, IsLostIfItsAnswerIsAFailure) {
    node_->send(NodeId{2}, numbered(1));
    ASSERT_TRUE(wait([this] { return callee_.calls().size() == 1; }));
    callee_.say(exception(send_questions_from));
    EXPECT_TRUE(wait([this] { return !node_->is_up(2); }));
    EXPECT_GE(counters().links_lost, 1U);
    EXPECT_EQ(counters().lost_silent, 0U);
    EXPECT_EQ(counters().forbidden_messages, 0U);
}

}  // namespace
}  // namespace mortise::transport
