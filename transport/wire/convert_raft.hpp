// The conversions of Raft's messages between peers.
#pragma once

#include <optional>

#include "core/raft/entry.hpp"
#include "core/raft/message.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/checked_reading.hpp"

namespace mortise::transport {

void put_log_id(const core::LogId& id, wire::LogId::Builder to);
[[nodiscard]] core::LogId get_log_id(CheckedReading& reading, wire::LogId::Reader from,
                                     const char* what);

void put_entry(const core::Entry& entry, wire::Entry::Builder to);
[[nodiscard]] core::Entry get_entry(CheckedReading& reading, wire::Entry::Reader from);

// convert_snapshot.cpp
void put_snapshot(const core::SnapshotChunk& m, wire::SnapshotChunk::Builder to);
[[nodiscard]] core::SnapshotChunk get_snapshot(CheckedReading& reading,
                                               wire::SnapshotChunk::Reader from);
void put_snapshot(const core::SnapshotReply& m, wire::SnapshotReply::Builder to);
[[nodiscard]] core::SnapshotReply get_snapshot(CheckedReading& reading,
                                               wire::SnapshotReply::Reader from);

void put_raft(const core::RaftMessage& message, wire::PeerMessage::Builder to);
// Empty if it is not one of Raft's messages.
[[nodiscard]] std::optional<core::RaftMessage> get_raft(CheckedReading& reading,
                                                        wire::PeerMessage::Reader from);

}  // namespace mortise::transport
