#include "tests/support/unsynced_bytes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace mortise::test {

namespace {

constexpr std::uint64_t sector_bytes = 512;

enum class Fate : std::uint8_t { old, written, garbage };

std::uint64_t draw_size(std::uint64_t synced, std::uint64_t now, core::Prng& prng) {
    if (prng.one_in(2)) return synced;
    return now > synced ? synced + prng.below(now - synced + 1) : now;
}

}  // namespace

void UnsyncedBytes::written(const std::string& path, std::uint64_t offset, std::string_view bytes) {
    auto& file = files_[path];
    const auto end = offset + bytes.size();
    if (file.now.size() < end) file.now.resize(end);
    file.now.replace(offset, bytes.size(), bytes);
    const bool is_clean = file.dirty_from == file.dirty_to;
    file.dirty_from = is_clean ? offset : std::min(file.dirty_from, offset);
    file.dirty_to = is_clean ? end : std::max(file.dirty_to, end);
}

void UnsyncedBytes::truncated(const std::string& path, std::uint64_t size) {
    if (has(path)) files_[path].now.resize(size);
}

void UnsyncedBytes::synced(const std::string& path) {
    auto& file = files_[path];
    const auto to = std::min<std::uint64_t>(file.dirty_to, file.now.size());
    file.durable.resize(file.now.size());
    for (auto at = file.dirty_from; at < to; ++at)
        file.durable[at] = file.now[at];
    file.dirty_from = file.dirty_to = 0;
}

void UnsyncedBytes::lose(core::Prng& prng, std::string_view part) {
    for (const auto& [path, file] : files_) {
        if (path.find(part) == std::string::npos || !std::filesystem::exists(path)) continue;
        const auto remains = remains_of(file, prng);
        std::ofstream{path, std::ios::binary | std::ios::trunc} << remains;
    }
    files_.clear();
}

// All sectors have the same fate half of the time: so that often nothing, or everything, is left of
// a write of many sectors.
std::string UnsyncedBytes::remains_of(const File& file, core::Prng& prng) {
    auto left = file.durable;
    left.resize(draw_size(file.durable.size(), file.now.size(), prng));
    const bool is_mixed = prng.one_in(2);
    auto fate = static_cast<Fate>(prng.below(3));
    const auto end = std::min<std::uint64_t>({file.dirty_to, left.size(), file.now.size()});
    for (auto at = file.dirty_from; at < end;) {
        const auto sector_end = std::min(end, (at / sector_bytes + 1) * sector_bytes);
        if (is_mixed) fate = static_cast<Fate>(prng.below(3));
        for (; at < sector_end; ++at) {
            if (fate == Fate::written) left[at] = file.now[at];
            if (fate == Fate::garbage) left[at] = static_cast<char>(prng.next());
        }
    }
    return left;
}

}  // namespace mortise::test
