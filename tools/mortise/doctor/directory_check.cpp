// Checks the data directory: whose it is, whether it can be written, and on what it is.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/exit_code.hpp"
#include <mortise/directory_errc.hpp>
#include <mortise/dump.hpp>

namespace mortise::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* about_directory = "data_dir";
constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

std::string user_name(uid_t id) {
    const auto* const entry = ::getpwuid(id);
    return entry != nullptr ? entry->pw_name : "user " + std::to_string(id);
}

std::string words_of(int number) {
    return std::generic_category().message(number);
}

std::string in_mib(std::uint64_t bytes) {
    return std::to_string(bytes / mib) + " MiB";
}

// The directory, or the nearest one above it if it is yet to be made. Absolute.
fs::path existing_part(const fs::path& path) {
    std::error_code failed;
    auto at = fs::absolute(path, failed).lexically_normal();
    if (!at.has_filename()) at = at.parent_path();
    while (!fs::exists(fs::symlink_status(at, failed)) && at.has_relative_path())
        at = at.parent_path();
    return at;
}

// Errors that make everything else about the directory meaningless.
std::optional<Finding> judge_place(const fs::path& path, const fs::path& existing) {
    const auto text = existing.string();
    struct stat about {};
    // Only the last name of the path must not be a link.
    const bool is_last = existing == path;
    const int failed =
        is_last ? ::lstat(existing.c_str(), &about) : ::stat(existing.c_str(), &about);
    if (failed != 0) {
        return problem(about_directory, "cannot look at " + text + ": " + words_of(errno),
                       "correct data_dir, or the permissions of the directories above it");
    }
    if (S_ISLNK(about.st_mode)) {
        return problem(about_directory, text + " is a symbolic link, which a node refuses",
                       "name the directory that it leads to");
    }
    if (!S_ISDIR(about.st_mode)) {
        return problem(about_directory, text + " is not a directory",
                       "name a directory, or one that the node may create: " + path.string());
    }
    return std::nullopt;
}

// A running node may have removed the file meanwhile.
bool is_open(const fs::path& path) {
    std::error_code failed;
    const int enter = fs::is_directory(path, failed) ? X_OK : 0;
    return ::access(path.c_str(), R_OK | W_OK | enter) == 0 || errno == ENOENT;
}

// The file, or a file below it, that this user may not read and write; empty if there is none.
fs::path first_closed_below(const fs::path& path) {
    if (!is_open(path)) return path;
    std::error_code failed;
    for (fs::directory_iterator entry{path, failed}, end; !failed && entry != end;
         entry.increment(failed)) {
        if (!is_open(entry->path())) return entry->path();
    }
    return {};
}

// What a node has there. A directory may have other content as well, such as lost+found.
constexpr std::array<const char*, 7> parts{"meta",         "log",  "state",  "countdowns",
                                           "countdowns.2", "LOCK", "reserve"};

fs::path first_closed(const fs::path& directory) {
    if (!is_open(directory)) return directory;
    for (const auto* part : parts) {
        if (auto closed = first_closed_below(directory / part); !closed.empty()) return closed;
    }
    return {};
}

