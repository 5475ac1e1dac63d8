// Certificates and keys on disk. A key is written for its owner alone, and a key that others can
// read is refused. Errors are those of the system, and for faults that are detected here
// file_exists, operation_not_permitted (others can read the key) and bad_message (not a PEM file).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/base/result.hpp"
#include "transport/tls/certificates.hpp"

namespace mortise::transport {

constexpr std::size_t certificate_file_bytes_max = std::size_t{1} << 20U;

// Each function blocks on the disk. Only regular files are accepted, so that no function waits for
// a pipe.
[[nodiscard]] core::Result<std::string> read_certificate_file(const std::filesystem::path& path);
// Refuses a file that its group or others can access. A file that root owns may be readable for its
// group, so that an unprivileged program can use a key that it cannot change.
[[nodiscard]] core::Result<Secret> read_key_file(const std::filesystem::path& path);

// The paths of a certificate and its key.
struct KeyPairPaths {
    std::filesystem::path certificate;
    std::filesystem::path key;
};
// Writes both files or none, and never overwrites a file. They are durable when it returns. The key
// has mode 0600 and the certificate 0644, whatever the umask is.
[[nodiscard]] core::Result<void> write_key_pair(const KeyPairPaths& paths, const Issued& issued);

}  // namespace mortise::transport
