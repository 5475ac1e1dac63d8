// The conversions for changes of the membership.
#pragma once

#include "core/node/message.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/checked_reading.hpp"

namespace mortise::transport {

void put_membership(const core::MembershipRequest& m, wire::MembershipRequest::Builder to);
void put_membership(const core::MembershipReply& m, wire::MembershipReply::Builder to);
[[nodiscard]] core::MembershipRequest get_membership(CheckedReading& reading,
                                                     wire::MembershipRequest::Reader from);
[[nodiscard]] core::MembershipReply get_membership(CheckedReading& reading,
                                                   wire::MembershipReply::Reader from);

}  // namespace mortise::transport