Findings judge_access(const fs::path& directory, bool is_new) {
    struct statvfs volume {};
    const bool is_read_only =
        ::statvfs(directory.c_str(), &volume) == 0 && (volume.f_flag & ST_RDONLY) != 0;
    if (is_read_only) {
        return {problem(about_directory,
                        directory.string() + " is on a file system that is mounted read-only",
                        "mount it for writing (the kernel does this after errors of the disk: see "
                        "dmesg), or name another directory")};
    }
    const auto closed = first_closed(directory);
    if (!closed.empty()) {
        struct stat about {};
        const bool is_known = ::stat(closed.c_str(), &about) == 0;
        return {problem(about_directory,
                        user_name(::geteuid()) + " may not read and write " + closed.string() +
                            (is_known ? ", which belongs to " + user_name(about.st_uid) : ""),
                        "run the node and this command as the same user, and give it the directory "
                        "with all that is in it (chown -R, chmod -R u=rwX)")};
    }
    struct stat about {};
    if (!is_new && ::stat(directory.c_str(), &about) == 0 &&
        (about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return {warning(about_directory, directory.string() + " can be used by other users, too",
                        "run: chmod -R go= " + directory.string())};
    }
    return {};
}

bool has_no_content(const fs::path& directory) {
    std::error_code failed;
    const auto has = [&](const char* name) { return fs::exists(directory / name, failed); };
    return !has("meta") && !has("log") && !has("state");
}

constexpr const char* form_anew =
    "keep a copy of its content; if no other member has its data, form a new cluster: end all "
    "programs that may hold a lock, reset the tokens at the resources, remove the content of "
    "data_dir, and start it (docs/backup.md, Tokens)";

bool has_other_peers(const Config& config) {
    return !config.peers_from.empty() ||
           std::ranges::any_of(config.peers,
                               [&](const PeerConfig& peer) { return peer.id != config.own_id(); });
}

// What a start could not use. The node that runs now may wait for a member that does not exist.
Findings judge_moved_aside(const Config& config, const fs::path& directory) {
    const auto first = directory / "damaged-1";
    std::error_code failed;
    if (!fs::exists(first, failed)) return {};
    return {warning(
        about_directory, first.string() + " has content that was damaged, and was moved aside",
        has_other_peers(config) ? "look at it with mortise dump, and remove it when nobody needs it"
                                : std::string{"if this node is not ready: "} + form_anew)};
}

Finding judge_owner(const Config& config, const DirectoryDump& dump, const std::string& path) {
    if (dump.node != 0 && dump.node != config.own_id()) {
        return problem(about_directory,
                       path + " belongs to " + name_of_node(dump.node) + ", and this is " +
                           name_of_node(config.own_id()),
                       "correct data_dir or node_id; every node needs a directory of its own");
    }
    if (dump.is_newer) {
        return problem(about_directory,
                       path + " was written by a later version: " + dump.damage.front(),
                       "start it with that version");
    }
    if (!dump.damage.empty()) {
        const bool heals = !dump.cluster_id.empty() && has_other_peers(config);
        const auto text = path + " is damaged: " + dump.damage.front();
        return heals ? warning(about_directory, text,
                               "start the node: it moves the content aside, and receives "
                               "everything from the other members")
                     : problem(about_directory, text, form_anew);
    }
    const bool is_empty = dump.members.empty() && dump.last_index == 0;
    if (is_empty && !dump.cluster_id.empty() && config.role == Role::voter) {
        const auto text = path + " has lost the data of its cluster, " + dump.cluster_id;
        return has_other_peers(config)
                   ? warning(about_directory, text,
                             "start the node: it receives everything from the other members")
                   : problem(about_directory, text, form_anew);
    }
    return fine(about_directory,
                path + " is that of " + name_of_node(dump.node) +
                    (dump.cluster_id.empty() ? ", of no cluster yet"
                                             : " of the cluster " + dump.cluster_id));
}

// Reads the whole directory, as a start does.
DirectoryCheck read_content(const Config& config, const fs::path& directory) {
    DirectoryCheck check;
    const auto path = directory.string();
    try {
        const auto dump = dump_directory(directory);
        check.own.node = dump.node;
        check.own.cluster_id = dump.cluster_id;
        check.own.incarnation = dump.incarnation;
        check.findings.push_back(judge_owner(config, dump, path));
    } catch (const std::system_error& error) {
        if (error.code() == DirectoryErrc::locked) {
            check.own.is_running = true;
            check.own.node = config.own_id();
            const auto text = line_of(error);
            check.findings.push_back(fine(about_directory, text.substr(0, text.find("; "))));
        } else {
            check.findings.push_back(problem(about_directory, line_of(error),
                                             "give the user of the node the right to read all of "
                                             "it (chown -R)"));
        }
    }
    return check;
}

Findings judge_volume(const Config& config, const fs::path& directory, const fs::path& data) {
    Findings findings;
    struct statfs system {};
    if (::statfs(directory.c_str(), &system) == 0)
        findings.push_back(judge_file_system(static_cast<std::int64_t>(system.f_type)));
    struct statvfs volume {};
    if (::statvfs(directory.c_str(), &volume) != 0) return findings;
    struct stat reserve {};
    const bool has_reserve = ::stat((data / "reserve").c_str(), &reserve) == 0;
    constexpr std::uint64_t block = 512;
    findings.push_back(judge_space(
        volume.f_bavail * volume.f_frsize, volume.f_blocks * volume.f_frsize,
        has_reserve ? static_cast<std::uint64_t>(reserve.st_blocks) * block : 0, config));
    if (volume.f_files != 0 && volume.f_favail == 0) {
        findings.push_back(problem("space", "the file system has no free inode",
                                   "remove files, or use another file system"));
    }
    return findings;
}

}  // namespace

