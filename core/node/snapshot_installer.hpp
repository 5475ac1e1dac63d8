// Builds the state that a leader sends in place of this node's own, which was too far behind. The
// machine is built and checked as its rows arrive, and put in force when the rows are durable.
#pragma once

#include <optional>

#include "core/locks/rows/machine_rows.hpp"
#include "core/node/node_options.hpp"
#include "core/node/state_lag.hpp"

namespace mortise::core {

class SnapshotInstaller {
public:
    explicit SnapshotInstaller(const NodeOptions& options) : options_{options} {}

    // The next step, in order. False if the snapshot is invalid: it is not to be installed.
    [[nodiscard]] bool take(const InstallStep& step);
    // The oldest step that is not on disk yet is there now.
    void written() { lag_.taken(); }
    // More steps may come.
    [[nodiscard]] bool has_room() const { return lag_.bytes() < options_.install_bytes_max; }
    // All of it is durable: the machine that it makes. Requires that the last step was taken.
    [[nodiscard]] LockMachine finish();

private:
    const NodeOptions& options_;
    std::optional<MachineLoader> loading_;
    std::optional<LockMachine> loaded_;
    InstallLag lag_;
};

}  // namespace mortise::core
