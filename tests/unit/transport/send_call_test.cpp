// The messages of a call of Peer.send are those of Cap'n Proto's RPC.
#include "transport/rpc/send_call.hpp"

#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_callee.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/rpc/rpc_frame.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using Batch = std::vector<core::PeerMessage>;
using Kind = RpcFrame::Kind;

template <class Fill>
kj::Array<capnp::word> built(Fill fill, unsigned words = 256) {
    capnp::MallocMessageBuilder message{words};
    fill(message.initRoot<rpc::Message>());
    return capnp::messageToFlatArray(message);
}

kj::Array<capnp::word> words_of(const std::string& frame) {
    auto words = kj::heapArray<capnp::word>(frame.size() / sizeof(capnp::word));
    std::memcpy(words.begin(), frame.data(), frame.size());
    return words;
}

std::string hex(kj::ArrayPtr<const capnp::word> words) {
    std::string text;
    for (const auto byte : words.asBytes()) {
        constexpr auto digits = "0123456789abcdef";
        text += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return text;
}

TEST(SendCall, IsReadAsItWasWritten) {
    const Batch batch{numbered(4), numbered(5), core::Forward{core::Bytes{"batch"}, std::nullopt}};
    const auto frame = built([&](auto to) { write_send(send_questions_from + 3, 7, batch, to); });
    const auto said = read_rpc_frame(frame);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->kind, Kind::call);
    EXPECT_EQ(said->question, send_questions_from + 3);
    EXPECT_EQ(said->capability, 7U);
    EXPECT_TRUE(said->is_send && said->is_plain);
    EXPECT_FALSE(said->is_of_answer || said->is_hello);
    EXPECT_EQ(said->capabilities, 0U);
    const auto read = read_send(frame);
    ASSERT_TRUE(read && read->size() == batch.size());
    EXPECT_EQ(number_of((*read)[0]), 4U);
    EXPECT_EQ(number_of((*read)[1]), 5U);
    EXPECT_EQ(std::get<core::Forward>((*read)[2]).batch.view(), "batch");
}

TEST(SendCall, MayHaveNoMessages) {  // a ping
    const auto frame = built([&](auto to) { write_send(send_questions_from, 1, {}, to); });
    const auto read = read_send(frame);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->empty());
}

TEST(SendCall, FitsIntoOneSegmentOfItsSize) {
    Batch batch;
    for (std::uint64_t number = 1; number <= 200; ++number) {
        std::size_t words = call_words;
        for (const auto& message : batch)
            words += wire_words(message);
        capnp::MallocMessageBuilder message{static_cast<unsigned>(words)};
        write_send(send_questions_from, 1, batch, message.initRoot<rpc::Message>());
        EXPECT_EQ(message.getSegmentsForOutput().size(), 1U) << number;
        batch.push_back(numbered(number));
    }
}

TEST(SendCall, OfAnotherMethodOrInterfaceIsNone) {
    const auto is_send = [](const Change& change) {
        return read_rpc_frame(words_of(send_call(2, {numbered(1)}, change)))->is_send;
    };
    EXPECT_TRUE(is_send({}));
    EXPECT_FALSE(is_send([](rpc::Call::Builder call) { call.setMethodId(1); }));
    EXPECT_FALSE(is_send(
        [](rpc::Call::Builder call) { call.setInterfaceId(capnp::typeId<wire::Member>()); }));
}

TEST(SendCall, WithMalformedMessagesIsAnError) {
    const auto without_kind = words_of(send_call(2, {}, [](rpc::Call::Builder call) {
        auto params = call.getParams().initContent().initAs<wire::Peer::SendParams>();
        params.initMessages(1)[0].initFormationOffer().setKind(static_cast<wire::EntryKind>(99));
    }));
    EXPECT_FALSE(read_send(without_kind));
    const auto of_another_form = words_of(send_call(2, {}, [](rpc::Call::Builder call) {
        call.getParams().initContent().initAs<capnp::Data>(100);
    }));
    EXPECT_FALSE(read_send(of_another_form));
    const auto too_many = words_of(send_call(2, {}, [](rpc::Call::Builder call) {
        auto params = call.getParams().initContent().initAs<wire::Peer::SendParams>();
        params.initMessages(batch_messages_max + 1);
    }));
    EXPECT_FALSE(read_send(too_many));
}

TEST(SendCall, HasAnAnswerWithoutContent) {
    const auto frame = built([](auto to) { write_answer_to_send(0x12345678, to); });
    const auto said = read_rpc_frame(frame);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->kind, Kind::answer);
    EXPECT_EQ(said->question, 0x12345678U);
    EXPECT_TRUE(said->has_results && said->is_plain);
    EXPECT_EQ(said->capabilities, 0U);
    EXPECT_EQ(hex(frame),
              "0000000008000000"  // one segment of eight words
              "0000000001000100"  // Message:
              "0300000000000000"  // Return
              "0000000002000100"
              "7856341201000000"  // answerId; releaseParamCaps: false
              "0000000000000000"  // results
              "0000000000000200"  // Payload:
              "0000000000000000"  // no content
              "0000000000000000");
}

// Each part of a frame can be read once: this is the one that has the most.
TEST(SendCall, IsOfTheCapabilityThatTheAnswerToHelloOffers) {
    Greeting own;
    own.hello = hello_of(2);
    const auto said = read_rpc_frame(words_of(answer_to_hello(own, 1, 5)));
    ASSERT_TRUE(said);
    EXPECT_EQ(said->capability, 5U);
    EXPECT_EQ(said->capabilities, 1U);
    EXPECT_TRUE(said->has_results && said->is_plain);
}

TEST(SendCall, HasAnEnd) {
    const auto frame = built([](auto to) { write_finish(0x87654321, to); });
    const auto said = read_rpc_frame(frame);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->kind, Kind::finish);
    EXPECT_EQ(said->question, 0x87654321U);
    EXPECT_EQ(hex(frame),
              "0000000004000000"  // one segment of four words
              "0000000001000100"  // Message:
              "0400000000000000"  // Finish
              "0000000001000000"
              "2143658700000000");  // questionId; releaseResultCaps: true
}

}  // namespace
}  // namespace mortise::transport
