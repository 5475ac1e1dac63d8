// Where a session comes from, as its node says: for people only, no decision depends on it
// (docs/decisions/0080).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mortise::core {

constexpr std::size_t origin_host_bytes_max = 64;
constexpr std::size_t origin_program_bytes_max = 64;
constexpr std::size_t origin_address_bytes_max = 128;

struct Origin {
    std::string host;     // at most origin_host_bytes_max
    std::string program;  // at most origin_program_bytes_max
    std::uint64_t pid = 0;
    // At most origin_address_bytes_max. Of a client: from where it is connected, as the member says
    // by which it enters the cluster.
    std::string address;

    [[nodiscard]] bool is_set() const { return *this != Origin{}; }
    friend bool operator==(const Origin&, const Origin&) = default;
};

// Cuts what is too long, and replaces control characters: a name of a host or of a program may have
// any bytes.
[[nodiscard]] Origin tidied(Origin origin);
// What is shown for a hold or a waiter without a label: program@host:pid, or the parts of it that
// are known.
[[nodiscard]] std::string default_label(const Origin& origin);

}  // namespace mortise::core
