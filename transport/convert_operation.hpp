// What the conversions for clients share.
#pragma once

#include "core/locks/command.hpp"
#include "transport/checked_reading.hpp"
#include "transport/peer.capnp.h"

namespace mortise::transport {

inline void put_operation(core::OperationId id, wire::Operation::Builder to) {
    to.setSession(id.session.raw());
    to.setSeq(id.seq.raw());
}

inline core::OperationId get_operation(CheckedReading& reading, wire::Operation::Reader from) {
    return {reading.set<core::SessionId>(from.getSession(), "Operation.session"),
            reading.set<core::Seq>(from.getSeq(), "Operation.seq")};
}

}  // namespace mortise::transport
