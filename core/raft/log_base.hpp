#pragma once

#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// The beginning of the log: the last entry that is not kept any more, and the configuration in
// force there. {0, 0} and not formed if nothing was ever purged.
struct LogBase {
    LogId id;
    Configuration configuration;

    friend bool operator==(const LogBase&, const LogBase&) = default;
};

}  // namespace mortise::core
