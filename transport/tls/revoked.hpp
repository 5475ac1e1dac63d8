// Certificates that are not trusted any more although they have not expired, by their serial
// numbers.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/base/result.hpp"

// OpenSSL's types, without its headers.
struct x509_st;
struct x509_store_st;

namespace mortise::transport {

// In hexadecimal digits, upper case, without leading zeros but in pairs.
[[nodiscard]] std::string serial_of(const x509_st& certificate);

class RevokedSerials {
public:
    // Reads a text file: a serial number in hexadecimal digits on each line, as `mortise cert show`
    // and `openssl x509 -serial` print it, with or without colons. What follows a # is a comment.
    // Blocks on the disk. The error names the file and the line.
    static core::Result<RevokedSerials> read(const std::filesystem::path& file);

    [[nodiscard]] bool has(const x509_st& certificate) const;
    [[nodiscard]] const std::set<std::string>& all() const { return serials_; }  // see serial_of()
    // From now on what is verified with this store fails if one of its certificates is here. This
    // object stays as long as the store. False without memory.
    [[nodiscard]] bool guard(x509_store_st* store) const;

private:
    std::set<std::string> serials_;
};

}  // namespace mortise::transport
