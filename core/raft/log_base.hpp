#pragma once

#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// The beginning of the log: the last entry that is not kept any more, and the configuration that is
// in force there. If nothing was ever purged, they are {0, 0} and a configuration that is not
// formed.
struct LogBase {
    LogId id;
    Configuration configuration;

    friend bool operator==(const LogBase&, const LogBase&) = default;
};

}  // namespace mortise::core
