#include "core/node/inbound.hpp"

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

Inbound look(const std::vector<Command>& commands) {
    return look_into(forward_with(commands), command_format_newest);
}

// An upgrade with the first number, and two releases after it.
Inbound three_requests() {
    return look(
        {request(3, Upgrade{Seq{1}}), request(4, Release{Seq{1}}), request(5, Release{Seq{2}})});
}

TEST(Inbound, KnowsWhichRequestsOfWhichSessionItHas) {
    const auto inbound = three_requests();
    EXPECT_FALSE(inbound.is_malformed);
    EXPECT_EQ(inbound.session, session);
    EXPECT_EQ(inbound.first, Seq{3});
    EXPECT_EQ(inbound.last, Seq{5});
}

TEST(Inbound, WhatHasAGapOrIsNoBatchIsMalformed) {
    EXPECT_TRUE(look({request(3, Release{Seq{1}}), request(5, Release{Seq{2}})}).is_malformed);
    const auto whole = forward_with({request(3, Release{Seq{1}})}).batch;
    const Forward no_batch{Bytes{std::string{whole.view().substr(1)}}, std::nullopt};
    const auto inbound = look_into(no_batch, command_format_newest);
    EXPECT_TRUE(inbound.is_malformed);
    EXPECT_TRUE(inbound.batch.empty());
}

TEST(Inbound, LeavesOutWhatComesBeforeTheNextRequest) {
    auto inbound = three_requests();
    const auto whole = inbound.batch;
    leave_out_requests(inbound, Seq{3});
    EXPECT_EQ(inbound.batch, whole);
    leave_out_requests(inbound, Seq{5});
    EXPECT_EQ(inbound.batch, forward_with({request(5, Release{Seq{2}})}).batch);
    EXPECT_TRUE(inbound.session.is_set());
    leave_out_requests(inbound, Seq{6});
    EXPECT_TRUE(inbound.commands.empty());
    EXPECT_FALSE(inbound.session.is_set());
}

TEST(Inbound, DeclinesUnderItsNumberWhatBeginsSomething) {
    auto inbound = three_requests();
    decline_what_begins(inbound);
    EXPECT_EQ(inbound.batch, forward_with({request(3, Declined{}), request(4, Release{Seq{1}}),
                                           request(5, Release{Seq{2}})})
                                 .batch);
}

TEST(Inbound, AnOpeningHasTheAccessOfItsCertificate) {
    OpenSession opening;
    opening.nonce = 1;
    opening.node = NodeId{2};
    opening.generation = {Incarnation{12}, BootEpoch{1}};
    opening.ttl_ms = 10'000;
    auto inbound = look({opening});
    const Access of_certificate{};
    ASSERT_NE(opening.access, of_certificate);
    set_access(inbound, NodeId{3}, of_certificate);
    EXPECT_EQ(std::get<OpenSession>(inbound.commands.front()).access, opening.access);
    set_access(inbound, NodeId{2}, of_certificate);
    opening.access = of_certificate;
    EXPECT_EQ(inbound.batch, forward_with({opening}).batch);
}

}  // namespace
}  // namespace mortise::core::test
