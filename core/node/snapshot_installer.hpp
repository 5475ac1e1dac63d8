// Builds the state from a leader's snapshot, which replaces this node's own state when that is too
// far behind. The machine is built and checked as its rows arrive, and put in force when the rows
// are durable.
#pragma once

#include <optional>

#include "core/locks/machine/machine_loader.hpp"
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
    // Returns the machine when all rows are durable. Requires that the last step was taken.
    [[nodiscard]] LockMachine finish();

private:
    const NodeOptions& options_;
    std::optional<MachineLoader> loading_;
    std::optional<LockMachine> loaded_;
    InstallLag lag_;
};

}  // namespace mortise::core
