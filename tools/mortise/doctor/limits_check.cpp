// Checks the limits of the process and of the container it runs in.
#include <algorithm>
#include <fstream>
#include <string>

#include <sys/resource.h>

#include "tools/mortise/doctor/checks.hpp"

namespace mortise::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

// docs/configuration.md: "Descriptors and disk space"
constexpr std::uint64_t descriptors_least = 30;
constexpr std::uint64_t descriptors_of_node = 42;
constexpr std::uint64_t descriptors_of_peer = 4;
constexpr std::uint64_t descriptors_of_program = 64;
// Without the log, the messages that wait, and the locks.
constexpr std::uint64_t memory_of_node = 64 * mib;
constexpr std::uint64_t largest_file = 64 * mib;

std::optional<std::uint64_t> soft_limit(__rlimit_resource resource) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

std::uint64_t others_of(const Config& config) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        config.peers, [&](const PeerConfig& peer) { return peer.id != config.own_id(); }));
}

std::string in_mib(std::uint64_t bytes) {
    return std::to_string(bytes / mib) + " MiB";
}

// "max" means that there is none, and so does a number near 2^63 in the first version of groups.
std::optional<std::uint64_t> limit_in(const fs::path& file) {
    constexpr std::uint64_t none = std::uint64_t{1} << 60U;
    std::ifstream in{file};
    std::uint64_t bytes = 0;
    if (!(in >> bytes) || bytes >= none) return std::nullopt;
    return bytes;
}

// The path of this process in the hierarchy of memory: the line "0::/path", or the one that names
// the controller in the first version of groups.
struct MemoryGroup {
    fs::path path;
    bool is_first_version = false;
};

MemoryGroup memory_group(const fs::path& cgroup) {
    MemoryGroup group;
    std::ifstream in{cgroup};
    std::string line;
    while (std::getline(in, line)) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
        if (controllers.find(",memory,") != std::string::npos)
            return {line.substr(second + 1), true};
        if (controllers == ",,") group.path = line.substr(second + 1);
    }
    return group;
}

}  // namespace

std::optional<std::uint64_t> memory_limit(const fs::path& cgroup, const fs::path& root) {
    const auto group = memory_group(cgroup);
    const auto* const name = group.is_first_version ? "memory.limit_in_bytes" : "memory.max";
    const auto base = group.is_first_version ? root / "memory" : root;
    std::optional<std::uint64_t> lowest;
    // Within a container the path may be that of the host; then only the root of the mount exists.
    for (auto at = group.path.relative_path();; at = at.parent_path()) {
        const auto limit = limit_in(base / at / name);
        if (limit && (!lowest || *limit < *lowest)) lowest = limit;
        if (at.empty()) return lowest;
    }
}

Finding judge_descriptors(std::optional<std::uint64_t> limit, const Config& config) {
    constexpr const char* about = "descriptors";
    if (!limit) return fine(about, "RLIMIT_NOFILE is unlimited");
    const auto needed = descriptors_of_node + descriptors_of_peer * others_of(config);
    const auto wanted = needed + descriptors_of_program;
    const auto text = "RLIMIT_NOFILE is " + std::to_string(*limit);
    const auto advice =
        "raise it to " + std::to_string(wanted) + " or more (`ulimit -n`, LimitNOFILE= of systemd)";
    if (*limit < descriptors_least)
        return problem(about, text + ", with which the node does not start", advice);
    if (*limit < wanted)
        return warning(about, text + ", and the node admits fewer connections", advice);
    return fine(about, text);
}

Finding judge_file_size(std::optional<std::uint64_t> limit, const Config& config) {
    constexpr const char* about = "file size";
    if (!limit) return fine(about, "RLIMIT_FSIZE is unlimited");
    const auto text = "RLIMIT_FSIZE is " + in_mib(*limit);
    const auto advice = "remove it (`ulimit -f unlimited`, LimitFSIZE= of systemd)";
    if (*limit < largest_file)
        return problem(about, text + ", less than the largest file of a node", advice);
    if (*limit < config.limits.log_bytes)
        return warning(about, text + ", less than limits.log_bytes", advice);
    return fine(about, text);
}

Finding judge_memory(std::optional<std::uint64_t> limit, const Config& config) {
    constexpr const char* about = "memory";
    if (!limit) return fine(about, "no control group limits it");
    const auto& limits = config.limits;
    const auto wanted = memory_of_node + limits.log_bytes + others_of(config) * limits.outbox_bytes;
    const auto text = "the control group of this process may have " + in_mib(*limit);
    if (*limit >= wanted) return fine(about, text);
    return warning(about,
                   text + ", and this node alone may need " + in_mib(wanted) + " beside its locks",
                   "raise the limit of the container, or lower limits.log_bytes");
}

Findings check_limits(const Config& config) {
    return {judge_descriptors(soft_limit(RLIMIT_NOFILE), config),
            judge_file_size(soft_limit(RLIMIT_FSIZE), config),
            judge_memory(memory_limit("/proc/self/cgroup", "/sys/fs/cgroup"), config)};
}

}  // namespace mortise::cli
