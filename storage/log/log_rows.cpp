#include "storage/log/log_rows.hpp"

#include "core/base/bytes.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/bounds.hpp"
#include "storage/rocks/sealed_row.hpp"

namespace mortise::storage {

namespace {

constexpr std::uint8_t version = 1;
constexpr std::size_t index_bytes = 8;
constexpr std::size_t entry_head_bytes = 1 + 8 + 1 + 8 + 8;
constexpr std::size_t configuration_bytes_max = std::size_t{1} << 20U;

bool is_known(core::EntryKind kind) {
    return kind >= core::EntryKind::noop && kind <= core::EntryKind::era;
}

}  // namespace

std::string entry_key(core::LogIndex index) {
    std::string key{entry_prefix};
    for (unsigned shift = 64; shift > 0; shift -= 8)
        key.push_back(static_cast<char>(index.raw() >> (shift - 8)));
    return key;
}

std::optional<core::LogIndex> index_of_key(std::string_view key) {
    if (key.size() != 1 + index_bytes || key.front() != entry_prefix) return std::nullopt;
    std::uint64_t index = 0;
    for (const char byte : key.substr(1))
        index = (index << 8U) | static_cast<unsigned char>(byte);
    return core::LogIndex{index};
}

std::string encode_entry_head(const core::Entry& entry, std::uint64_t previous) {
    core::ByteWriter out;
    out.u8(version);
    out.u64(entry.id.term.raw());
    out.u8(static_cast<std::uint8_t>(entry.kind));
    out.u64(entry.checksum);
    out.u64(previous);
    return out.take();
}

std::optional<EntryRow> decode_entry(core::LogIndex index, std::string_view bytes) {
    core::ByteReader in{bytes};
    EntryRow row;
    if (in.u8() != version) return std::nullopt;
    row.entry.id = {core::Term{in.u64()}, index};
    row.entry.kind = static_cast<core::EntryKind>(in.u8());
    row.entry.checksum = in.u64();
    row.previous = in.u64();
    if (!in.ok() || !is_known(row.entry.kind) || !core::is_in_bounds(row.entry.id))
        return std::nullopt;
    row.entry.payload = core::Bytes{std::string{bytes.substr(entry_head_bytes)}};
    if (!core::is_intact(row.entry)) return std::nullopt;
    return row;
}

std::string encode_hard_state(const core::HardState& state) {
    core::ByteWriter out;
    out.u8(version);
    out.u64(state.term.raw());
    out.u64(state.voted_for.raw());
    return seal(hard_state_key, out.take());
}

std::optional<core::HardState> decode_hard_state(std::string_view bytes) {
    const auto content = unseal(hard_state_key, bytes);
    if (!content) return std::nullopt;
    core::ByteReader in{*content};
    if (in.u8() != version) return std::nullopt;
    const core::HardState state{core::Term{in.u64()}, core::NodeId{in.u64()}};
    if (!in.done() || !core::is_in_bounds(state.term)) return std::nullopt;
    return state;
}

std::string encode_log_head(const LogHead& head) {
    core::ByteWriter out;
    out.u8(version);
    out.u64(head.node.raw());
    out.u64(head.incarnation.raw());
    out.u64(head.base.id.term.raw());
    out.u64(head.base.id.index.raw());
    out.u64(head.base_checksum);
    out.text(encode_optional(head.base.configuration));
    return seal(log_head_key, out.take());
}

std::optional<LogHead> decode_log_head(std::string_view bytes) {
    const auto content = unseal(log_head_key, bytes);
    if (!content) return std::nullopt;
    core::ByteReader in{*content};
    LogHead head;
    if (in.u8() != version) return std::nullopt;
    head.node = core::NodeId{in.u64()};
    head.incarnation = core::Incarnation{in.u64()};
    head.base.id = {core::Term{in.u64()}, core::LogIndex{in.u64()}};
    head.base_checksum = in.u64();
    auto configuration = decode_optional(in.text(configuration_bytes_max));
    if (!in.done() || !configuration || !core::is_in_bounds(head.base.id)) return std::nullopt;
    head.base.configuration = *std::move(configuration);
    return head;
}

std::string encode_optional(const core::Configuration& configuration) {
    if (!configuration.is_formed()) return {};
    return std::string{core::encode_configuration(configuration).view()};
}

std::optional<core::Configuration> decode_optional(std::string_view bytes) {
    if (bytes.empty()) return core::Configuration{};
    return core::decode_configuration(core::Bytes{std::string{bytes}});
}

bool is_of_later_version(std::string_view row) {
    return !row.empty() && static_cast<std::uint8_t>(row.front()) > version;
}

}  // namespace mortise::storage
