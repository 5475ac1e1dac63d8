// Where the log and the hard state live. Blocks: embed gives it a thread. Calls come from one
// thread at a time.
#pragma once

#include <span>

#include "core/raft/log_base.hpp"
#include "core/raft/write.hpp"
#include "storage/errors.hpp"

namespace mortise::storage {

using core::LogBase;

class LogStore {
public:
    virtual ~LogStore() = default;

    // All of them, in order, atomically and with one sync. A reset goes beyond where the log
    // begins, and to what the state has durably. Any error is final: every later call answers it
    // again, and nothing more reaches the disk. What a failed sync left there is unknown, and a
    // second one that succeeds proves nothing.
    virtual Result<void> write(std::span<const core::Write> writes) = 0;

    // Forgets the entries up to and including base.id.index, which the state has durably and the
    // log still has. Takes effect on disk with the next write, and is undone by a crash before.
    virtual Result<void> purge_to(const LogBase& base) = 0;
};

}  // namespace mortise::storage
