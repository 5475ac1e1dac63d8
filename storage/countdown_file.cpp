#include "storage/countdown_file.hpp"

#include <algorithm>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"

namespace mortise::storage {

namespace {

// The second has closures as well. The first is written as long as there are none, so that an older
// version reads it.
constexpr std::uint8_t of_sessions = 1;
constexpr std::uint8_t with_closures = 2;
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
    const auto version = sum.u64() == checksum_of(content) ? in.u8() : std::uint8_t{0};
    if (version != of_sessions && version != with_closures) return {};
    std::vector<core::SavedCountdown> countdowns(in.count(countdown_bytes));
    for (auto& countdown : countdowns) {
        countdown.session = core::SessionId{in.u64()};
        countdown.renewed_at = core::LogIndex{in.u64()};
        countdown.elapsed = core::Nanoseconds{static_cast<std::int64_t>(in.u64())};
        if (version == with_closures) countdown.closure = core::ClosureId{in.u64()};
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
    const bool has_closures = std::ranges::any_of(
        countdowns, [](const auto& countdown) { return countdown.closure.is_set(); });
    core::ByteWriter out;
    out.u8(has_closures ? with_closures : of_sessions);
    out.varint(countdowns.size());
    for (const auto& countdown : countdowns) {
        out.u64(countdown.session.raw());
        out.u64(countdown.renewed_at.raw());
        out.u64(static_cast<std::uint64_t>(countdown.elapsed.count()));
        if (has_closures) out.u64(countdown.closure.raw());
    }
    auto bytes = out.take();
    core::ByteWriter sum;
    sum.u64(checksum_of(bytes));
    return replace_file(path_, bytes + sum.take(), Durable::no, probe_);
}

}  // namespace mortise::storage
