#include "tests/support/unsynced_names.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>

#include <sys/stat.h>

namespace mortise::test {

namespace {

namespace fs = std::filesystem;

// Zero if there is none.
ino_t inode_of(const fs::path& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

bool is_meant(const fs::path& path, std::string_view part) {
    return (path.string() + "/").find(part) != std::string::npos;
}

std::map<ino_t, fs::path> directories_in(const fs::path& root) {
    std::map<ino_t, fs::path> found{{inode_of(root), root}};
    for (const auto& entry : fs::recursive_directory_iterator{root}) {
        if (entry.is_directory()) found.emplace(inode_of(entry.path()), entry.path());
    }
    return found;
}

}  // namespace

UnsyncedNames::~UnsyncedNames() {
    std::error_code ignored;
    if (!kept_.empty()) fs::remove_all(kept_, ignored);
}

void UnsyncedNames::watch(const fs::path& root) {
    if (root == root_) return;
    root_ = root;
    kept_ = root.string() + "-kept";
    fs::create_directory(kept_);
    for (const auto& [inode, directory] : directories_in(root))
        synced(directory);
}

void UnsyncedNames::synced(const fs::path& directory) {
    if (root_.empty() || directory.string().find(root_.string()) != 0) return;
    Listing listing;
    for (const auto& entry : fs::directory_iterator{directory}) {
        const auto inode = inode_of(entry.path());
        listing[entry.path().filename().string()] = inode;
        if (entry.is_regular_file() && !fs::exists(kept(inode)))
            fs::create_hard_link(entry.path(), kept(inode));
    }
    durable_[inode_of(directory)] = std::move(listing);
}

void UnsyncedNames::lose(core::Prng& prng, std::string_view part) {
    if (root_.empty()) return;
    move_directories_back(prng, part);
    settle(root_, prng, part);
    for (const auto& [inode, directory] : directories_in(root_))
        synced(directory);
}

// A rename is done or not: a directory is always in one of the two places.
void UnsyncedNames::move_directories_back(core::Prng& prng, std::string_view part) {
    const auto present = directories_in(root_);
    for (const auto& [inode, directory] : present) {
        const auto listing = durable_.find(inode);
        if (listing == durable_.end()) continue;
        for (const auto& [name, before] : listing->second) {
            const auto moved = present.find(before);
            const auto place = directory / name;
            if (moved == present.end() || moved->second == place) continue;
            if (!is_meant(place, part) || prng.one_in(2)) continue;
            fs::remove_all(place);
            fs::rename(moved->second, place);
        }
    }
}

void UnsyncedNames::settle(const fs::path& directory, core::Prng& prng, std::string_view part) {
    const auto listing = durable_[inode_of(directory)];
    std::set<std::string> names;
    for (const auto& [name, before] : listing)
        names.insert(name);
    for (const auto& entry : fs::directory_iterator{directory})
        names.insert(entry.path().filename().string());
    for (const auto& name : names) {
        const auto path = directory / name;
        const auto before = listing.contains(name) ? listing.at(name) : ino_t{0};
        const auto now = inode_of(path);
        const bool changed = now != before && !was_elsewhere(now) && is_meant(path, part);
        if (changed && prng.one_in(2)) {
            take_back(path, before);
        } else if (fs::is_directory(path)) {
            settle(path, prng, part);
        }
    }
}

void UnsyncedNames::take_back(const fs::path& name, ino_t before) const {
    fs::remove_all(name);
    if (before != 0 && fs::exists(kept(before))) fs::create_hard_link(kept(before), name);
}

bool UnsyncedNames::was_elsewhere(ino_t directory) const {
    return durable_.contains(directory) && std::ranges::any_of(durable_, [&](const auto& each) {
               return std::ranges::any_of(
                   each.second, [&](const auto& name) { return name.second == directory; });
           });
}

fs::path UnsyncedNames::kept(ino_t inode) const {
    return kept_ / std::to_string(inode);
}

}  // namespace mortise::test
