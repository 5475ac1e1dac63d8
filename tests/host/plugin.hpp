// What a host calls in its plug-in (plugin.cpp), which has a node of its own. Nothing throws but
// plugin_throw.
#pragma once

#include <cstdint>

namespace mortise::tests {

extern "C" {

// In memory without a directory. Empty, or why it did not open; valid until the next call.
const char* plugin_open(const char* directory);
// Member `id` of a cluster of members at these addresses, as in MORTISE_PEER_LIST.
const char* plugin_join(const char* directory, unsigned id, const char* peers);
// Acquires the name and gives it back: the token, or 0 when it did not.
std::int64_t plugin_use(const char* name);
// One attempt, given back at once: the token, 0 when somebody has it, -1 when it did not work.
std::int64_t plugin_try(const char* name);
// Throws the LockError of a hold that is empty.
void plugin_throw();
// Where its copy of the library is.
const void* plugin_library();
// As plugin_use, with a mutex. The C library then leaves the plug-in loaded: it knows of the
// mutexes of each thread.
bool plugin_lock(const char* name);
// Acquires the name and keeps it for as long as the node is open.
bool plugin_keep(const char* name);
void plugin_close();
// Nobody will ever close it: it runs until the process ends.
void plugin_forget();
}

}  // namespace mortise::tests
