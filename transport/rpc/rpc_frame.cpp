#include "transport/rpc/rpc_frame.hpp"

#include <algorithm>

#include <capnp/any.h>
#include <capnp/rpc.capnp.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include "transport/peer.capnp.h"
#include "transport/rpc/send_call.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

namespace rpc = capnp::rpc;
using Kind = RpcFrame::Kind;

// The `hello` of peer.capnp.
constexpr std::uint16_t hello_method = 0;

capnp::ReaderOptions limited_to(std::size_t words) {
    return {words, nesting_max};
}

// Returns the number of the last capability that the sender hosts. Nothing can be read twice: the
// time is bounded by the length of the frame.
std::optional<std::uint32_t> read_payload(rpc::Payload::Reader payload, RpcFrame& frame) {
    std::optional<std::uint32_t> hosted;
    const auto capabilities = payload.getCapTable();
    frame.capabilities = capabilities.size();
    // More than these are refused anyway.
    for (unsigned i = 0; i < std::min(capabilities.size(), 4U); ++i) {
        const auto each = capabilities[i];
        if (!each.isSenderHosted() && !each.isNone()) frame.is_plain = false;
        if (each.isSenderHosted()) hosted = each.getSenderHosted();
    }
    return hosted;
}

void read_target(rpc::MessageTarget::Reader target, RpcFrame& frame) {
    if (target.isImportedCap()) frame.capability = target.getImportedCap();
    if (target.isImportedCap()) return;
    if (!target.isPromisedAnswer()) {
        frame.is_plain = false;
        return;
    }
    const auto answer = target.getPromisedAnswer();
    const auto path = answer.getTransform();
    frame.is_of_answer = true;
    frame.of = answer.getQuestionId();
    frame.path = path.size();
    for (unsigned i = 0; i < std::min(path.size(), 4U); ++i) {
        const auto step = path[i];
        if (!step.isGetPointerField() || step.getGetPointerField() != 0)
            frame.is_first_path = false;
    }
}

void read_call(rpc::Call::Reader call, RpcFrame& frame) {
    frame.kind = Kind::call;
    frame.question = call.getQuestionId();
    frame.is_plain = call.getSendResultsTo().isCaller();
    frame.is_hello =
        call.getInterfaceId() == capnp::typeId<wire::Gate>() && call.getMethodId() == hello_method;
    frame.is_send =
        call.getInterfaceId() == capnp::typeId<wire::Peer>() && call.getMethodId() == send_method;
    read_target(call.getTarget(), frame);
    read_payload(call.getParams(), frame);
}

// Cap'n Proto before 1.5 accepts any number, and looks up its name in a table.
bool is_kind_of_failure(rpc::Exception::Type type) {
    return type <= rpc::Exception::Type::UNIMPLEMENTED;
}

void read_answer(rpc::Return::Reader answer, RpcFrame& frame) {
    frame.kind = Kind::answer;
    frame.question = answer.getAnswerId();
    frame.is_plain = answer.isResults() || answer.isException() || answer.isCanceled();
    frame.has_results = answer.isResults();
    if (answer.isResults()) frame.capability = read_payload(answer.getResults(), frame);
    if (answer.isException()) frame.is_plain = is_kind_of_failure(answer.getException().getType());
}

RpcFrame frame_of(rpc::Message::Reader message) {
    RpcFrame frame;
    switch (message.which()) {
        case rpc::Message::BOOTSTRAP:
            frame.kind = Kind::bootstrap;
            frame.question = message.getBootstrap().getQuestionId();
            break;
        case rpc::Message::CALL: read_call(message.getCall(), frame); break;
        case rpc::Message::RETURN: read_answer(message.getReturn(), frame); break;
        case rpc::Message::FINISH:
            frame.kind = Kind::finish;
            frame.question = message.getFinish().getQuestionId();
            break;
        case rpc::Message::RELEASE:
            frame.kind = Kind::release;
            frame.capability = message.getRelease().getId();
            break;
        case rpc::Message::ABORT: frame.kind = Kind::abort; break;
        default: break;
    }
    return frame;
}

const char* reason_of(rpc::Exception::Type type) {
    switch (type) {
        case rpc::Exception::Type::OVERLOADED: return "overloaded";
        case rpc::Exception::Type::DISCONNECTED: return "disconnected";
        case rpc::Exception::Type::UNIMPLEMENTED: return "not implemented";
        default: return "failed";
    }
}

void tell(rpc::Exception::Reader what, rpc::Exception::Builder instead) {
    instead.setType(what.getType());
    instead.setReason(reason_of(what.getType()));
}

}  // namespace

std::optional<RpcFrame> read_rpc_frame(kj::ArrayPtr<const capnp::word> words) {
    std::optional<RpcFrame> frame;
    const auto failed = kj::runCatchingExceptions([&] {
        capnp::FlatArrayMessageReader reader{words, limited_to(words.size())};
        frame = frame_of(reader.getRoot<rpc::Message>());
        frame->words = words.size();
    });
    return failed == nullptr ? frame : std::nullopt;
}

RpcFrame rpc_frame_of(Segments segments) {
    // Our own message, of which only a few words are read, so the limit is not reached.
    capnp::SegmentArrayMessageReader reader{segments, limited_to(traversal_words_max)};
    return frame_of(reader.getRoot<rpc::Message>());
}

kj::Own<capnp::MessageBuilder> without_reasons(Segments segments) {
    capnp::SegmentArrayMessageReader reader{segments, limited_to(traversal_words_max)};
    const auto message = reader.getRoot<rpc::Message>();
    const bool fails = message.isReturn() && message.getReturn().isException();
    if (!fails && !message.isAbort()) return {};
    auto builder = kj::heap<capnp::MallocMessageBuilder>(64);
    auto instead = builder->initRoot<rpc::Message>();
    if (message.isAbort()) {
        tell(message.getAbort(), instead.initAbort());
    } else {
        const auto answer = message.getReturn();
        auto told = instead.initReturn();
        told.setAnswerId(answer.getAnswerId());
        told.setReleaseParamCaps(answer.getReleaseParamCaps());
        tell(answer.getException(), told.initException());
    }
    return builder;
}

void ask_for_finish(Segments segments) {
    capnp::SegmentArrayMessageReader reader{segments, limited_to(traversal_words_max)};
    const auto message = reader.getRoot<rpc::Message>();
    if (!message.isReturn()) return;
    // Return.noFinishNeeded, bit 33, has no name before 1.0.
    const auto data = capnp::AnyStruct::Reader{message.getReturn()}.getDataSection();
    if (data.size() > 4) const_cast<kj::byte&>(data[4]) &= 0xfdU;
}

}  // namespace mortise::transport
