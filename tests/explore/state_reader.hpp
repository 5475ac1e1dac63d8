// Two states are the same when these bytes are. Everything that may change what a node does next is
// in them; what is left out is said in the source file, beside each list of members.
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
