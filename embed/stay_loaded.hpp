// A library within somebody's plug-in: the host may unload it at any moment.
#pragma once

namespace mortise::detail {

// What holds this code, a plug-in or the library itself, stays in the process from now on, whatever
// the host unloads. Threads that nobody waits for end in this code, and what RocksDB and OpenSSL
// leave with the threads of the host is theirs to call when these end (decision 0035).
void stay_loaded() noexcept;

}  // namespace mortise::detail
