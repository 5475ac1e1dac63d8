#include "bench/measure/usage.hpp"

#include <ctime>
#include <fstream>
#include <string>
#include <system_error>

#include <malloc.h>
#include <sys/resource.h>

namespace mortise::bench {

namespace {

std::int64_t nanoseconds(const timeval& time) {
    return time.tv_sec * 1'000'000'000 + time.tv_usec * 1'000;
}

// The number behind "key:" in a file of /proc.
std::int64_t number_in(const std::string& file, const std::string& key) {
    std::ifstream stream{file};
    for (std::string word; stream >> word;) {
        std::int64_t number = 0;
        if (word == key + ":" && stream >> number) return number;
    }
    throw std::system_error{ENOENT, std::system_category(), key + " in " + file};
}

}  // namespace

Usage own_usage() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return {nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime), usage.ru_nvcsw};
}

Usage usage_of(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (const int error = ::clock_getcpuclockid(process, &clock); error != 0)
        throw std::system_error{error, std::system_category(), "clock_getcpuclockid"};
    if (::clock_gettime(clock, &time) != 0)
        throw std::system_error{errno, std::system_category(), "clock_gettime"};
    return {time.tv_sec * 1'000'000'000 + time.tv_nsec,
            number_in("/proc/" + std::to_string(process) + "/status", "voluntary_ctxt_switches")};
}

nlohmann::json own_memory() {
    ::malloc_trim(0);
    const auto heap = ::mallinfo2();
    constexpr std::int64_t kib = 1024;
    return {{"resident_bytes", number_in("/proc/self/smaps_rollup", "Anonymous") * kib},
            {"heap_bytes", heap.uordblks + heap.hblkhd}};
}

}  // namespace mortise::bench
