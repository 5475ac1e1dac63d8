// Stores the log and the hard state. It blocks, so embed gives it a thread. Calls come from one
// thread at a time, except that one may be in sync() while another one is in write_at_once().
#pragma once

#include <span>

#include "core/raft/log_base.hpp"
#include "core/raft/write.hpp"
#include "storage/base/errors.hpp"

namespace mortise::storage {

using core::LogBase;

class LogStore {
public:
    virtual ~LogStore() = default;

    // Writes all of them in order and atomically, with one sync if one of them is synced or
    // something was purged. Otherwise they are in the page cache, where they survive the death of
    // this process; the mark must be set before. A reset goes beyond the beginning of the log, to
    // an index that the state has durably. Any error is final: every later call returns it again,
    // and nothing more reaches the disk. After a failed sync the content of the disk is unknown,
    // and a second sync that succeeds proves nothing.
    virtual Result<void> write(std::span<const core::Write> writes) = 0;

    // The same for one unsynced write, if that waits for no disk as far as the store knows. If not,
    // the answer is false, and nothing is done.
    virtual Result<bool> write_at_once(const core::Write& write) = 0;

    // Makes everything durable that was written before.
    virtual Result<void> sync() = 0;

    // The last call of a run that ends in order: everything is synced, and if nothing was forgotten
    // before, the mark is removed.
    virtual Result<void> close() = 0;

    // Removes the entries up to and including base.id.index, which the state has durably and the
    // log still has. Takes effect on disk with the next write; a crash before that undoes it.
    virtual Result<void> purge_to(const LogBase& base) = 0;
};

}  // namespace mortise::storage
