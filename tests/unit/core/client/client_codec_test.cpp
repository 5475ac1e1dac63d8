#include "core/client/client_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::core::test {
namespace {

ClientNotice full_notice() {
    ClientNotice notice;
    notice.applied = LogIndex{900};
    notice.state = SessionState{77, SessionId{5}, "row", {Seq{3}, Seq{8}}};
    Answer granted{AnswerKind::granted, FencingToken{12}, {}};
    const OperationId operation{SessionId{5}, Seq{9}};
    LockBroken broken;
    broken.holds = {operation};
    ClosureBegun begun;
    begun.kind = Closure::Kind::max_hold;
    begun.hold = operation;
    notice.outcomes = {{LogIndex{800}, Answered{operation, granted}},
                       {LogIndex{800}, Queued{operation}},
                       {LogIndex{801}, SessionOpened{SessionId{5}, 77}},
                       {LogIndex{802}, OpenRefused{78, OpenRefusal::table_full}},
                       {LogIndex{803}, SessionRenewed{SessionId{5}, 4, {Seq{2}}}},
                       {LogIndex{804}, RenewalLost{SessionId{5}}},
                       {LogIndex{805}, SessionEnded{SessionId{5}, SessionEnd::expired}},
                       {LogIndex{806}, broken},
                       {LogIndex{807}, begun}};
    notice.has_leader = false;
    notice.gap = Seq{4};
    notice.contended = {{operation, LockMode::shared, 2, {}}};
    notice.asked = {{operation, LockMode::exclusive, 1, "please"}};
    notice.refused = "no";
    return notice;
}

TEST(ClientCodec, EveryMessageComesBackAsItWas) {
    const Forward forward{Bytes{"batch"}, Renewal{SessionId{4}, 9}};
    for (const ClientMessage& message : {ClientMessage{Attach{77, LogIndex{5}}},
                                         ClientMessage{WatchHold{Seq{4}}}, ClientMessage{Ping{}}}) {
        const auto decoded = decode_client_message(encode(message));
        ASSERT_TRUE(decoded);
        EXPECT_EQ(encode(*decoded), encode(message));
        EXPECT_EQ(decoded->index(), message.index());
    }
    const auto decoded = decode_client_message(encode(ClientMessage{forward}));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::get<Forward>(*decoded).batch, forward.batch);
    EXPECT_EQ(std::get<Forward>(*decoded).renewal, forward.renewal);
}

TEST(ClientCodec, ANoticeComesBackAsItWas) {
    const auto notice = full_notice();
    const auto decoded = decode_client_notice(encode(notice));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->applied, notice.applied);
    EXPECT_EQ(decoded->state, notice.state);
    ASSERT_EQ(decoded->outcomes.size(), notice.outcomes.size());
    for (std::size_t i = 0; i < notice.outcomes.size(); ++i) {
        EXPECT_EQ(decoded->outcomes[i].at, notice.outcomes[i].at);
        EXPECT_EQ(decoded->outcomes[i].outcome, notice.outcomes[i].outcome) << i;
    }
    EXPECT_EQ(decoded->has_leader, notice.has_leader);
    EXPECT_EQ(decoded->gap, notice.gap);
    EXPECT_EQ(decoded->contended, notice.contended);
    EXPECT_EQ(decoded->asked, notice.asked);
    EXPECT_EQ(decoded->refused, notice.refused);
}

// Clients of earlier versions do not know that reason, and do the same about both.
TEST(ClientCodec, AnOpeningRefusedByAnEraIsOneForWhichThereIsNoRoom) {  // P12
    auto notice = full_notice();
    notice.outcomes = {{LogIndex{1}, OpenRefused{78, OpenRefusal::era}}};
    const auto decoded = decode_client_notice(encode(notice));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->outcomes.front().outcome,
              (Outcome{OpenRefused{78, OpenRefusal::table_full}}));
}

TEST(ClientCodec, APieceOfAMessageIsMalformed) {
    const auto whole = encode(full_notice());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(decode_client_notice(std::string_view{whole}.substr(0, size))) << size;
    EXPECT_FALSE(decode_client_notice(whole + "x"));
    const auto attach = encode(ClientMessage{Attach{77, LogIndex{5}}});
    for (std::size_t size = 0; size < attach.size(); ++size)
        EXPECT_FALSE(decode_client_message(std::string_view{attach}.substr(0, size))) << size;
    EXPECT_FALSE(decode_client_message(attach + "x"));
}

TEST(ClientCodec, AnotherVersionAndNonsenseAreMalformed) {
    auto attach = encode(ClientMessage{Attach{77, LogIndex{5}}});
    attach[0] = 2;
    EXPECT_FALSE(decode_client_message(attach));
    EXPECT_FALSE(decode_client_message(encode(ClientMessage{Attach{0, LogIndex{5}}})));
    ClientNotice ahead;
    ahead.applied = LogIndex{5};
    ahead.outcomes = {{LogIndex{6}, Queued{{SessionId{1}, Seq{1}}}}};
    EXPECT_FALSE(decode_client_notice(encode(ahead)));
}

// Whatever bytes come, decoding ends and reads nothing beyond them.
TEST(ClientCodec, DamagedBytesAreNoMessage) {
    Prng prng{3};
    const auto whole = encode(full_notice());
    for (int round = 0; round < 20'000; ++round) {
        auto damaged = whole;
        for (auto left = 1 + prng.below(4); left > 0; --left)
            damaged[prng.below(damaged.size())] = static_cast<char>(prng.next());
        (void)decode_client_notice(damaged);
        (void)decode_client_message(damaged);
    }
}

}  // namespace
}  // namespace mortise::core::test
