#include "storage/countdown_file.hpp"

#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"

namespace mortise::storage {

namespace {

constexpr std::uint8_t version = 1;
constexpr std::size_t countdown_bytes = std::size_t{3} * 8;
constexpr std::size_t file_bytes_max = std::size_t{64} << 20U;
constexpr std::size_t checksum_bytes = 8;

std::uint64_t checksum_of(std::string_view bytes) {
    core::Checksum sum;
    sum.text(bytes);
    return sum.value();
}

std::vector<core::SavedCountdown> decode(std::string_view bytes) {
    if (bytes.size() < checksum_bytes) return {};
    const auto content = bytes.substr(0, bytes.size() - checksum_bytes);
    core::ByteReader sum{bytes.substr(content.size())};
    core::ByteReader in{content};
    if (sum.u64() != checksum_of(content) || in.u8() != version) return {};
    std::vector<core::SavedCountdown> countdowns(in.count(countdown_bytes));
    for (auto& countdown : countdowns) {
        countdown.session = core::SessionId{in.u64()};
        countdown.renewed_at = core::LogIndex{in.u64()};
        countdown.elapsed = core::Nanoseconds{static_cast<std::int64_t>(in.u64())};
    }
    if (!in.done()) return {};
    return countdowns;
}

}  // namespace

CountdownFile::CountdownFile(std::filesystem::path path, FileProbe* probe)
    : path_{std::move(path)}, probe_{probe} {}

Result<std::vector<core::SavedCountdown>> CountdownFile::load() const {
    auto bytes = read_file(path_, file_bytes_max, probe_);
    if (!bytes) return std::move(bytes).error();
    return decode(bytes->value_or(std::string{}));
}

Result<void> CountdownFile::save(std::span<const core::SavedCountdown> countdowns) {
    core::ByteWriter out;
    out.u8(version);
    out.varint(countdowns.size());
    for (const auto& countdown : countdowns) {
        out.u64(countdown.session.raw());
        out.u64(countdown.renewed_at.raw());
        out.u64(static_cast<std::uint64_t>(countdown.elapsed.count()));
    }
    auto bytes = out.take();
    core::ByteWriter sum;
    sum.u64(checksum_of(bytes));
    return replace_file(path_, bytes + sum.take(), Durable::no, probe_);
}

}  // namespace mortise::storage
