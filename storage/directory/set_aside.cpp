#include "storage/directory/set_aside.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "storage/directory/memory_directory.hpp"
#include "storage/directory/salvage.hpp"

namespace mortise::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "damaged-";
constexpr std::array<const char*, 4> parts{"log", "state", "countdowns", "countdowns.2"};

fs::path place(const fs::path& directory, std::uint64_t number) {
    return directory / (std::string{prefix} + std::to_string(number));
}

// The numbers of the existing copies.
Result<std::vector<std::uint64_t>> numbers_in(const fs::path& directory) {
    std::vector<std::uint64_t> numbers;
    std::error_code failed;
    for (fs::directory_iterator i{directory, failed}, end; !failed && i != end;
         i.increment(failed)) {
        const auto name = i->path().filename().string();
        if (!name.starts_with(prefix)) continue;
        std::uint64_t number = 0;
        const auto parsed =
            std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
        if (parsed.ptr == name.data() + name.size()) numbers.push_back(number);
    }
    if (failed) return io_error("cannot list " + directory.string(), failed.value());
    return numbers;
}

// The identity of the old directory, from any file that still has it.
Result<Meta> identify(const fs::path& directory, const OpenOptions& options, const Seams& seams) {
    auto file = MetaFile::open(directory / "meta", seams.probe);
    if (!file && may_pass(file.error())) return file.error();
    auto meta = file ? file->meta() : Meta{};
    if (!meta.cluster.is_set()) {
        const auto found = salvage(directory, seams);
        if (!file) meta = found;
        meta.cluster = found.cluster;
    }
    if (!meta.cluster.is_set() || (meta.node.is_set() && meta.node != options.self)) {
        return make_error(Errc::damaged, directory.string() +
                                             " is damaged and does not say to which cluster "
                                             "its node belongs");
    }
    meta.node = options.self;
    return meta;
}

// Copied unchanged, whatever it contains.
Result<void> copy_meta(const fs::path& directory, const fs::path& to, FileProbe* probe) {
    constexpr std::size_t bytes_max = MetaFile::slots * MetaFile::slot_bytes;
    auto bytes = read_file(directory / "meta", bytes_max, probe);
    if (!bytes) return std::move(bytes).error();
    if (!*bytes) return {};
    return replace_file(to / "meta", **bytes, Durable::yes, probe);
}

Result<void> move_parts(const fs::path& directory, const fs::path& to, FileProbe* probe) {
    for (const auto* part : parts) {
        std::error_code failed;
        const bool exists = fs::exists(directory / part, failed);
        if (failed)
            return io_error("cannot look at " + (directory / part).string(), failed.value());
        if (!exists) continue;
        if (auto moved = move(directory / part, to / part, probe); !moved) return moved;
    }
    if (auto synced = sync_directory(to, probe); !synced) return synced;
    return sync_directory(directory, probe);
}

// Each copy may be the last copy of something. Only a person can decide whether it is needed, and
// copies must not fill the disk unnoticed.
Result<std::uint64_t> next_number(const fs::path& directory) {
    const auto numbers = numbers_in(directory);
    if (!numbers) return numbers.error();
    if (numbers->size() >= set_aside_max) {
        return make_error(Errc::damaged,
                          directory.string() + " must be moved aside, and " +
                              std::to_string(numbers->size()) + " earlier copies are in it: " +
                              "remove those of damaged-1, damaged-2 and so on that nobody needs, "
                              "and start again");
    }
    return numbers->empty() ? 1 : *std::max_element(numbers->begin(), numbers->end()) + 1;
}

}  // namespace

Result<fs::path> set_aside(const fs::path& directory, const OpenOptions& options,
                           const Seams& seams) {
    auto meta = identify(directory, options, seams);
    if (!meta) return std::move(meta).error();
    const auto number = next_number(directory);
    if (!number) return number.error();
    meta->set_aside = *number;
    auto to = place(directory, meta->set_aside);
    if (auto made = make_directory(to, seams.probe); !made) return std::move(made).error();
    if (auto copied = copy_meta(directory, to, seams.probe); !copied)
        return std::move(copied).error();
    auto begun = MetaFile::create(directory / "meta", *meta, seams.probe);
    if (!begun) return std::move(begun).error();
    auto finished = finish_setting_aside(directory, *begun, options, seams.probe);
    if (!finished) return std::move(finished).error();
    return to;
}

Result<MetaFile> finish_setting_aside(const fs::path& directory, const MetaFile& meta,
                                      const OpenOptions& options, FileProbe* probe) {
    const auto& old = meta.meta();
    const auto number = old.set_aside;
    if (auto moved = move_parts(directory, place(directory, number), probe); !moved)
        return std::move(moved).error();
    Meta anew;
    anew.node = old.node;
    anew.incarnation = mint_incarnation(options, old.incarnation);
    anew.cluster = old.cluster;
    return MetaFile::create(directory / "meta", anew, probe);
}

}  // namespace mortise::storage
