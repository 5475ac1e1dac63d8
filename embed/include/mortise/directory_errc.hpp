// Why a data directory cannot be used: codes of the std::system_error that opening a node throws.
#pragma once

#include <system_error>

namespace mortise {

enum class DirectoryErrc {
    locked = 1,       // a process has it open, perhaps this one
    damaged,          // acknowledged data is missing or altered
    newer_format,     // written by a later version
    wrong_node,       // it belongs to another node id
    io,               // an error of the disk or the file system
    no_space,         // the disk or a quota is full; try again when there is space
    shortage,         // the process or the system has no free descriptors or threads; try again
    closed,           // the program closed its descriptors; it is not written to any more
    denied,           // this user may not read or write it
    not_a_directory,  // the path is that of a file or of a symbolic link
};

// The category "mortise.storage".
[[nodiscard]] const std::error_category& directory_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(DirectoryErrc code) noexcept {
    return {static_cast<int>(code), directory_category()};
}

}  // namespace mortise

template <>
struct std::is_error_code_enum<mortise::DirectoryErrc> : std::true_type {};
