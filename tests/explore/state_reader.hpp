// Two states are the same if these bytes are. They contain everything that may affect the next
// events of a node; the source file says beside each list of members what is left out.
#pragma once

#include "core/base/bytes.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

class StateReader {
public:
    static void read(const Raft& raft, ByteWriter& out);
    static void read(const RaftState& disk, ByteWriter& out);
    static void read(const Write& write, ByteWriter& out);
    static void read(const RaftMessage& message, ByteWriter& out);
};

}  // namespace mortise::core
