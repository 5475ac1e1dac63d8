// Converts between plain core types and the wire. Reading checks everything once: the results have
// known enum values, names and lists within their limits, and indexes that can be added to. Whether
// the content is plausible is checked by core. Requires readers with the limits of
// message_limits.hpp; an invalid pointer still makes Cap'n Proto throw kj::Exception, which
// read_guarded turns into an error.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/message.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/client_messages.hpp"
#include "transport/wire/greeting.hpp"
#include "transport/wire/malformed.hpp"

namespace mortise::transport {

// --- between peers ------------------------------------------------------------------------------

void write(const Greeting& greeting, wire::Hello::Builder to);
[[nodiscard]] core::Result<Greeting> read(wire::Hello::Reader from);

void write(Refusal refusal, wire::Refused::Builder to);
// A reason of a later version is read as unspecified: it is still a refusal.
[[nodiscard]] Refusal read(wire::Refused::Reader from);

void write(const core::PeerMessage& message, wire::PeerMessage::Builder to);
[[nodiscard]] core::Result<core::PeerMessage> read(wire::PeerMessage::Reader from);
void write(const std::vector<core::PeerMessage>& batch,
           capnp::List<wire::PeerMessage>::Builder to);  // requires the same size
[[nodiscard]] core::Result<std::vector<core::PeerMessage>> read(
    capnp::List<wire::PeerMessage>::Reader from);

// --- for clients --------------------------------------------------------------------------------

void write(const MemberStatus& status, wire::Status::Builder to);
[[nodiscard]] core::Result<MemberStatus> read(wire::Status::Reader from);

void write(const ListRequest& request, wire::ListRequest::Builder to);  // not for is_exact
[[nodiscard]] core::Result<ListRequest> read(wire::ListRequest::Reader from);

void write(const core::MembershipGoal& goal, wire::MembershipGoal::Builder to);
[[nodiscard]] core::Result<core::MembershipGoal> read(wire::MembershipGoal::Reader from);
void write(const ChangeAnswer& answer, wire::ChangeAnswer::Builder to);
[[nodiscard]] core::Result<ChangeAnswer> read(wire::ChangeAnswer::Reader from);

// Writes as much as one message should carry; `more` and the totals of each lock say that something
// is missing.
void write(const ListAnswer& answer, wire::ListAnswer::Builder to);
[[nodiscard]] core::Result<ListAnswer> read(wire::ListAnswer::Reader from);

void write(const ObserveRequest& request, wire::ObserveRequest::Builder to);
[[nodiscard]] core::Result<ObserveRequest> read(wire::ObserveRequest::Reader from);
void write(const ObserveAnswer& answer, wire::ObserveAnswer::Builder to);
[[nodiscard]] core::Result<ObserveAnswer> read(wire::ObserveAnswer::Reader from);
// An upper bound of the bytes that describe it.
[[nodiscard]] std::size_t wire_bytes(const core::Observed& observed);

void write(const SessionsRequest& request, wire::SessionsRequest::Builder to);
[[nodiscard]] core::Result<SessionsRequest> read(wire::SessionsRequest::Reader from);
void write(const SessionsAnswer& answer, wire::SessionsAnswer::Builder to);
[[nodiscard]] core::Result<SessionsAnswer> read(wire::SessionsAnswer::Reader from);
void write(const ActivityAnswer& answer, wire::ActivityAnswer::Builder to);
[[nodiscard]] core::Result<ActivityAnswer> read(wire::ActivityAnswer::Reader from);

// --- bytes --------------------------------------------------------------------------------------

[[nodiscard]] inline std::string_view bytes_of(capnp::Data::Reader data) {
    return {data.asChars().begin(), data.size()};
}
[[nodiscard]] inline capnp::Data::Reader data_of(std::string_view bytes) {
    return kj::arrayPtr(bytes.data(), bytes.size()).asBytes();
}

// Calls read(what()) and turns any exception of Cap'n Proto into an error. `what` returns the
// reader, and may throw as well: read_guarded([&] { return params.getHello(); }).
template <class What>
auto read_guarded(What&& what) -> decltype(read(what())) {
    try {
        return read(what());
    } catch (const kj::Exception&) {
        // The exception's text may contain file names and addresses, so it is not used.
        return core::Error{make_error_code(Malformed::bad_pointer), "a pointer leads nowhere"};
    }
}

}  // namespace mortise::transport
