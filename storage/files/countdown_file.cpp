#include "storage/files/countdown_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fcntl.h>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"

namespace mortise::storage {

namespace {

constexpr std::uint8_t format = 1;
constexpr std::size_t countdown_bytes = std::size_t{4} * 8;
constexpr std::size_t file_bytes_max = std::size_t{64} << 20U;
constexpr std::size_t checksum_bytes = 8;

struct Save {
    std::uint64_t number = 0;
    core::SavedCountdowns countdowns;
};

std::uint64_t checksum_of(std::string_view bytes) {
    core::Checksum sum;
    sum.text(bytes);
    return sum.value();
}

// One row for both kinds: the fields of the other kind are zero.
void put(core::ByteWriter& out, const core::RenewedLease& lease, core::Nanoseconds elapsed,
         core::ClosureId closure) {
    out.u64(lease.session.raw());
    out.u64(lease.renewed_at.raw());
    out.u64(static_cast<std::uint64_t>(elapsed.count()));
    out.u64(closure.raw());
}

void take(core::ByteReader& in, core::SavedCountdowns& countdowns) {
    const core::SessionId session{in.u64()};
    const core::LogIndex renewed_at{in.u64()};
    const core::Nanoseconds elapsed{static_cast<std::int64_t>(in.u64())};
    const core::ClosureId closure{in.u64()};
    if (closure.is_set()) {
        countdowns.closures.push_back({closure, elapsed});
    } else {
        countdowns.leases.push_back({{session, renewed_at}, elapsed});
    }
}

// A file never gets shorter, so bytes after the checksum belong to an earlier save.
std::string encode(std::uint64_t number, const core::SavedCountdowns& countdowns) {
    core::ByteWriter out;
    out.u8(format);
    out.u64(number);
    out.varint(countdowns.leases.size() + countdowns.closures.size());
    for (const auto& [lease, elapsed] : countdowns.leases)
        put(out, lease, elapsed, {});
    for (const auto& [closure, elapsed] : countdowns.closures)
        put(out, {}, elapsed, closure);
    auto bytes = out.take();
    core::ByteWriter sum;
    sum.u64(checksum_of(bytes));
    return bytes + sum.take();
}

// Empty if it is incomplete or damaged.
std::optional<Save> decode(std::string_view bytes) {
    core::ByteReader in{bytes};
    if (in.u8() != format) return std::nullopt;
    Save save;
    save.number = in.u64();
    for (auto count = in.count(countdown_bytes); count > 0; --count)
        take(in, save.countdowns);
    const auto content = bytes.substr(0, bytes.size() - in.remaining());
    if (!in.ok() || in.remaining() < checksum_bytes || in.u64() != checksum_of(content))
        return std::nullopt;
    return save;
}

}  // namespace

Result<CountdownFile> CountdownFile::open(const std::filesystem::path& directory,
                                          FileProbe* probe) {
    auto first = File::open(directory / "countdowns", O_RDWR | O_CREAT, probe);
    if (!first) return std::move(first).error();
    auto second = File::open(directory / "countdowns.2", O_RDWR | O_CREAT, probe);
    if (!second) return std::move(second).error();
    CountdownFile file{{*std::move(first), *std::move(second)}};
    if (auto loaded = file.load(); !loaded) return std::move(loaded).error();
    return file;
}

Result<void> CountdownFile::load() {
    for (auto& file : files_) {
        auto size = file.size();
        if (!size) return std::move(size).error();
        auto bytes = file.read(std::min<std::uint64_t>(*size, file_bytes_max));
        if (!bytes) return std::move(bytes).error();
        auto save = decode(*bytes);
        if (!save || save->number <= newest_) continue;
        newest_ = save->number;
        found_ = std::move(save->countdowns);
    }
    return {};
}

Result<void> CountdownFile::save(const core::SavedCountdowns& countdowns) {
    const auto number = newest_ + 1;
    auto written = files_.at(number % files).write_at(0, encode(number, countdowns));
    if (written) newest_ = number;
    return written;
}

}  // namespace mortise::storage