// The numbers of statfs(2); those of network file systems are not all in <linux/magic.h>.
Finding judge_file_system(std::int64_t type) {
    constexpr const char* about = "file system";
    constexpr std::int64_t cifs = 0xFF534D42;
    constexpr std::int64_t smb2 = 0xFE534D42;
    constexpr std::int64_t fuse = 0x65735546;
    switch (type & 0xFFFFFFFF) {
        case TMPFS_MAGIC:
        case RAMFS_MAGIC:
            return warning(about,
                           "it is in memory (tmpfs): a restart of the machine loses it, and "
                           "a majority of such restarts loses the cluster",
                           "put data_dir on a disk");
        case OVERLAYFS_SUPER_MAGIC:
            return warning(about,
                           "it is that of a container (overlay): it is lost with the "
                           "container",
                           "put data_dir on a volume");
        case NFS_SUPER_MAGIC:
        case SMB_SUPER_MAGIC:
        case cifs:
        case smb2:
            return warning(about,
                           "it is a network file system: what is synced, and who has the "
                           "directory locked, depends on its server",
                           "put data_dir on a local disk");
        case fuse:
            return warning(about,
                           "it is a file system in user space (FUSE), which may not keep "
                           "what was synced",
                           "put data_dir on a local disk");
        default: return fine(about, "it is neither in memory nor on the network");
    }
}

// A start needs twice the reserve, and keeps one of them. Its log gets a part of the rest
// (storage/README.md, storage/files/log_room.hpp).
Finding judge_space(std::uint64_t free, std::uint64_t volume, std::uint64_t reserved,
                    const Config& config) {
    constexpr const char* about = "space";
    constexpr std::uint64_t part = 64;
    const auto reserve = std::max(4 * mib, std::min(64 * mib, volume / part));
    const auto text = in_mib(free) + " of " + in_mib(volume) + " are free";
    if (free + reserved < 2 * reserve) {
        return problem(about, text + ", and a node starts with " + in_mib(2 * reserve) + " or more",
                       "make space on the volume of data_dir");
    }
    constexpr std::uint64_t part_of_log = 7;
    const auto kept = (free + reserved - reserve) / part_of_log;
    if (kept < config.limits.log_bytes) {
        return warning(about,
                       text + ", so about " + in_mib(kept) +
                           " of the log are kept for slow members, and not limits.log_bytes",
                       "make space on the volume of data_dir, or lower limits.log_bytes");
    }
    return fine(about, text);
}

DirectoryCheck check_directory(const Config& config) {
    const auto existing = existing_part(config.data_dir);
    std::error_code failed;
    auto wanted = fs::absolute(config.data_dir, failed).lexically_normal();
    if (!wanted.has_filename()) wanted = wanted.parent_path();
    if (auto wrong = judge_place(wanted, existing)) return {{}, {*std::move(wrong)}};
    const bool is_new = existing != wanted || has_no_content(existing);
    DirectoryCheck check;
    check.findings = judge_access(existing, is_new);
    if (is_new) {
        check.findings.push_back(fine(about_directory, wanted.string() + " is empty: this node "
                                                                         "starts for the first "
                                                                         "time"));
    } else if (count(check.findings, Severity::error) == 0) {
        auto content = read_content(config, existing);
        check.own = content.own;
        append(check.findings, std::move(content.findings));
        append(check.findings, judge_moved_aside(config, existing));
    }
    append(check.findings, judge_volume(config, existing, wanted));
    return check;
}

}  // namespace mortise::cli
