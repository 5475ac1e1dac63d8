// Certificates and keys on disk. A key is written for its owner alone, and one that others can read
// is refused. Errors are those of the system, and where a fault is found here: file_exists,
// operation_not_permitted (others can read the key), bad_message (that is no PEM file).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/base/result.hpp"
#include "transport/certificates.hpp"

namespace mortise::transport {

constexpr std::size_t certificate_file_bytes_max = std::size_t{1} << 20U;

// Each blocks on the disk. What is not a regular file is refused, so that none waits for a pipe.
[[nodiscard]] core::Result<std::string> read_certificate_file(const std::filesystem::path& path);
// Refuses a file that group or others have access to. One that root owns may be read by its group:
// that is how a program without rights is given a key that it cannot change.
[[nodiscard]] core::Result<Secret> read_key_file(const std::filesystem::path& path);

// Where a certificate and its key are.
struct KeyPairPaths {
    std::filesystem::path certificate;
    std::filesystem::path key;
};
// Writes both files or none, and never over a file that is there. When it returns they are durable.
// The key has mode 0600 and the certificate 0644, whatever the umask.
[[nodiscard]] core::Result<void> write_key_pair(const KeyPairPaths& paths, const Issued& issued);

}  // namespace mortise::transport
