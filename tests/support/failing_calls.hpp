// System calls that fail, or at which the process is killed: below RocksDB and the standard library
// as well. On Linux with seccomp on x86-64.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

namespace mortise::test {

// What a call does with a file or a directory.
enum class CallKind : std::uint8_t {
    open,    // what exists
    create,  // or opens what exists
    read,
    look,  // at its size, or whether it exists
    list,  // what is in a directory
    write,
    sync,
    name,  // renames, removes, links, or makes a directory
    give,  // to another owner
};

struct CallFault {
    std::string path;  // calls about paths with this text are counted,
    std::initializer_list<CallKind> kinds;
    std::uint64_t at = 0;  // and this one fails, and those of its kind about the same path after it
    int error = 0;         // with this errno; zero: the process is killed
};

// Runs `body` on a thread of its own with that fault, for this thread and those that it starts.
// False, without running it, if the system does not allow that.
bool with_fault(const CallFault& fault, const std::function<void()>& body);
// The call that failed in the newest with_fault(), for a message; empty if none did.
std::string failed_call();

}  // namespace mortise::test
