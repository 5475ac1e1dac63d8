#include "transport/rpc/send_call.hpp"

#include <capnp/serialize.h>

#include "transport/peer.capnp.h"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

namespace rpc = capnp::rpc;
using wire::Peer;

void write_send(std::uint32_t question, std::uint32_t capability,
                const std::vector<core::PeerMessage>& batch, rpc::Message::Builder to) {
    auto call = to.initCall();
    call.setQuestionId(question);
    call.initTarget().setImportedCap(capability);
    call.setInterfaceId(capnp::typeId<Peer>());
    call.setMethodId(send_method);
    auto params = call.initParams().getContent().initAs<Peer::SendParams>();
    write(batch, params.initMessages(static_cast<kj::uint>(batch.size())));
}

void write_answer_to_send(std::uint32_t question, rpc::Message::Builder to) {
    auto answer = to.initReturn();
    answer.setAnswerId(question);
    answer.setReleaseParamCaps(false);  // there were none
    answer.initResults();
}

void write_finish(std::uint32_t question, rpc::Message::Builder to) {
    to.initFinish().setQuestionId(question);
}

core::Result<std::vector<core::PeerMessage>> read_send(kj::ArrayPtr<const capnp::word> frame) {
    capnp::FlatArrayMessageReader reader{frame, {4 * std::uint64_t{frame.size()}, nesting_max}};
    return read_guarded([&] {
        const auto params = reader.getRoot<rpc::Message>().getCall().getParams().getContent();
        return params.getAs<Peer::SendParams>().getMessages();
    });
}

}  // namespace mortise::transport
