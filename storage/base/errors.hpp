// Why a data directory cannot be used. Programs decide by the code; the sentence in core::Error
// names the path.
#pragma once

#include <string>
#include <system_error>

#include "core/base/result.hpp"

namespace mortise::storage {

using core::Error;
using core::Result;

enum class Errc {
    locked = 1,       // a process has it open, perhaps this one
    damaged,          // acknowledged data is missing or altered: this node has no vote any more
    newer_format,     // written by a later version
    wrong_node,       // it belongs to another node id
    io,               // an error of the disk or the file system
    no_space,         // the disk or a quota is full; it may be tried again later
    shortage,         // the process or the system has no free descriptors or threads; likewise
    closed,           // the program closed its descriptors; it is not written to any more
    denied,           // this user may not read or write it
    not_a_directory,  // the path is that of a file or of a symbolic link
};

const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

[[nodiscard]] Error make_error(Errc code, std::string what);
// True if nothing is wrong with the directory, and the same may succeed later.
[[nodiscard]] inline bool may_pass(const Error& error) {
    return error.code == make_error_code(Errc::no_space) ||
           error.code == make_error_code(Errc::shortage);
}
// The program closed a descriptor of that file, or of its directory. RocksDB passes on only the
// text of an error, so the text identifies it.
inline constexpr const char* closed_words = "the program closed descriptors of it";
[[nodiscard]] Error closed_error(const std::string& path);
// "<what>: <the system's message for this errno>"
[[nodiscard]] Error io_error(const std::string& what, int errno_value);

}  // namespace mortise::storage

template <>
struct std::is_error_code_enum<mortise::storage::Errc> : std::true_type {};
