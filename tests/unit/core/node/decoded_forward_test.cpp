#include "core/node/decoded_forward.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

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

TEST(DecodedForward, APartWithAnOpeningIsSealed) {
    const OpenSession opening{1, NodeId{2}, {Incarnation{3}, BootEpoch{4}}, 5, 6, false};
    std::vector<Command> commands(entry_commands_max, Acknowledge{session, LogIndex{1}});
    commands.emplace_back(opening);
    const auto parts = divided(look(commands), nullptr, {});
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_FALSE(parts[0].is_sealed);
    EXPECT_TRUE(parts[1].is_sealed);
}

Acquire acquire_of(std::size_t names) {
    Acquire acquire;
    acquire.which = Acquire::Which::all;
    for (std::size_t i = 0; i < names; ++i)
        acquire.names.push_back({std::string(1, static_cast<char>('!' + i))});
    return acquire;
}

// P10: whoever sends it, an entry has no more names than are applied in a moment.
TEST(DecodedForward, WhatIsMoreThanAnEntryIsDivided) {
    std::vector<Command> all;
    for (std::uint64_t seq = 1; seq <= 300; ++seq)
        all.emplace_back(request(seq, acquire_of(seq % names_at_once_max + 1)));
    const auto decoded = look(all);
    EXPECT_FALSE(is_an_entry(names_in(decoded, nullptr, {})));
    std::vector<Command> again;
    for (const auto& part : divided(decoded, nullptr, {})) {
        EXPECT_EQ(part.turn, session);
        EXPECT_LE(part.names, entry_commands_max);
        const auto commands = decode_batch(part.bytes).value();
        EXPECT_EQ(commands.size(), part.commands);
        again.insert(again.end(), commands.begin(), commands.end());
    }
    EXPECT_EQ(again, all);
}

TEST(DecodedForward, CountsWhatARequestEnds) {
    LockMachine machine;
    Outcomes outcomes;
    auto apply = [&, index = LogIndex{}](const Command& command) mutable {
        index = index.next();
        machine.apply(index, {command}, outcomes);
    };
    const auto in = [&](const RequestBody& body) {
        return names_in(look({Request{machine.sessions().newest(), Seq{9}, body}}),
                        machine.sessions().find(machine.sessions().newest()), {});
    };
    apply(opening_of(NodeId{1}, 10'000));
    const auto own = machine.sessions().newest();
    Acquire one;
    one.names.push_back({"one"});
    apply(Request{own, Seq{1}, one});
    EXPECT_EQ(in(Release{Seq{1}}), 1U);
    apply(Request{own, Seq{2}, acquire_of(names_at_once_max)});
    ASSERT_EQ(machine.sessions().find(own)->operations.size(), 2U);
    EXPECT_EQ(in(Release{Seq{1}}), 1U);
    EXPECT_EQ(in(Release{Seq{2}}), names_at_once_max);
    EXPECT_EQ(in(Cancel{Seq{2}}), names_at_once_max);
    EXPECT_EQ(in(Release{Seq{3}}), 1U);
}

// A session that has no id yet has a turn of its own nevertheless.
TEST(DecodedForward, EachOpeningHasItsTurn) {
    auto opening = opening_of(NodeId{1}, 10'000);
    const auto first = turn_of(look({opening}));
    ++opening.nonce;
    EXPECT_NE(turn_of(look({opening})), first);
    EXPECT_EQ(turn_of(look({Acknowledge{session, LogIndex{1}}})), session);
    EXPECT_EQ(turn_of(three_requests()), session);
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
