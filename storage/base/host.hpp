// Facts about this machine: whether an earlier run of this directory can still be alive, and the
// limits of this process.
#pragma once

#include <cstdint>
#include <string>

namespace mortise::storage {

// Identifies one run of a node on a directory for a later run on the same boot of the same machine
// (S10).
struct Life {
    std::string boot_id;  // the kernel's id of this boot; empty if unknown
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // of LOCK; a copied directory has another one

    friend bool operator==(const Life&, const Life&) = default;
};

[[nodiscard]] std::string kernel_boot_id();

// The pid namespace of this process, in which its number has a meaning: containers have one each.
// Zero if it is unknown.
[[nodiscard]] std::uint64_t pid_namespace();

// What limits the number of threads of this process, for a message: " (RLIMIT_NPROC is 8)". Empty
// if there is no limit.
[[nodiscard]] std::string thread_limits();

// Whether flock works against every process that could open the file. Network and user-space file
// systems are not trusted with that.
[[nodiscard]] bool is_local_file_system(std::uint64_t magic);
[[nodiscard]] bool is_on_local_file_system(int descriptor);

}  // namespace mortise::storage
