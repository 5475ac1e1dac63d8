// The checks of `mortise doctor`. Each examines one thing, changes nothing, and returns at least
// one finding. Functions named judge_... have no side effects.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/mortise/doctor/finding.hpp"
#include <mortise/config.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

// The addresses of the configuration: names that do not resolve, loopback addresses that other
// machines shall reach, listen beside the address that the others have.
[[nodiscard]] Findings check_addresses(const Config& config);

// The certificate of this node, its key, and the authorities. Nothing without TLS.
[[nodiscard]] Findings check_certificates(const Config& config, std::chrono::sys_seconds now);

// What the data directory says about its owner.
struct OwnDirectory {
    bool is_running = false;  // a node has it open
    NodeId node = 0;          // zero: the directory is empty, or its owner is unknown
    std::string cluster_id;   // empty: it was never a member
    std::uint64_t incarnation = 0;
};
struct DirectoryCheck {
    OwnDirectory own;
    Findings findings;
};
// No node can open the directory while this reads it.
[[nodiscard]] DirectoryCheck check_directory(const Config& config);
// `type` is that of statfs(2).
[[nodiscard]] Finding judge_file_system(std::int64_t type);
// `reserved`: what the node has reserved already.
[[nodiscard]] Finding judge_space(std::uint64_t free, std::uint64_t volume, std::uint64_t reserved,
                                  const Config& config);

// Latencies of fdatasync after a small append.
struct DiskSpeed {
    std::chrono::nanoseconds median{};
    std::chrono::nanoseconds p99{};
    std::chrono::nanoseconds longest{};
    std::size_t writes = 0;
};
// Writes to a file without a name in the directory, or in the nearest one above that exists.
[[nodiscard]] Findings check_disk(const Config& config, std::chrono::milliseconds length);
[[nodiscard]] Finding judge_disk(const DiskSpeed& speed, const TimingConfig& timing);

// The limits of this process and of its container. A service may have others: see its own.
[[nodiscard]] Findings check_limits(const Config& config);
// An empty limit means that there is none.
[[nodiscard]] Finding judge_descriptors(std::optional<std::uint64_t> limit, const Config& config);
[[nodiscard]] Finding judge_file_size(std::optional<std::uint64_t> limit, const Config& config);
[[nodiscard]] Finding judge_memory(std::optional<std::uint64_t> limit, const Config& config);
// The lowest limit of the control groups of this process. `cgroup` is /proc/self/cgroup, `root` is
// where the groups are mounted.
[[nodiscard]] std::optional<std::uint64_t> memory_limit(const std::filesystem::path& cgroup,
                                                        const std::filesystem::path& root);

[[nodiscard]] Findings check_clock();
[[nodiscard]] Finding judge_clock_source(const std::string& name);
// The age of a member by its clock, read during the call that began and ended at these times here.
struct UptimeSample {
    std::chrono::nanoseconds uptime{};
    std::chrono::nanoseconds began{};
    std::chrono::nanoseconds ended{};
};
// Empty if the member was restarted in between, or if the calls took too long to tell.
[[nodiscard]] std::optional<Finding> judge_clock_rate(const std::string& about,
                                                      const UptimeSample& first,
                                                      const UptimeSample& second, double bound);

// Empty unless endpoints of the peer's address are silent while another one takes connections.
[[nodiscard]] std::optional<Finding> judge_silent(const PeerConfig& peer,
                                                  const std::vector<std::string>& silent);

// Whether this node can listen. A port that a running node of this directory has is fine.
[[nodiscard]] Findings check_port(const Config& config, bool is_running);

struct PeerAnswer {
    PeerConfig peer;
    std::optional<MemberReport> report;  // if a member answered
    Findings findings;
};
// Connects to each peer but this node, to all at once; waits for that long for each answer.
[[nodiscard]] std::vector<PeerAnswer> check_peers(const Config& config,
                                                  std::chrono::milliseconds patience);
// What an address that takes connections, and gives no status, is.
[[nodiscard]] Finding judge_stranger(const PeerConfig& peer, const MemberReport& report,
                                     bool with_tls);

// Compares the reports of members with the configuration and the directory of this node.
[[nodiscard]] Findings judge_members(const Config& config, const OwnDirectory& own,
                                     const std::vector<PeerAnswer>& answers);

// "node 2"
[[nodiscard]] std::string name_of_node(NodeId id);

}  // namespace mortise::cli
