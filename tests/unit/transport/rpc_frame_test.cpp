#include "transport/rpc/rpc_frame.hpp"

#include <cstdint>

#include <capnp/any.h>
#include <capnp/rpc.capnp.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

namespace rpc = capnp::rpc;

RpcFrame answer_that_failed(std::uint16_t type) {
    capnp::MallocMessageBuilder message;
    auto answer = message.initRoot<rpc::Message>().initReturn();
    answer.setAnswerId(3);
    answer.initException().setType(static_cast<rpc::Exception::Type>(type));
    const auto words = capnp::messageToFlatArray(message);
    return read_rpc_frame(words).value();
}

// A failure leaves at once, and without the reason that Cap'n Proto gives.
TEST(RpcFrame, AFailureIsNoResult) {
    EXPECT_FALSE(answer_that_failed(0).has_results);
    capnp::MallocMessageBuilder message;
    message.initRoot<rpc::Message>().initReturn().initResults();
    const auto words = capnp::messageToFlatArray(message);
    EXPECT_TRUE(read_rpc_frame(words).value().has_results);
}

TEST(RpcFrame, AFailureIsOfAKindThatThereIs) {
    for (std::uint16_t type = 0; type < 4; ++type)
        EXPECT_TRUE(answer_that_failed(type).is_plain) << type;
}

// Cap'n Proto before 1.5 accepts any number for a kind, and looks up its name in a table of four.
TEST(RpcFrame, AFailureOfNoKindIsNoAnswer) {
    for (const std::uint16_t type : std::initializer_list<std::uint16_t>{4, 5, 0x7FFF, 0xFFFF}) {
        RpcGuard guard{{}};
        RpcFrame question;
        question.kind = RpcFrame::Kind::call;
        question.question = 3;
        guard.sent(question);
        EXPECT_EQ(guard.received(answer_that_failed(type)), RpcVerdict::refused) << type;
    }
}

// Return.noFinishNeeded, as Cap'n Proto since 1.0 sets it.
TEST(RpcFrame, AnAnswerAsksForTheEndOfItsQuestion) {
    capnp::MallocMessageBuilder message;
    auto answer = message.initRoot<rpc::Message>().initReturn();
    answer.setAnswerId(0xffffffff);
    answer.setReleaseParamCaps(true);
    answer.initResults();
    const auto asks = capnp::messageToFlatArray(message);
    capnp::AnyStruct::Builder{kj::mv(answer)}.getDataSection()[4] |= 2U;
    ask_for_finish(message.getSegmentsForOutput());
    const auto asked = capnp::messageToFlatArray(message);
    EXPECT_EQ(asked.asBytes(), asks.asBytes());
}

}  // namespace
}  // namespace mortise::transport
