// Why a data directory cannot be used: the codes of the std::system_error that opening a node
// throws for it.
#pragma once

#include <system_error>

namespace mortise {

enum class DirectoryErrc {
    locked = 1,    // a process has it open; perhaps this one
    damaged,       // something acknowledged is missing or altered
    newer_format,  // written by a later version
    wrong_node,    // belongs to another node id
    io,            // the disk, the file system or its permissions
    no_space,      // the disk, or a quota, is full: may be tried again when it is not
    shortage,      // the process or the system is out of descriptors or threads: likewise
    closed,        // the program closed descriptors of it: it is not written to any more
};

// Its name is "mortise.storage".
[[nodiscard]] const std::error_category& directory_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(DirectoryErrc code) noexcept {
    return {static_cast<int>(code), directory_category()};
}

}  // namespace mortise

template <>
struct std::is_error_code_enum<mortise::DirectoryErrc> : std::true_type {};
