// Keeps a library in memory that is part of a plug-in: the host may unload the plug-in at any time.
#pragma once

namespace mortise::detail {

// Keeps the object that contains this code, a plug-in or the library itself, in the process,
// whatever the host unloads. Detached threads end in this code, and RocksDB and OpenSSL leave
// functions that the host's threads call when they end (decision 0035).
void stay_loaded() noexcept;

}  // namespace mortise::detail
