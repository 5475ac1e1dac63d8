// What a process has used since its start.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace mortise::bench {

struct Usage {
    std::int64_t cpu_ns = 0;
    std::int64_t wakeups = 0;  // voluntary context switches: each is the end of a wait

    friend bool operator==(const Usage&, const Usage&) = default;
};

// Includes threads that have ended.
[[nodiscard]] Usage own_usage();
// Another process, which has one thread. Throws std::system_error when it is gone.
[[nodiscard]] Usage usage_of(pid_t process);

// {"resident_bytes": ..., "heap_bytes": ...} of this process, after free memory went back to the
// system as far as it can: memory that belongs to it alone, and what malloc has given away.
[[nodiscard]] nlohmann::json own_memory();

}  // namespace mortise::bench
