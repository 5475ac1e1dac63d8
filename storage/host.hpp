// What is to be known of this machine: whether a former life of this directory can still be alive,
// and what it lets this process have.
#pragma once

#include <cstdint>
#include <string>

namespace mortise::storage {

// One life of a node on a directory, as far as a successor on the same boot of the same machine can
// recognise it (S10).
struct Life {
    std::string boot_id;  // the kernel's, of this boot; empty when it does not say
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // of LOCK: a copied directory has another one

    friend bool operator==(const Life&, const Life&) = default;
};

[[nodiscard]] std::string kernel_boot_id();

// What bounds the number of threads of this process, for a message: " (RLIMIT_NPROC is 8)". Empty
// when nothing does.
[[nodiscard]] std::string thread_limits();

// Whether flock there holds against every process that could have the file open. Network and
// user-space file systems are not trusted with that.
[[nodiscard]] bool is_local_file_system(std::uint64_t magic);
[[nodiscard]] bool is_on_local_file_system(int descriptor);

}  // namespace mortise::storage
