#include "storage/base/host.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <tuple>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace mortise::storage {

namespace {

// The list of statfs(2); linux/magic.h does not have all of them.
constexpr std::array<std::uint64_t, 11> shared_file_systems{
    0x6969,      // nfs
    0x517b,      // smb
    0xff534d42,  // cifs
    0xfe534d42,  // smb2
    0x65735546,  // fuse
    0x01021997,  // 9p
    0x00c36400,  // ceph
    0x5346414f,  // afs
    0x6b414653,  // afs, the kernel's
    0x73757245,  // coda
    0x0bd00bd0,  // lustre
};

// The content of a file of the kernel; empty if it cannot be read. A stream on the file would not
// be closed on exec.
std::istringstream text_of(const std::string& path) {
    constexpr std::size_t bytes_max = 4096;
    std::string text(bytes_max, '\0');
    std::size_t size = 0;
    if (auto* const file = std::fopen(path.c_str(), "re"); file != nullptr) {
        size = std::fread(text.data(), 1, text.size(), file);
        std::ignore = std::fclose(file);
    }
    text.resize(size);
    return std::istringstream{text};
}

// The number in the file, or "max", or empty.
std::string word_in(const std::string& path) {
    std::string word;
    text_of(path) >> word;
    return word;
}

// The limit of the cgroup of this process, in either version of cgroups.
std::string pids_max() {
    auto file = text_of("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const auto path = line.substr(line.rfind(':') + 1);
        if (line.starts_with("0::")) {
            if (auto found = word_in("/sys/fs/cgroup" + path + "/pids.max"); !found.empty())
                return found;
        } else if (line.find(":pids:") != std::string::npos) {
            if (auto found = word_in("/sys/fs/cgroup/pids" + path + "/pids.max"); !found.empty())
                return found;
        }
    }
    return word_in("/sys/fs/cgroup/pids.max");  // a container sees its own cgroup at the top
}

}  // namespace

std::string thread_limits() {
    std::string limits;
    rlimit processes{};
    if (::getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY)
        limits = "RLIMIT_NPROC is " + std::to_string(processes.rlim_cur);
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        limits += (limits.empty() ? "" : ", ") +
                  ("RLIMIT_AS is " + std::to_string(space.rlim_cur) + " bytes");
    if (const auto pids = pids_max(); !pids.empty() && pids != "max")
        limits += (limits.empty() ? "" : ", ") + ("pids.max of its cgroup is " + pids);
    return limits.empty() ? limits : " (" + limits + ")";
}

std::string kernel_boot_id() {
    constexpr std::size_t length = 36;
    auto file = text_of("/proc/sys/kernel/random/boot_id");
    std::string id;
    return file >> id && id.size() == length ? id : std::string{};
}

std::uint64_t pid_namespace() {
    struct stat space {};
    return ::stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

bool is_local_file_system(std::uint64_t magic) {
    return std::find(shared_file_systems.begin(), shared_file_systems.end(), magic) ==
           shared_file_systems.end();
}

bool is_on_local_file_system(int descriptor) {
    struct statfs about {};
    if (::fstatfs(descriptor, &about) != 0) return false;
    // The type is signed on some platforms, where a large magic number becomes negative.
    return is_local_file_system(static_cast<std::uint32_t>(about.f_type));
}

}  // namespace mortise::storage
