#include "core/node/decoded_forward.hpp"

#include <gtest/gtest.h>

namespace mortise::core::test {
namespace {

constexpr SessionId session{4};

Request request(std::uint64_t seq, RequestBody body) {
    return {session, Seq{seq}, std::move(body)};
}

Forward forward_with(const std::vector<Command>& commands) {
    BatchBuilder batch;
    for (const auto& command : commands)
        batch.add(command);
    return {batch.take(), std::nullopt};
}

DecodedForward look(const std::vector<Command>& commands) {
    return decode(forward_with(commands), command_format_newest);
}

// An upgrade with the first number, and two releases after it.
DecodedForward three_requests() {
    return look(
        {request(3, Upgrade{Seq{1}}), request(4, Release{Seq{1}}), request(5, Release{Seq{2}})});
}

TEST(DecodedForward, KnowsWhichRequestsOfWhichSessionItHas) {
    const auto decoded = three_requests();
    EXPECT_FALSE(decoded.is_malformed);
    EXPECT_EQ(decoded.session, session);
    EXPECT_EQ(decoded.first, Seq{3});
    EXPECT_EQ(decoded.last, Seq{5});
}

TEST(DecodedForward, WhatHasAGapOrIsNoBatchIsMalformed) {
    EXPECT_TRUE(look({request(3, Release{Seq{1}}), request(5, Release{Seq{2}})}).is_malformed);
    const auto whole = forward_with({request(3, Release{Seq{1}})}).batch;
    const Forward no_batch{Bytes{std::string{whole.view().substr(1)}}, std::nullopt};
    const auto decoded = decode(no_batch, command_format_newest);
    EXPECT_TRUE(decoded.is_malformed);
    EXPECT_TRUE(decoded.batch.empty());
}

TEST(DecodedForward, LeavesOutWhatComesBeforeTheNextRequest) {
    auto decoded = three_requests();
    const auto whole = decoded.batch;
    leave_out_requests(decoded, Seq{3});
    EXPECT_EQ(decoded.batch, whole);
    leave_out_requests(decoded, Seq{5});
    EXPECT_EQ(decoded.batch, forward_with({request(5, Release{Seq{2}})}).batch);
    EXPECT_TRUE(decoded.session.is_set());
    leave_out_requests(decoded, Seq{6});
    EXPECT_TRUE(decoded.commands.empty());
    EXPECT_FALSE(decoded.session.is_set());
}

TEST(DecodedForward, DeclinesUnderItsNumberWhatBeginsSomething) {
    auto decoded = three_requests();
    decline_acquiring(decoded);
    EXPECT_EQ(decoded.batch, forward_with({request(3, Declined{}), request(4, Release{Seq{1}}),
                                           request(5, Release{Seq{2}})})
                                 .batch);
}

TEST(DecodedForward, AnOpeningHasTheAccessOfItsCertificate) {
    OpenSession opening;
    opening.nonce = 1;
    opening.node = NodeId{2};
    opening.generation = {Incarnation{12}, BootEpoch{1}};
    opening.ttl_ms = 10'000;
    auto decoded = look({opening});
    const Access of_certificate{};
    ASSERT_NE(opening.access, of_certificate);
    set_access(decoded, NodeId{3}, of_certificate);
    EXPECT_EQ(std::get<OpenSession>(decoded.commands.front()).access, opening.access);
    set_access(decoded, NodeId{2}, of_certificate);
    opening.access = of_certificate;
    EXPECT_EQ(decoded.batch, forward_with({opening}).batch);
}

}  // namespace
}  // namespace mortise::core::test
