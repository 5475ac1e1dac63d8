// The interface of the plug-in (plugin.cpp), which has a node of its own. Only plugin_throw throws.
#pragma once

#include <cstdint>

namespace mortise::tests {

extern "C" {

// Without a directory the node is in memory. Returns an empty text, or why it did not open; valid
// until the next call.
const char* plugin_open(const char* directory);
// Opens member `id` of a cluster with these addresses, in the form of MORTISE_PEER_LIST.
const char* plugin_join(const char* directory, unsigned id, const char* peers);
// Acquires the name and releases it. Returns the token, or 0 after a failure.
std::int64_t plugin_use(const char* name);
// Makes one attempt and releases at once. Returns the token, 0 if the name is taken, -1 after a
// failure.
std::int64_t plugin_try(const char* name);
// Throws the LockError of an empty hold.
void plugin_throw();
// The address of its copy of the library.
const void* plugin_library();
// Like plugin_use, with a mutex. The C library then keeps the plug-in loaded because of
// thread-local destructors.
bool plugin_lock(const char* name);
// Acquires the name and keeps it as long as the node is open.
bool plugin_keep(const char* name);
void plugin_close();
// The node is never closed: it runs until the process ends.
void plugin_forget();
}

}  // namespace mortise::tests
