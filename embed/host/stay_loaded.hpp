// For a library within a plug-in: the host may unload the plug-in at any time.
#pragma once

namespace mortise::detail {

// The object that contains this code, a plug-in or the library itself, stays in the process from
// now on, whatever the host unloads. Detached threads end in this code, and RocksDB and OpenSSL
// leave functions that the host's threads call when they end (decision 0035).
void stay_loaded() noexcept;

}  // namespace mortise::detail
