#pragma once

#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// Where the log begins: the last entry that is not kept any more, and the configuration in force
// there. {0, 0} and not formed when nothing was ever purged.
struct LogBase {
    LogId id;
    Configuration configuration;

    friend bool operator==(const LogBase&, const LogBase&) = default;
};

}  // namespace mortise::core
