// Between plain core types and what travels. Reading checks everything, once: what comes out of
// here has known enum values, names and lists within their limits, and indexes that can be added
// to. Whether it makes sense is for core to say. Requires readers with the limits of limits.hpp;
// an invalid pointer still makes Cap'n Proto throw kj::Exception, which read_guarded
// turns into an error.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/message.hpp"
#include "transport/client_service.hpp"
#include "transport/greeting.hpp"
#include "transport/malformed.hpp"
#include "transport/peer.capnp.h"

namespace mortise::transport {

// --- between peers ------------------------------------------------------------------------------

void write(const Greeting& greeting, wire::Hello::Builder to);
[[nodiscard]] core::Result<Greeting> read(wire::Hello::Reader from);

void write(Refusal refusal, wire::Refused::Builder to);
// A reason of a later version reads as unspecified: it is a refusal all the same.
[[nodiscard]] Refusal read(wire::Refused::Reader from);

void write(const core::PeerMessage& message, wire::PeerMessage::Builder to);
[[nodiscard]] core::Result<core::PeerMessage> read(wire::PeerMessage::Reader from);
void write(const std::vector<core::PeerMessage>& batch,
           capnp::List<wire::PeerMessage>::Builder to);  // requires the same size
[[nodiscard]] core::Result<std::vector<core::PeerMessage>> read(
    capnp::List<wire::PeerMessage>::Reader from);

// --- for clients --------------------------------------------------------------------------------

void write(const core::Forward& forward, wire::Forward::Builder to);
[[nodiscard]] core::Result<core::Forward> read(wire::Forward::Reader from);

void write(const MemberStatus& status, wire::Status::Builder to);
[[nodiscard]] core::Result<MemberStatus> read(wire::Status::Reader from);

void write(const ListRequest& request, wire::ListRequest::Builder to);  // not for is_exact
[[nodiscard]] core::Result<ListRequest> read(wire::ListRequest::Reader from);

void write(const core::MembershipGoal& goal, wire::MembershipGoal::Builder to);
[[nodiscard]] core::Result<core::MembershipGoal> read(wire::MembershipGoal::Reader from);
void write(const ChangeAnswer& answer, wire::ChangeAnswer::Builder to);
[[nodiscard]] core::Result<ChangeAnswer> read(wire::ChangeAnswer::Reader from);

// As much of it as one message should carry; the rest is told of as `more` and `truncated`.
void write(const ListAnswer& answer, wire::ListAnswer::Builder to);
[[nodiscard]] core::Result<ListAnswer> read(wire::ListAnswer::Reader from);

void write(const OutcomesRequest& request, wire::OutcomesRequest::Builder to);
[[nodiscard]] core::Result<OutcomesRequest> read(wire::OutcomesRequest::Reader from);

[[nodiscard]] wire::StreamEnd to_wire(StreamEnd reason);
[[nodiscard]] StreamEnd from_wire(wire::StreamEnd reason);  // one of a later version: unspecified

void write(const std::vector<OutcomeBatch>& batches,
           capnp::List<wire::OutcomeBatch>::Builder to);  // requires the same size
[[nodiscard]] core::Result<std::vector<OutcomeBatch>> read(
    capnp::List<wire::OutcomeBatch>::Reader from);

// --- bytes --------------------------------------------------------------------------------------

[[nodiscard]] inline std::string_view bytes_of(capnp::Data::Reader data) {
    return {data.asChars().begin(), data.size()};
}
[[nodiscard]] inline capnp::Data::Reader data_of(std::string_view bytes) {
    return kj::arrayPtr(bytes.data(), bytes.size()).asBytes();
}

// read(what()), and an error for whatever Cap'n Proto throws on the way. `what` gets the reader,
// which may throw as well: read_guarded([&] { return params.getHello(); }).
template <class What>
auto read_guarded(What&& what) -> decltype(read(what())) {
    try {
        return read(what());
    } catch (const kj::Exception&) {
        // Its text may name files and addresses.
        return core::Error{make_error_code(Malformed::bad_pointer), "a pointer leads nowhere"};
    }
}

}  // namespace mortise::transport
