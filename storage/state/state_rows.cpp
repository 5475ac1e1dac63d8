#include "storage/state/state_rows.hpp"

#include "core/base/bytes.hpp"
#include "core/raft/bounds.hpp"
#include "storage/log/log_rows.hpp"
#include "storage/rocks/sealed_row.hpp"

namespace mortise::storage {

namespace {

constexpr std::uint8_t version = 1;
constexpr std::size_t configuration_bytes_max = std::size_t{1} << 20U;

}  // namespace

std::string encode_applied(const AppliedRow& row) {
    core::ByteWriter out;
    out.u8(version);
    out.u64(row.incarnation.raw());
    out.u64(row.row_set);
    out.u64(row.applied.term.raw());
    out.u64(row.applied.index.raw());
    out.u8(row.is_installed ? 1 : 0);
    out.text(encode_optional(row.configuration));
    return seal(applied_key, out.take());
}

std::optional<AppliedRow> decode_applied(std::string_view bytes) {
    const auto content = unseal(applied_key, bytes);
    if (!content) return std::nullopt;
    core::ByteReader in{*content};
    AppliedRow row;
    if (in.u8() != version) return std::nullopt;
    row.incarnation = core::Incarnation{in.u64()};
    row.row_set = in.u64();
    row.applied = {core::Term{in.u64()}, core::LogIndex{in.u64()}};
    const auto installed = in.u8();
    auto configuration = decode_optional(in.text(configuration_bytes_max));
    const bool is_sound = installed <= 1 && core::is_in_bounds(row.applied);
    if (!in.done() || !is_sound || !configuration) return std::nullopt;
    row.is_installed = installed == 1;
    row.configuration = *std::move(configuration);
    return row;
}

std::string row_key(std::uint64_t row_set, std::string_view key) {
    return row_set_begin(row_set).append(key);
}

std::string row_set_begin(std::uint64_t row_set) {
    std::string begin{row_prefix};
    for (unsigned shift = 64; shift > 0; shift -= 8)
        begin.push_back(static_cast<char>(row_set >> (shift - 8)));
    return begin;
}

}  // namespace mortise::storage
