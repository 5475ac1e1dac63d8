#include "transport/wire/convert.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/encoding.h>

#include "core/base/prng.hpp"
#include "core/raft/bounds.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::transport {
namespace {

using core::LogId;
using core::LogIndex;
using core::Prng;
using core::Term;

constexpr auto all_bits = std::numeric_limits<std::uint64_t>::max();

// --- random values ------------------------------------------------------------------------------

// Small numbers, large ones, and the ends of their range.
std::uint64_t number(Prng& prng, std::uint64_t max = all_bits) {
    switch (prng.below(4)) {
        case 0: return prng.below(4);
        case 1: return max - prng.below(4);
        default: return prng.below(max);
    }
}
std::uint64_t positive(Prng& prng, std::uint64_t max = all_bits) {
    return std::max<std::uint64_t>(number(prng, max), 1);
}
LogIndex index(Prng& prng) {
    return LogIndex{number(prng, core::log_index_max)};
}
Term any_term(Prng& prng) {
    return Term{number(prng, core::term_end - 1)};
}
LogId log_id(Prng& prng) {
    return {any_term(prng), index(prng)};
}
std::string text(Prng& prng, std::size_t max) {
    std::string text(prng.below(max + 1), '\0');
    for (auto& byte : text)
        byte = static_cast<char>(prng.next());
    return text;
}
bool coin(Prng& prng) {
    return prng.one_in(2);
}

core::Entry entry(Prng& prng, LogIndex at) {
    return {{Term{positive(prng, core::term_end - 1)}, at},
            static_cast<core::EntryKind>(1 + prng.below(3)),
            number(prng),
            core::Bytes{text(prng, prng.one_in(20) ? 5'000 : 40)}};
}

core::AppendRequest append_request(Prng& prng) {
    core::AppendRequest m{any_term(prng), log_id(prng), index(prng), index(prng), number(prng), {}};
    const auto count = prng.below(6);
    m.previous.index = LogIndex{number(prng, core::log_index_max - count)};
    for (std::uint64_t i = 1; i <= count; ++i)
        m.entries.push_back(entry(prng, LogIndex{m.previous.index.raw() + i}));
    m.quiet = coin(prng);
    if (coin(prng)) m.transfer_target = core::NodeId{number(prng)};
    return m;
}

core::PreVoteReply pre_vote_reply(Prng& prng) {
    core::PreVoteReply m{any_term(prng), number(prng), coin(prng)};
    if (coin(prng)) m.voted_for = core::NodeId{number(prng)};
    m.configuration = index(prng);
    return m;
}

core::AppendReply append_reply(Prng& prng) {
    core::AppendReply m{any_term(prng), number(prng), coin(prng), index(prng),
                        index(prng),    log_id(prng), {}};
    for (auto count = prng.below(6); count > 0; --count)
        m.run_out.push_back({core::SessionId{positive(prng)}, index(prng)});
    for (auto count = prng.below(6); count > 0; --count)
        m.closures_run_out.emplace_back(positive(prng));
    return m;
}

core::Forward forward(Prng& prng) {
    core::Forward m{core::Bytes{text(prng, 60)}, {}};
    if (coin(prng)) m.renewal = core::Renewal{core::SessionId{positive(prng)}, number(prng)};
    return m;
}

core::Configuration configuration(Prng& prng) {
    core::Configuration configuration;
    configuration.cluster = {positive(prng), number(prng)};
    for (std::uint64_t id = 1 + prng.below(4); id > 0; --id) {
        configuration.voters.insert(
            configuration.voters.begin(),
            {core::NodeId{2 * id}, core::Incarnation{positive(prng)}, text(prng, 30)});
    }
    if (coin(prng)) configuration.learners = {{core::NodeId{9}, core::Incarnation{9}, "x"}};
    return configuration;
}

core::SnapshotChunk snapshot_chunk(Prng& prng) {
    core::SnapshotChunk m{any_term(prng), log_id(prng), configuration(prng), number(prng), {},
                          coin(prng),     number(prng), coin(prng)};
    const auto count = prng.below(6);
    for (std::uint64_t i = 0; i < count; ++i) {
        m.rows.push_back({std::string(1, static_cast<char>('a' + i)) + text(prng, 60),
                          text(prng, prng.one_in(20) ? 5'000 : 40)});
    }
    return m;
}

core::MembershipRequest membership_request(Prng& prng) {
    core::MembershipRequest m;
    m.id = core::ChangeId{number(prng)};
    m.goal = {static_cast<core::MembershipGoal::Kind>(prng.below(5)), core::NodeId{positive(prng)},
              text(prng, address_bytes_max)};
    m.configuration = index(prng);
    m.term = any_term(prng);
    m.begun = coin(prng);
    return m;
}

core::MembershipReply membership_reply(Prng& prng) {
    return {core::ChangeId{number(prng)}, static_cast<core::MembershipReply::State>(prng.below(5)),
            static_cast<core::MembershipRefusal>(prng.below(15)), index(prng), any_term(prng)};
}

constexpr std::uint64_t message_kinds = 20;

core::PeerMessage message(Prng& prng, std::uint64_t kind) {
    const Term term{number(prng, core::term_end - 1)};
    switch (kind) {
        case 0: return core::RaftMessage{core::PreVoteRequest{term, number(prng), log_id(prng)}};
        case 1: return core::RaftMessage{pre_vote_reply(prng)};
        case 2:
            return core::RaftMessage{
                core::VoteRequest{term, number(prng), log_id(prng), coin(prng)}};
        case 3: return core::RaftMessage{core::VoteReply{term, number(prng), coin(prng)}};
        case 4: return core::RaftMessage{append_request(prng)};
        case 5: return core::RaftMessage{append_reply(prng)};
        case 6: return core::RaftMessage{core::TimeoutNow{term, log_id(prng)}};
        case 7: return core::RaftMessage{core::ReadRequest{term, core::ReadId{positive(prng)}}};
        case 8:
            return core::RaftMessage{
                core::ReadReply{term, core::ReadId{positive(prng)}, index(prng)}};
        case 9: return core::FormationOffer{entry(prng, LogIndex{1})};
        case 10: return core::RaftMessage{snapshot_chunk(prng)};
        case 11:
            return core::RaftMessage{
                core::SnapshotReply{term, log_id(prng), number(prng), coin(prng), coin(prng)}};
        case 12: return core::RaftMessage{core::NotAMember{term, log_id(prng)}};
        case 13: return membership_request(prng);
        case 14: return membership_reply(prng);
        case 15:
            return core::Superseded{
                {core::Incarnation{number(prng)}, core::BootEpoch{number(prng)}, number(prng)}};
        case 16: return core::FormationQuestion{number(prng), number(prng)};
        case 17: return core::FormationAnswer{number(prng)};
        case 18: return core::StreamGap{core::SessionId{number(prng)}, core::Seq{number(prng)}};
        default: return forward(prng);
    }
}

core::OperationId operation(Prng& prng) {
    return {core::SessionId{positive(prng)}, core::Seq{positive(prng)}};
}

core::Slots slots(Prng& prng) {
    core::Slots slots;
    auto next = static_cast<std::uint32_t>(prng.below(60'000));
    for (auto count = 1 + prng.below(4); count > 0; --count)
        slots.push_back(next += 1 + static_cast<std::uint32_t>(prng.below(1'000)));
    return slots;
}

core::Origin origin(Prng& prng) {
    return {std::string(1 + prng.below(core::origin_host_bytes_max), 'h'),
            std::string(prng.below(core::origin_program_bytes_max), 'p'), number(prng),
            std::string(prng.below(core::origin_address_bytes_max), 'a')};
}

void add_ages_and_origins(Prng& prng, core::LockView& view) {
    for (const auto& [session, node] : view.nodes)
        if (coin(prng)) view.origins[session] = origin(prng);
    for (const auto& holder : view.holders)
        if (coin(prng)) view.ages[holder.since] = core::Nanoseconds{prng.below(1U << 30U)};
    for (const auto& waiter : view.waiters)
        if (coin(prng)) view.ages[waiter.since] = core::Nanoseconds{prng.below(1U << 30U)};
}

core::LockView lock(Prng& prng, std::uint64_t number_in_list) {
    core::LockView view;
    view.name = std::string(1, static_cast<char>(number_in_list)) + text(prng, 20);
    view.policy = static_cast<core::QueuePolicy>(prng.below(4));
    const auto mode = [&] { return static_cast<core::LockMode>(prng.below(core::lock_modes)); };
    for (auto count = prng.below(4); count > 0; --count)
        view.holders.push_back({operation(prng), mode(), core::FencingToken{positive(prng)},
                                index(prng), text(prng, core::label_bytes_max)});
    for (auto count = prng.below(4); count > 0; --count)
        view.waiters.push_back(
            {operation(prng), mode(), index(prng), text(prng, core::label_bytes_max),
             static_cast<core::Priority>(prng.below(8)), core::Seq{number(prng)}});
    if (coin(prng)) {
        view.become(
            core::Semaphore::View{static_cast<std::uint32_t>(prng.below(70'000)), positive(prng)});
        for (auto& holder : view.holders)
            holder.slots = slots(prng);
        for (auto& waiter : view.waiters)
            waiter.permits = static_cast<std::uint32_t>(prng.below(core::permits_max));
    }
    const auto few = [&] { return static_cast<std::uint32_t>(prng.below(9)); };
    if (coin(prng)) {
        core::Barrier::View barrier{few(), few(), number(prng), coin(prng)};
        for (auto count = prng.below(4); count > 0; --count)
            barrier.members.push_back(
                {core::SessionId{positive(prng)}, core::NodeId{number(prng)}, few(), few()});
        view.become(std::move(barrier));
    }
    if (coin(prng)) view.become(core::Latch::View{static_cast<std::uint32_t>(prng.below(9))});
    for (const auto& holder : view.holders)
        view.nodes[holder.operation.session] = core::NodeId{prng.below(3)};  // 0: a client node
    for (const auto& waiter : view.waiters)
        view.nodes[waiter.operation.session] = core::NodeId{positive(prng)};
    add_ages_and_origins(prng, view);
    view.holders_total = number(prng);
    view.waiters_total = number(prng);
    for (auto count = prng.below(4); count > 0; --count) {
        core::LockView::Closing closing;
        closing.kind = static_cast<core::Closure::Kind>(prng.below(4));
        closing.token = core::FencingToken{positive(prng)};
        if (coin(prng)) closing.left = core::Nanoseconds{static_cast<int>(prng.below(1'000'000))};
        view.closings.push_back(closing);
    }
    view.closings_total = view.closings.size();
    view.is_closed = coin(prng);
    view.closed_under = core::FencingToken{number(prng)};
    if (coin(prng)) view.value = core::LockValue{text(prng, 60), positive(prng), coin(prng)};
    return view;
}

ListReply list_reply(Prng& prng) {
    ListReply reply;
    const auto count = prng.below(5);
    for (std::uint64_t i = 0; i < count; ++i)
        reply.locks.push_back(lock(prng, 'a' + i));
    reply.more = count > 0 && coin(prng);
    return reply;
}

MemberStatus status(Prng& prng) {
    MemberStatus status;
    status.self = core::NodeId{positive(prng)};
    status.cluster = {number(prng), number(prng)};
    status.role = static_cast<core::Role>(prng.below(4));
    status.ready = coin(prng);
    status.term = any_term(prng);
    if (coin(prng)) status.leader = core::NodeId{positive(prng)};
    for (auto* each : {&status.commit, &status.applied, &status.log_first, &status.log_last})
        *each = index(prng);
    for (auto count = prng.below(5); count > 0; --count) {
        status.members.push_back(
            {{core::NodeId{positive(prng)}, core::Incarnation{number(prng)}, text(prng, 60)},
             coin(prng),
             coin(prng),
             index(prng)});
    }
    status.sessions = number(prng);
    status.names = number(prng);
    status.uptime = core::Nanoseconds{
        static_cast<std::int64_t>(number(prng, std::numeric_limits<std::int64_t>::max()))};
    status.version = text(prng, text_bytes_max);
    status.why_not_ready = std::string(prng.below(3) * 500, 'w');
    status.cluster_name = text(prng, text_bytes_max);
    if (coin(prng)) status.session = core::SessionId{positive(prng)};
    status.load = {number(prng), number(prng)};
    return status;
}

Greeting greeting(Prng& prng) {
    Greeting greeting;
    greeting.lowest = static_cast<std::uint16_t>(prng.below(100));
    greeting.highest = static_cast<std::uint16_t>(greeting.lowest + prng.below(100));
    greeting.features = number(prng);
    greeting.purpose = static_cast<Purpose>(prng.below(3));
    auto& hello = greeting.hello;
    hello = {core::NodeId{positive(prng)},
             {core::Incarnation{positive(prng)}, core::BootEpoch{positive(prng)}, number(prng)},
             {number(prng), number(prng)},
             {},
             static_cast<std::uint8_t>(1 + prng.below(255)),
             std::string(prng.below(3) * 20, 'a'),
             {core::Nanoseconds{prng.below(1U << 30U)}, core::Nanoseconds{prng.below(1U << 30U)},
              core::Nanoseconds{prng.below(1U << 30U)}},
             std::string(prng.below(3) * 32, 'c')};
    if (greeting.purpose == Purpose::client) hello = {{}, {}, hello.cluster, {}};
    for (std::uint64_t voter = prng.below(5); voter > 0; --voter)
        hello.voters.insert(hello.voters.begin(), core::NodeId{voter * 3});
    return greeting;
}

// --- through bytes and back ---------------------------------------------------------------------

// The bytes on the wire, without the header of the frame.
template <class Wire, class Value>
kj::Array<capnp::word> bytes_with(const Value& value) {
    capnp::MallocMessageBuilder message;
    write(value, message.initRoot<Wire>());
    return capnp::messageToFlatArray(message);
}

capnp::ReaderOptions reader_options() {
    return {.traversalLimitInWords = traversal_words_max, .nestingLimit = nesting_max};
}

template <class Wire>
auto read_words(kj::ArrayPtr<const capnp::word> words)
    -> decltype(read(std::declval<typename Wire::Reader>())) {
    try {
        capnp::FlatArrayMessageReader reader{words, reader_options()};
        return read_guarded([&] { return reader.getRoot<Wire>(); });
    } catch (const kj::Exception&) {  // not a frame
        return core::Error{Malformed::bad_pointer, "frame"};
    }
}

// Alternatives have no comparison of their own.
bool same(const core::PeerMessage& a, const core::PeerMessage& b) {
    return a.index() == b.index() &&
           bytes_with<wire::PeerMessage>(a).asBytes() == bytes_with<wire::PeerMessage>(b).asBytes();
}

TEST(Convert, EveryKindOfPeerMessageRoundTrips) {
    Prng prng{1};
    for (int run = 0; run < 300; ++run) {
        for (std::uint64_t kind = 0; kind < message_kinds; ++kind) {
            const auto before = message(prng, kind);
            const auto after = read_words<wire::PeerMessage>(bytes_with<wire::PeerMessage>(before));
            ASSERT_TRUE(after) << kind << ": " << after.error().what;
            EXPECT_TRUE(same(before, *after)) << kind;
        }
    }
}

// The comparison above uses write(), so this test compares every field itself.
TEST(Convert, AnAppendRequestArrivesFieldByField) {
    core::AppendRequest sent{Term{9}, {Term{8}, LogIndex{41}}, LogIndex{40}, LogIndex{30}, 77, {}};
    sent.entries.push_back({{Term{8}, LogIndex{42}},
                            core::EntryKind::configuration,
                            5,
                            core::Bytes{std::string{"one"}}});
    sent.entries.push_back({{Term{9}, LogIndex{43}}, core::EntryKind::noop, 6, {}});
    const auto read_back = read_words<wire::PeerMessage>(
        bytes_with<wire::PeerMessage>(core::PeerMessage{core::RaftMessage{sent}}));
    ASSERT_TRUE(read_back);
    const auto& got = std::get<core::AppendRequest>(std::get<core::RaftMessage>(*read_back));
    EXPECT_EQ(got.term, sent.term);
    EXPECT_EQ(got.previous, sent.previous);
    EXPECT_EQ(got.commit, sent.commit);
    EXPECT_EQ(got.replicated, sent.replicated);
    EXPECT_EQ(got.read_round, sent.read_round);
    EXPECT_EQ(got.quiet, sent.quiet);
    EXPECT_EQ(got.entries, sent.entries);
    EXPECT_EQ(got.transfer_target, std::nullopt);  // as of an older version
}

TEST(Convert, AnAppendReplyArrivesFieldByField) {
    const core::AppendReply sent{
        Term{9},
        7,
        true,
        LogIndex{3},
        LogIndex{4},
        {Term{2}, LogIndex{1}},
        {{core::SessionId{5}, LogIndex{6}}, {core::SessionId{7}, LogIndex{8}}}};
    const auto read_back = read_words<wire::PeerMessage>(
        bytes_with<wire::PeerMessage>(core::PeerMessage{core::RaftMessage{sent}}));
    ASSERT_TRUE(read_back);
    const auto& got = std::get<core::AppendReply>(std::get<core::RaftMessage>(*read_back));
    EXPECT_EQ(got.term, sent.term);
    EXPECT_EQ(got.read_round, sent.read_round);
    EXPECT_EQ(got.rejected, sent.rejected);
    EXPECT_EQ(got.match, sent.match);
    EXPECT_EQ(got.previous, sent.previous);
    EXPECT_EQ(got.hint, sent.hint);
    EXPECT_EQ(got.run_out, sent.run_out);
    EXPECT_EQ(got.closures_run_out, sent.closures_run_out);
}

core::RaftMessage through(const core::RaftMessage& m) {
    return std::get<core::RaftMessage>(
        read_words<wire::PeerMessage>(bytes_with<wire::PeerMessage>(core::PeerMessage{m})).value());
}

TEST(Convert, WhatAMemberSaysAboutItsVoteAndItsTransferArrives) {
    for (const auto node : {core::NodeId{}, core::NodeId{7}}) {
        const auto reply = std::get<core::PreVoteReply>(
            through(core::PreVoteReply{Term{5}, 6, true, node, LogIndex{8}}));
        EXPECT_EQ(std::tuple(reply.term, reply.round, reply.granted),
                  std::tuple(Term{5}, 6U, true));
        EXPECT_EQ(reply.voted_for, node);
        EXPECT_EQ(reply.configuration, LogIndex{8});
        core::AppendRequest request;
        request.transfer_target = node;
        EXPECT_EQ(std::get<core::AppendRequest>(through(request)).transfer_target, node);
    }
    const auto older = std::get<core::PreVoteReply>(through(core::PreVoteReply{Term{5}, 6, true}));
    EXPECT_EQ(older.voted_for, std::nullopt);
}

TEST(Convert, SnapshotsArriveFieldByField) {
    Prng prng{7};
    const LogId last{Term{3}, LogIndex{4}};
    const core::SnapshotChunk sent{
        Term{5}, last, configuration(prng), 6, {{"a", ""}, {"b", std::string("\0x", 2)}}, true,
        7,       true};
    const auto got = std::get<core::SnapshotChunk>(through(sent));
    EXPECT_EQ(std::tuple(got.term, got.last, got.position, got.done, got.checksum, got.cut),
              std::tuple(Term{5}, last, 6U, true, 7U, true));
    EXPECT_EQ(got.configuration, sent.configuration);
    EXPECT_EQ(got.rows, sent.rows);
    for (const bool installed : {true, false}) {
        const auto reply = std::get<core::SnapshotReply>(
            through(core::SnapshotReply{Term{5}, last, 8, installed, !installed}));
        EXPECT_EQ(std::tuple(reply.term, reply.last, reply.next, reply.installed, reply.refused),
                  std::tuple(Term{5}, last, 8U, installed, !installed));
    }
    const auto gone = std::get<core::NotAMember>(through(core::NotAMember{Term{5}, last}));
    EXPECT_EQ(std::tuple(gone.term, gone.configuration), std::tuple(Term{5}, last));
}

TEST(Convert, ChangesOfTheMembersArriveFieldByField) {
    const core::MembershipRequest sent{
        core::ChangeId{3},
        {core::MembershipGoal::Kind::learner, core::NodeId{4}, "four:4"},
        LogIndex{5},
        Term{6},
        true};
    const auto got = std::get<core::MembershipRequest>(
        read_words<wire::PeerMessage>(bytes_with<wire::PeerMessage>(core::PeerMessage{sent}))
            .value());
    EXPECT_EQ(std::tuple(got.id, got.goal, got.configuration, got.term, got.begun),
              std::tuple(sent.id, sent.goal, sent.configuration, sent.term, sent.begun));
    const core::MembershipReply said{core::ChangeId{3}, core::MembershipReply::State::refused,
                                     core::MembershipRefusal::too_old, LogIndex{5}, Term{6}};
    const auto heard = std::get<core::MembershipReply>(
        read_words<wire::PeerMessage>(bytes_with<wire::PeerMessage>(core::PeerMessage{said}))
            .value());
    EXPECT_EQ(std::tuple(heard.id, heard.state, heard.why, heard.configuration, heard.term),
              std::tuple(said.id, said.state, said.why, said.configuration, said.term));
}

TEST(Convert, VotesAndTransfersArriveFieldByField) {
    const LogId last{Term{3}, LogIndex{4}};
    const auto pre =
        std::get<core::PreVoteRequest>(through(core::PreVoteRequest{Term{1}, 2, last}));
    EXPECT_EQ(std::tuple(pre.term, pre.round, pre.last), std::tuple(Term{1}, 2U, last));
    const auto vote =
        std::get<core::VoteRequest>(through(core::VoteRequest{Term{1}, 2, last, true}));
    EXPECT_EQ(std::tuple(vote.term, vote.round, vote.last, vote.transfer),
              std::tuple(Term{1}, 2U, last, true));
    const auto reply = std::get<core::VoteReply>(through(core::VoteReply{Term{1}, 2, true}));
    EXPECT_EQ(std::tuple(reply.term, reply.round, reply.granted), std::tuple(Term{1}, 2U, true));
    const auto now = std::get<core::TimeoutNow>(through(core::TimeoutNow{Term{1}, last}));
    EXPECT_EQ(std::tuple(now.term, now.last), std::tuple(Term{1}, last));
    const auto read =
        std::get<core::ReadReply>(through(core::ReadReply{Term{1}, core::ReadId{2}, LogIndex{3}}));
    EXPECT_EQ(std::tuple(read.term, read.id, read.index),
              std::tuple(Term{1}, core::ReadId{2}, LogIndex{3}));
}

TEST(Convert, ABatchKeepsItsOrder) {
    Prng prng{2};
    std::vector<core::PeerMessage> batch;
    for (std::uint64_t i = 0; i < 40; ++i)
        batch.push_back(message(prng, i % message_kinds));
    capnp::MallocMessageBuilder builder;
    const auto size = static_cast<unsigned>(batch.size());
    auto list = builder.initRoot<capnp::AnyPointer>().initAs<capnp::List<wire::PeerMessage>>(size);
    write(batch, list);
    const auto after = read(list.asReader());
    ASSERT_TRUE(after);
    ASSERT_EQ(after->size(), batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i)
        EXPECT_TRUE(same(batch[i], (*after)[i])) << i;
}

TEST(Convert, AMessageWeighsWhatItTakes) {
    Prng prng{3};
    for (int run = 0; run < 300; ++run) {
        const auto one = message(prng, prng.below(message_kinds));
        // As an element of a list: the root pointer does not count.
        const auto took = bytes_with<wire::PeerMessage>(one).size();
        EXPECT_LE(took, wire_words(one) + 8);  // the header, and the overhead of a second segment
        EXPECT_GE(took + 4, wire_words(one));
    }
}

template <class Wire, class Value>
void expect_round_trip(const Value& value) {
    const auto after = read_words<Wire>(bytes_with<Wire>(value));
    ASSERT_TRUE(after) << after.error().what;
    EXPECT_TRUE(*after == value);
}

TEST(Convert, WhatClientsSayAndHearRoundTrips) {
    Prng prng{5};
    for (int run = 0; run < 300; ++run) {
        expect_round_trip<wire::Hello>(greeting(prng));
        expect_round_trip<wire::Status>(status(prng));
        expect_round_trip<wire::ListRequest>(ListRequest{
            text(prng, core::name_bytes_max), text(prng, 20), 1 + prng.below(1'024), coin(prng)});
        expect_round_trip<wire::ListAnswer>(ListAnswer{list_reply(prng)});
    }
}

TEST(Convert, EveryFailureRoundTrips) {
    for (int i = 0; i <= static_cast<int>(core::CallError::invalid_argument); ++i)
        expect_round_trip<wire::ListAnswer>(ListAnswer{static_cast<core::CallError>(i)});
}

TEST(Convert, ADenialSaysWhatWasMissing) {
    const core::Denied denied{R"(user alice may not observe "x")"};
    expect_round_trip<wire::ListAnswer>(ListAnswer{denied});
    const core::Denied too_long{std::string(100'000, 'w')};
    const auto answer =
        read_words<wire::ListAnswer>(bytes_with<wire::ListAnswer>(ListAnswer{too_long}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<core::Denied>(*answer).why, std::string(4'096, 'w'));
}

TEST(Convert, EveryRefusalRoundTripsAndOneOfALaterVersionIsStillARefusal) {  // P12
    capnp::MallocMessageBuilder builder;
    auto refused = builder.initRoot<wire::Refused>();
    for (int i = 0; i <= static_cast<int>(Refusal::copied); ++i) {
        const auto refusal = static_cast<Refusal>(i);
        write(refusal, refused);
        EXPECT_EQ(read(refused.asReader()), refusal);
        EXPECT_EQ(bytes_of(refused.asReader().getText()), to_string(refusal));
    }
    refused.setReason(static_cast<wire::Refusal>(99));
    EXPECT_EQ(read(refused.asReader()), Refusal::unspecified);
}

TEST(Convert, APageThatGrowsTooLongEndsEarlierAndSaysSo) {
    Prng prng{7};
    ListReply reply;
    for (std::uint64_t i = 0; i < 4; ++i) {
        reply.locks.push_back(lock(prng, 'a' + i));
        reply.locks.back().waiters.assign(
            2'000,
            {operation(prng), core::LockMode::shared, LogIndex{1}, std::string(256, 'x'), {}, {}});
        auto& told = reply.locks.back();
        told.waiters_total = 2'000;
        told.nodes[told.waiters.front().operation.session] = core::NodeId{1};
    }
    const auto words = bytes_with<wire::ListAnswer>(ListAnswer{reply});
    EXPECT_LT(words.size(), answer_frame_words_max);
    const auto answer = read_words<wire::ListAnswer>(words);
    ASSERT_TRUE(answer);
    const auto& told = std::get<ListReply>(*answer);
    EXPECT_GE(told.locks.size(), 1U);
    EXPECT_LT(told.locks.size(), 4U);
    EXPECT_EQ(told.locks.front().waiters.size(), list_holders_max);
    EXPECT_EQ(told.locks.front().waiters_total, 2'000U);
    EXPECT_TRUE(told.more);
}

TEST(Convert, ALockWithEverythingAtItsLimitFitsIntoOneAnswer) {  // P11
    Prng prng{9};
    ListReply reply;
    auto& lock = reply.locks.emplace_back();
    lock.name = std::string(core::name_bytes_max, 'n');
    const core::Origin longest{std::string(core::origin_host_bytes_max, 'h'),
                               std::string(core::origin_program_bytes_max, 'p'), ~std::uint64_t{0},
                               std::string(core::origin_address_bytes_max, 'a')};
    const std::string label(core::label_bytes_max, 'l');
    for (std::uint64_t i = 1; i <= 2 * list_holders_max; ++i) {
        const core::OperationId of{core::SessionId{i}, core::Seq{1}};
        lock.nodes[of.session] = core::NodeId{1};
        lock.origins[of.session] = longest;
        lock.ages[LogIndex{i}] = core::Nanoseconds{1};
        if (i <= list_holders_max) {
            auto& holder = lock.holders.emplace_back(core::Grant{
                of, core::LockMode::exclusive, core::FencingToken{i}, LogIndex{i}, label});
            for (std::uint32_t slot = 0; slot < 64; ++slot)
                holder.slots.push_back(slot);
        } else {
            lock.waiters.push_back({of, core::LockMode::shared, LogIndex{i}, label, {}, {}});
        }
    }
    lock.value = core::LockValue{std::string(core::value_bytes_max, 'v'), 1, false};
    lock.holders_total = lock.waiters_total = list_holders_max;
    const auto words = bytes_with<wire::ListAnswer>(ListAnswer{reply});
    EXPECT_LT(words.size(), answer_frame_words_max);
    const auto answer = read_words<wire::ListAnswer>(words);
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<ListReply>(*answer).locks.front(), lock);
}

TEST(Convert, SessionsAndChangesSayFromWhereTheyCome) {
    Prng prng{10};
    SessionsReply reply;
    auto& session = reply.sessions.emplace_back();
    session.id = core::SessionId{4};
    expect_round_trip<wire::SessionsAnswer>(SessionsAnswer{reply});
    session.origin = origin(prng);
    session.age = core::Nanoseconds{7};
    expect_round_trip<wire::SessionsAnswer>(SessionsAnswer{reply});
    core::NameState state{"a", {}, {}, {}};
    for (std::uint64_t i = 1; i <= 2; ++i) {
        state.holders.push_back(
            {operation(prng), core::LockMode::shared, core::FencingToken{i}, LogIndex{i}, {}});
        state.nodes.emplace_back(i);
    }
    core::NameChange change;
    change.name = "a";
    change.hold = operation(prng);
    ObserveReply told;
    const auto through = [&] {
        auto answer =
            read_words<wire::ObserveAnswer>(bytes_with<wire::ObserveAnswer>(ObserveAnswer{told}));
        return answer ? std::get<ObserveReply>(std::move(*answer)) : ObserveReply{};
    };
    told.events = {{{}, state}, {{}, change}};
    auto plain = through();
    ASSERT_EQ(plain.events.size(), 2U);
    EXPECT_EQ(std::get<core::NameState>(plain.events[0].what).origins,
              std::vector<core::Origin>(2));
    EXPECT_FALSE(plain.events[1].origin.is_set());
    state.origins = {{}, origin(prng)};
    const auto of_change = origin(prng);
    told.events = {{{}, state}, {{}, change, of_change}};
    auto full = through();
    ASSERT_EQ(full.events.size(), 2U);
    EXPECT_EQ(std::get<core::NameState>(full.events[0].what).origins, state.origins);
    EXPECT_EQ(full.events[1].origin, of_change);
}

// The remaining time is not part of the comparison, since it differs between replicas.
TEST(Convert, TellsWhatClosesANameAndForHowLong) {
    ListReply reply;
    auto& lock = reply.locks.emplace_back();
    lock.name = "a";
    using enum core::Closure::Kind;
    for (std::uint64_t token = list_closings_max + 6; token > 0; --token)
        lock.closings.push_back({token % 2 == 0 ? min_hold : lock_delay,
                                 core::FencingToken{token},
                                 {},
                                 core::Nanoseconds{token}});
    lock.closings[1].left.reset();
    lock.closings_total = lock.closings.size();
    const auto answer =
        read_words<wire::ListAnswer>(bytes_with<wire::ListAnswer>(ListAnswer{reply}));
    ASSERT_TRUE(answer);
    const auto& page = std::get<ListReply>(*answer);
    const auto& told = page.locks.front();
    ASSERT_EQ(told.closings.size(), list_closings_max);
    EXPECT_EQ(told.closings_total, list_closings_max + 6);
    EXPECT_EQ(told.closings.front(), lock.closings.front());
    EXPECT_EQ(told.closings[0].left, core::Nanoseconds{list_closings_max + 6});
    EXPECT_EQ(told.closings[1].left, std::nullopt);
}

// --- refusals -----------------------------------------------------------------------------------

// The error for a struct that `spoil` has made invalid.
template <class Wire, class Value>
std::error_code complaint(const Value& value,
                          const std::function<void(typename Wire::Builder)>& spoil) {
    capnp::MallocMessageBuilder message;
    auto root = message.initRoot<Wire>();
    write(value, root);
    EXPECT_TRUE(read(root.asReader()));
    spoil(root);
    const auto result = read(root.asReader());
    return result ? std::error_code{} : result.error().code;
}

std::error_code spoilt(const core::RaftMessage& value,
                       const std::function<void(wire::PeerMessage::Builder)>& spoil) {
    return complaint<wire::PeerMessage>(core::PeerMessage{value}, spoil);
}

core::AppendRequest two_entries() {
    core::AppendRequest m;
    m.term = Term{1};
    m.entries = {{{Term{1}, LogIndex{1}}, core::EntryKind::noop, 0, {}},
                 {{Term{1}, LogIndex{2}}, core::EntryKind::commands, 0, {}}};
    return m;
}

TEST(ConvertMalformed, AnEmptyMessageIsAPreVoteRequestOfNothing) {
    capnp::MallocMessageBuilder message;
    const auto read_back = read(message.initRoot<wire::PeerMessage>().asReader());
    ASSERT_TRUE(read_back);
    EXPECT_TRUE(same(*read_back, core::RaftMessage{core::PreVoteRequest{}}));
}

TEST(ConvertMalformed, MissingPartsAreZeroWhereZeroIsAllowedAndRefusedWhereNot) {
    capnp::MallocMessageBuilder message;
    auto root = message.initRoot<wire::PeerMessage>();
    root.initAppendRequest();
    EXPECT_TRUE(read(root.asReader()));
    root.initFormationOffer();
    EXPECT_EQ(read(root.asReader()).error().code, Malformed::bad_number);
    root.initReadRequest();
    EXPECT_EQ(read(root.asReader()).error().code, Malformed::bad_number);
    root.initForward();
    EXPECT_TRUE(read(root.asReader()));
}

TEST(ConvertMalformed, AnEntryOfAnUnknownKind) {
    for (const int kind : {0, 7, 65'535}) {
        const auto code = spoilt(two_entries(), [&](auto root) {
            root.getAppendRequest().getEntries()[1].setKind(static_cast<wire::EntryKind>(kind));
        });
        EXPECT_EQ(code, Malformed::unknown_kind) << kind;
    }
}

TEST(ConvertMalformed, EntriesWithAGapOrWithoutTermOrIndex) {  // B-D8
    const auto code = [](auto change) {
        return spoilt(two_entries(),
                      [&](auto root) { change(root.getAppendRequest().getEntries()[1]); });
    };
    EXPECT_EQ(code([](auto entry) { entry.setIndex(3); }), Malformed::bad_order);
    EXPECT_EQ(code([](auto entry) { entry.setIndex(1); }), Malformed::bad_order);
    EXPECT_EQ(code([](auto entry) { entry.setIndex(0); }), Malformed::bad_number);
    EXPECT_EQ(code([](auto entry) { entry.setTerm(0); }), Malformed::bad_number);
}

TEST(ConvertMalformed, TermsThatCouldWrap) {
    constexpr auto last = core::term_end - 1;
    const auto code = [](std::uint64_t term) {
        return spoilt(core::PreVoteReply{},
                      [&](auto root) { root.getPreVoteReply().setTerm(term); });
    };
    EXPECT_FALSE(code(last));
    EXPECT_EQ(code(last + 1), Malformed::bad_number);
    EXPECT_EQ(code(all_bits), Malformed::bad_number);
    EXPECT_EQ(spoilt(core::VoteRequest{},
                     [](auto root) { root.getVoteRequest().getLast().setTerm(all_bits); }),
              Malformed::bad_number);
    EXPECT_EQ(
        spoilt(two_entries(),
               [](auto root) { root.getAppendRequest().getEntries()[1].setTerm(core::term_end); }),
        Malformed::bad_number);
    EXPECT_EQ(spoilt(core::AppendRequest{},
                     [](auto root) { root.getAppendRequest().setTerm(core::term_end); }),
              Malformed::bad_number);
}

TEST(ConvertMalformed, IndexesThatCouldWrap) {
    const auto code = [](std::uint64_t index) {
        return spoilt(core::AppendRequest{},
                      [&](auto root) { root.getAppendRequest().getPrevious().setIndex(index); });
    };
    EXPECT_FALSE(code(core::log_index_max));
    EXPECT_EQ(code(core::log_index_max + 1), Malformed::bad_number);
    EXPECT_EQ(code(all_bits), Malformed::bad_number);
    EXPECT_EQ(
        spoilt(core::AppendReply{}, [](auto root) { root.getAppendReply().setMatch(all_bits); }),
        Malformed::bad_number);
    EXPECT_EQ(spoilt(core::VoteRequest{},
                     [](auto root) { root.getVoteRequest().getLast().setIndex(all_bits); }),
              Malformed::bad_number);
}

TEST(ConvertMalformed, ListsAtTheirLimitsAndOneBeyond) {  // P11
    const auto run_outs = [](unsigned count) {
        return spoilt(core::AppendReply{}, [&](auto root) {
            for (auto each : root.getAppendReply().initRunOut(count))
                each.setSession(1);
        });
    };
    EXPECT_FALSE(run_outs(run_outs_max));
    EXPECT_EQ(run_outs(run_outs_max + 1), Malformed::too_many);
    const auto entries = [](unsigned count) {
        return spoilt(core::AppendRequest{}, [&](auto root) {
            std::uint64_t index = 0;
            for (auto each : root.getAppendRequest().initEntries(count)) {
                each.setTerm(1);
                each.setIndex(++index);
                each.setKind(wire::EntryKind::NOOP);
            }
        });
    };
    EXPECT_FALSE(entries(entries_max));
    EXPECT_EQ(entries(entries_max + 1), Malformed::too_many);
}

TEST(ConvertMalformed, PayloadsAtTheirLimitsAndOneByteBeyond) {
    const auto payload = [](unsigned size) {
        return spoilt(two_entries(), [&](auto root) {
            root.getAppendRequest().getEntries()[0].initPayload(size);
        });
    };
    EXPECT_FALSE(payload(payload_bytes_max));
    EXPECT_EQ(payload(payload_bytes_max + 1), Malformed::too_long);
    const auto forwarded = [](unsigned size) {
        return complaint<wire::PeerMessage>(core::PeerMessage{core::Forward{}},
                                            [&](auto root) { root.getForward().initBatch(size); });
    };
    EXPECT_FALSE(forwarded(core::batch_bytes_max));
    EXPECT_EQ(forwarded(core::batch_bytes_max + 1), Malformed::too_long);
}

TEST(ConvertMalformed, AStateThatIsNone) {
    Prng prng{8};
    core::SnapshotChunk chunk{Term{1}, {Term{1}, LogIndex{1}},   configuration(prng),
                              0,       {{"a", "1"}, {"b", "2"}}, false,
                              0};
    const auto code = [&](auto change) {
        return spoilt(chunk, [&](auto root) { change(root.getSnapshotChunk()); });
    };
    const auto key = [&](std::string text) {
        return code([&](auto m) { m.getRows()[1].setKey(data_of(text)); });
    };
    EXPECT_FALSE(key("a\1"));
    EXPECT_EQ(key("a"), Malformed::bad_order);
    EXPECT_EQ(key(""), Malformed::bad_order);
    EXPECT_FALSE(key(std::string(row_key_bytes_max, 'b')));
    EXPECT_EQ(key(std::string(row_key_bytes_max + 1, 'b')), Malformed::too_long);
    EXPECT_EQ(code([](auto m) { m.getLast().setIndex(all_bits); }), Malformed::bad_number);
    EXPECT_EQ(code([](auto m) { m.setConfiguration(data_of("nobody")); }), Malformed::unknown_kind);
    EXPECT_EQ(code([](auto m) { m.disownConfiguration(); }), Malformed::unknown_kind);
    EXPECT_EQ(code([](auto m) { m.initRows(rows_max + 1); }), Malformed::too_many);
    EXPECT_EQ(spoilt(core::SnapshotReply{},
                     [](auto root) { root.getSnapshotReply().getLast().setIndex(all_bits); }),
              Malformed::bad_number);
    EXPECT_EQ(spoilt(core::NotAMember{},
                     [](auto root) { root.getNotAMember().getConfiguration().setIndex(all_bits); }),
              Malformed::bad_number);
}

TEST(ConvertMalformed, ARunOutOfNoSession) {
    EXPECT_EQ(spoilt(core::AppendReply{}, [](auto root) { root.getAppendReply().initRunOut(1); }),
              Malformed::bad_number);
}

std::error_code spoilt_hello(const std::function<void(wire::Hello::Builder)>& spoil) {
    const Greeting sound{.hello = {core::NodeId{1},
                                   {core::Incarnation{2}, core::BootEpoch{3}},
                                   {},
                                   {core::NodeId{1}, core::NodeId{2}}}};
    return complaint<wire::Hello>(sound, spoil);
}

TEST(ConvertMalformed, AHelloOfNobody) {
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setNode(0); }), Malformed::bad_number);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setIncarnation(0); }), Malformed::bad_number);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setBootEpoch(0); }), Malformed::bad_number);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setPurpose(static_cast<wire::Purpose>(3)); }),
              Malformed::unknown_kind);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setProtocolHighest(0); }), Malformed::bad_order);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setCommandFormat(0); }), Malformed::bad_number);
}

TEST(ConvertMalformed, AHelloWithALongAddress) {
    const std::string address(address_bytes_max + 1, 'a');
    EXPECT_EQ(spoilt_hello([&](auto hello) { hello.setAddress(data_of(address)); }),
              Malformed::too_long);
}

TEST(ConvertMalformed, AHelloWithANameThatIsNone) {
    for (const std::string name : {"two words", "a\nb", "\x1b[2J"}) {
        EXPECT_EQ(spoilt_hello([&](auto hello) { hello.setClusterName(data_of(name)); }),
                  Malformed::bad_text);
    }
    const std::string name(core::cluster_name_bytes_max + 1, 'a');
    EXPECT_EQ(spoilt_hello([&](auto hello) { hello.setClusterName(data_of(name)); }),
              Malformed::too_long);
}

TEST(ConvertMalformed, AHelloWithTimesBeyondAllConfigurations) {
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setHeartbeat(UINT64_MAX); }),
              Malformed::bad_number);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setElectionTimeout(1ULL << 63U); }),
              Malformed::bad_number);
    EXPECT_EQ(spoilt_hello([](auto hello) { hello.setSessionTtl(UINT64_MAX); }),
              Malformed::bad_number);
}

TEST(ConvertMalformed, AHelloWithVotersOutOfOrderOrTooMany) {
    const auto voters = [](std::vector<std::uint64_t> ids) {
        return spoilt_hello([&](auto hello) {
            auto list = hello.initVoters(static_cast<unsigned>(ids.size()));
            for (unsigned i = 0; i < list.size(); ++i)
                list.set(i, ids[i]);
        });
    };
    EXPECT_EQ(voters({2, 1}), Malformed::bad_order);
    EXPECT_EQ(voters({1, 1}), Malformed::bad_order);
    EXPECT_EQ(voters({0, 1}), Malformed::bad_order);
    std::vector<std::uint64_t> many;
    while (many.size() < voters_max)
        many.push_back(many.size() + 1);
    EXPECT_FALSE(voters(many));
    many.push_back(many.size() + 1);
    EXPECT_EQ(voters(many), Malformed::too_many);
}

TEST(ConvertMalformed, EnumsOfLocksThatAreNotKnown) {
    Prng prng{8};
    ListReply reply;
    reply.locks.emplace_back().name = "a";
    reply.locks[0].holders.push_back(
        {operation(prng), core::LockMode::shared, core::FencingToken{1}, LogIndex{1}, ""});
    reply.locks[0].nodes[reply.locks[0].holders[0].operation.session] = core::NodeId{1};
    const auto lock_code = [&](auto change) {
        return complaint<wire::ListAnswer>(ListAnswer{reply},
                                           [&](auto root) { change(root.getLocks()[0]); });
    };
    EXPECT_EQ(lock_code([](auto l) { l.setPolicy(static_cast<wire::QueuePolicy>(4)); }),
              Malformed::unknown_kind);
    EXPECT_EQ(lock_code([](auto l) { l.getHolders()[0].setMode(static_cast<wire::LockMode>(6)); }),
              Malformed::unknown_kind);
    EXPECT_EQ(lock_code([](auto l) { l.getHolders()[0].setToken(0); }), Malformed::bad_number);
    EXPECT_EQ(lock_code([](auto l) { l.initName(513); }), Malformed::too_long);
    EXPECT_EQ(lock_code([](auto l) { l.initName(0); }), Malformed::bad_number);
    const auto failure = complaint<wire::ListAnswer>(
        ListAnswer{reply}, [](auto root) { root.setFailed(static_cast<wire::Failure>(14)); });
    EXPECT_EQ(failure, Malformed::unknown_kind);
}

TEST(ConvertMalformed, WhatIsContendedIsBounded) {
    core::ActivityView view;
    view.hottest.emplace_back().name = "a";
    const auto answer_with = [&](auto change) {
        return complaint<wire::ActivityAnswer>(ActivityAnswer{view},
                                               [&](auto root) { change(root.getActivity()); });
    };
    EXPECT_EQ(
        answer_with([](auto of) { of.getHottest()[0].setKind(static_cast<wire::NameKind>(4)); }),
        Malformed::unknown_kind);
    EXPECT_EQ(answer_with([](auto of) { of.getHottest()[0].initName(513); }), Malformed::too_long);
    EXPECT_EQ(answer_with([](auto of) { of.initHottest(65); }), Malformed::too_many);
    EXPECT_EQ(answer_with([](auto of) { of.initPrefixes(65); }), Malformed::too_many);
    EXPECT_EQ(answer_with([](auto of) { of.initSlots(1'025); }), Malformed::too_many);
}

TEST(ConvertMalformed, EachHasItsOwnWords) {
    std::vector<std::string> words;
    for (int i = 1; i <= static_cast<int>(Malformed::bad_pointer); ++i)
        words.push_back(make_error_code(static_cast<Malformed>(i)).message());
    for (std::size_t i = 0; i < words.size(); ++i)
        EXPECT_EQ(std::ranges::count(words, words[i]), 1) << words[i];
}

// --- damage -------------------------------------------------------------------------------------

// Whatever the bytes are: they are refused, or decode to a value that can be encoded and decoded
// again.
template <class Wire>
void expect_refused_or_sound(kj::ArrayPtr<const capnp::word> words, std::uint64_t& taken) {
    const auto result = read_words<Wire>(words);
    if (!result) return;
    ++taken;
    EXPECT_TRUE(read_words<Wire>(bytes_with<Wire>(*result)));
}

template <class Wire, class Value>
void damage(const Value& value, Prng& prng, std::uint64_t& taken) {
    auto words = bytes_with<Wire>(value);
    auto bytes = words.asBytes();
    for (auto changes = 1 + prng.below(3); changes > 0; --changes) {
        auto& byte = bytes[prng.below(bytes.size())];
        byte = coin(prng) ? static_cast<kj::byte>(prng.next())
                          : static_cast<kj::byte>(byte ^ (1U << prng.below(8)));
    }
    const auto size = prng.one_in(8) ? prng.below(words.size() + 1) : words.size();
    expect_refused_or_sound<Wire>(words.slice(0, size), taken);
}

TEST(ConvertDamage, FlippedBytesAreRefusedOrMakeSense) {  // B-F10
    Prng prng{9};
    std::uint64_t taken = 0;
    constexpr int runs = 4'000;
    for (int run = 0; run < runs; ++run) {
        damage<wire::PeerMessage>(message(prng, prng.below(message_kinds)), prng, taken);
        damage<wire::Hello>(greeting(prng), prng, taken);
        damage<wire::Status>(status(prng), prng, taken);
        damage<wire::ListAnswer>(ListAnswer{list_reply(prng)}, prng, taken);
    }
    EXPECT_GT(taken, 100U);
    EXPECT_LT(taken, 4U * runs);
}

TEST(ConvertDamage, RandomWordsAreRefusedOrMakeSense) {  // B-F10
    Prng prng{10};
    std::uint64_t taken = 0;
    for (int run = 0; run < 20'000; ++run) {
        auto words = kj::heapArray<capnp::word>(2 + prng.below(30));
        for (auto& byte : words.asBytes())
            byte = prng.one_in(2) ? kj::byte{0} : static_cast<kj::byte>(prng.below(16));
        // One segment of the right size, so that some inputs get as far as the struct.
        auto head = words.asBytes();
        std::fill(head.begin(), head.begin() + 8, kj::byte{0});
        head[4] = static_cast<kj::byte>(words.size() - 1);
        expect_refused_or_sound<wire::PeerMessage>(words, taken);
        expect_refused_or_sound<wire::Hello>(words, taken);
    }
    EXPECT_GT(taken, 0U);
}

TEST(ConvertDamage, AListThatClaimsHalfABillionElementsOfNothingIsRefusedAtOnce) {
    capnp::MallocMessageBuilder message;
    auto root = message.initRoot<capnp::AnyPointer>();
    root.initAs<capnp::List<capnp::Void>>((1U << 29U) - 1);
    const auto flat = capnp::messageToFlatArray(message);
    capnp::FlatArrayMessageReader reader{flat, reader_options()};
    const auto result = read_guarded([&] {
        return reader.getRoot<capnp::AnyPointer>().getAs<capnp::List<wire::PeerMessage>>();
    });
    ASSERT_FALSE(result);
}

// --- what former versions sent ------------------------------------------------------------------

// tests/compatibility has a file for each release: lines of a kind and a message in hexadecimal.
// Fields that a later version adds have their defaults, which the canonical form leaves out.

template <class Wire, class Value>
std::string canonical(const Value& value) {
    capnp::MallocMessageBuilder message;
    write(value, message.initRoot<Wire>());
    const auto words = capnp::canonicalize(message.getRoot<Wire>().asReader());
    return kj::encodeHex(words.asBytes()).cStr();
}

template <class Wire>
void expect_read_as_it_was(const std::string& hex) {
    const auto bytes = kj::decodeHex(kj::arrayPtr(hex.data(), hex.size()));
    ASSERT_FALSE(bytes.hadErrors);
    auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
    std::copy(bytes.begin(), bytes.end(), words.asBytes().begin());
    const kj::ArrayPtr<const capnp::word> segments[] = {words};
    capnp::SegmentArrayMessageReader reader{segments, reader_options()};
    const auto value = read_guarded([&] { return reader.getRoot<Wire>(); });
    ASSERT_TRUE(value) << value.error().what;
    EXPECT_EQ(canonical<Wire>(*value), hex);
}

void write_released(const char* path) {
    std::ofstream out{path};
    Prng prng{11};
    for (int run = 0; run < 3; ++run) {
        for (std::uint64_t kind = 0; kind < message_kinds; ++kind)
            out << "peer " << canonical<wire::PeerMessage>(message(prng, kind)) << '\n';
        out << "hello " << canonical<wire::Hello>(greeting(prng)) << '\n'
            << "status " << canonical<wire::Status>(status(prng)) << '\n'
            << "list " << canonical<wire::ListAnswer>(ListAnswer{list_reply(prng)}) << '\n';
    }
}

TEST(ReleasedMessages, AreReadAsTheyWereSent) {  // P12
    if (const char* const path = std::getenv("MORTISE_WRITE_MESSAGES")) write_released(path);
    std::map<std::string, int> read;
    for (const auto& version : std::filesystem::directory_iterator{"tests/compatibility"}) {
        std::ifstream in{version.path() / "messages.txt"};
        for (std::string kind, hex; in >> kind >> hex; ++read[kind]) {
            SCOPED_TRACE(version.path().string() + ": " + kind + " " + std::to_string(read[kind]));
            if (kind == "peer") expect_read_as_it_was<wire::PeerMessage>(hex);
            if (kind == "hello") expect_read_as_it_was<wire::Hello>(hex);
            if (kind == "status") expect_read_as_it_was<wire::Status>(hex);
            if (kind == "list") expect_read_as_it_was<wire::ListAnswer>(hex);
        }
    }
    EXPECT_GE(read["peer"], 60);
    EXPECT_EQ(read.size(), 4U);
}

}  // namespace
}  // namespace mortise::transport
