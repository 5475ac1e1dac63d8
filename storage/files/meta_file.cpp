#include "storage/files/meta_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fcntl.h>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"
#include "core/raft/bounds.hpp"

namespace mortise::storage {

namespace {

constexpr std::uint64_t magic = 0x6174656d74726f6dU;  // "mortmeta"
constexpr std::uint32_t meta_format = 2;
constexpr std::uint32_t format_without_mark = 1;
constexpr std::size_t slot_head_bytes = 8 + 4 + 4;
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t boot_id_bytes_max = 64;

// Later formats keep magic, format, size and the place of the checksum, so that they can be
// recognized and refused.
struct Slot {
    std::uint32_t format = 0;
    std::uint64_t sequence = 0;
    Meta meta;
};

std::uint64_t checksum_of(std::string_view bytes) {
    core::Checksum sum;
    sum.text(bytes);
    return sum.value();
}

std::string encode_content(std::uint64_t sequence, const Meta& meta) {
    core::ByteWriter out;
    out.u64(sequence);
    out.u64(meta.node.raw());
    out.u64(meta.incarnation.raw());
    out.u64(meta.boot_epoch.raw());
    out.u64(meta.hard_state.term.raw());
    out.u64(meta.hard_state.voted_for.raw());
    out.u64(meta.last.id.term.raw());
    out.u64(meta.last.id.index.raw());
    out.u64(meta.last.checksum);
    out.u64(meta.life.device);
    out.u64(meta.life.inode);
    out.text(meta.life.boot_id);
    out.u64(meta.cluster.high);
    out.u64(meta.cluster.low);
    out.u64(meta.set_aside);
    if (meta.unsynced == core::Unsynced::nothing) return out.take();
    out.u8(static_cast<std::uint8_t>(meta.unsynced));
    out.u64(meta.synced.id.term.raw());
    out.u64(meta.synced.id.index.raw());
    out.u64(meta.synced.checksum);
    return out.take();
}

std::string encode(std::uint64_t sequence, const Meta& meta) {
    const auto content = encode_content(sequence, meta);
    core::ByteWriter head;
    head.u64(magic);
    head.u32(meta.unsynced == core::Unsynced::nothing ? format_without_mark : meta_format);
    head.u32(static_cast<std::uint32_t>(content.size()));
    auto bytes = head.take() + content;
    core::ByteWriter sum;
    sum.u64(checksum_of(bytes));
    return bytes + sum.take();
}

bool decode_mark(core::ByteReader& in, Meta& meta) {
    meta.unsynced = static_cast<core::Unsynced>(in.u8());
    meta.synced.id = {core::Term{in.u64()}, core::LogIndex{in.u64()}};
    meta.synced.checksum = in.u64();
    const bool is_known =
        meta.unsynced == core::Unsynced::entries || meta.unsynced == core::Unsynced::forgotten;
    return is_known && core::is_in_bounds(meta.synced.id);
}

bool decode_content(std::string_view bytes, Slot& slot) {
    core::ByteReader in{bytes};
    slot.sequence = in.u64();
    auto& meta = slot.meta;
    meta.node = core::NodeId{in.u64()};
    meta.incarnation = core::Incarnation{in.u64()};
    meta.boot_epoch = core::BootEpoch{in.u64()};
    meta.hard_state = {core::Term{in.u64()}, core::NodeId{in.u64()}};
    meta.last.id = {core::Term{in.u64()}, core::LogIndex{in.u64()}};
    meta.last.checksum = in.u64();
    meta.life.device = in.u64();
    meta.life.inode = in.u64();
    meta.life.boot_id = in.text(boot_id_bytes_max);
    meta.cluster.high = in.u64();
    meta.cluster.low = in.u64();
    meta.set_aside = in.u64();
    meta.synced = meta.last;
    if (slot.format != format_without_mark && !decode_mark(in, meta)) return false;
    return in.done() && core::is_in_bounds(meta.hard_state.term) &&
           core::is_in_bounds(meta.last.id);
}

// Empty if the slot was never written, or is torn. For a later format it returns only that fact.
std::optional<Slot> decode(std::string_view bytes) {
    core::ByteReader head{bytes};
    const bool ours = head.u64() == magic;
    Slot slot;
    slot.format = head.u32();
    const std::size_t size = head.u32();
    if (!ours || !head.ok() || size > bytes.size() - slot_head_bytes) return std::nullopt;
    if (bytes.size() - slot_head_bytes - size < checksum_bytes) return std::nullopt;
    core::ByteReader tail{bytes.substr(slot_head_bytes + size)};
    if (tail.u64() != checksum_of(bytes.substr(0, slot_head_bytes + size))) return std::nullopt;
    if (slot.format > meta_format) return slot;
    if (!decode_content(bytes.substr(slot_head_bytes, size), slot)) return std::nullopt;
    return slot;
}

}  // namespace

bool may_lack_unsynced(const Meta& meta, const Life& now, bool is_local) {
    const bool is_same_boot = meta.life == now && !now.boot_id.empty();
    return meta.unsynced != core::Unsynced::nothing && !(is_same_boot && is_local);
}

MetaFile::MetaFile(File file, Meta meta, const Sequences& sequences)
    : file_{std::move(file)}, meta_{std::move(meta)}, sequences_{sequences} {}

Result<MetaFile> MetaFile::create(const std::filesystem::path& path, const Meta& meta,
                                  FileProbe* probe) {
    auto bytes = encode(1, meta);
    bytes.resize(slots * slot_bytes);  // at full size from the start: no write extends it
    if (auto made = replace_file(path, bytes, Durable::yes, probe); !made)
        return std::move(made).error();
    return open(path, probe);
}

Result<MetaFile> MetaFile::open(const std::filesystem::path& path, FileProbe* probe) {
    return open(path, O_RDWR, probe);
}

Result<Meta> MetaFile::read(const std::filesystem::path& path, FileProbe* probe) {
    auto file = open(path, O_RDONLY, probe);
    if (!file) return std::move(file).error();
    return std::move(file->meta_);
}

Result<MetaFile> MetaFile::open(const std::filesystem::path& path, int flags, FileProbe* probe) {
    auto file = File::open(path, flags, probe);
    if (!file) return std::move(file).error();
    auto bytes = file->read(slots * slot_bytes);
    if (!bytes) return std::move(bytes).error();
    std::optional<Slot> newest;
    Sequences sequences{};
    for (std::size_t i = 0; i * slot_bytes < bytes->size(); ++i) {
        auto slot = decode(std::string_view{*bytes}.substr(i * slot_bytes, slot_bytes));
        if (!slot) continue;
        if (slot->format > meta_format)
            return make_error(Errc::newer_format, path.string() + " is of a later version");
        sequences.at(i) = slot->sequence;
        if (!newest || slot->sequence > newest->sequence) newest = std::move(slot);
    }
    if (!newest) return make_error(Errc::damaged, path.string() + " has no whole record");
    return MetaFile{*std::move(file), std::move(newest->meta), sequences};
}

// The slots that are synced come last, and the sync covers all.
Result<void> MetaFile::write(Meta meta, Durable durable) {
    const bool is_marked = meta.unsynced != core::Unsynced::nothing;
    if (!is_marked) meta.synced = meta.last;
    if (!is_marked && meta_.unsynced != core::Unsynced::nothing) {
        for (const auto each : {Durable::no, Durable::no, Durable::yes}) {
            if (auto written = write_slot(meta, each); !written) return written;
        }
        durable = Durable::yes;
    }
    auto written = write_slot(meta, durable);
    if (written) meta_ = std::move(meta);
    return written;
}

Result<void> MetaFile::write_slot(const Meta& meta, Durable durable) {
    const std::size_t pair = durable == Durable::yes ? 0 : 2;
    const auto slot = sequences_.at(pair) <= sequences_.at(pair + 1) ? pair : pair + 1;
    const auto sequence = *std::max_element(sequences_.begin(), sequences_.end()) + 1;
    if (auto written = file_.write_at(slot * slot_bytes, encode(sequence, meta)); !written)
        return written;
    if (durable == Durable::yes) {
        if (auto synced = file_.sync(); !synced) return synced;
    }
    sequences_.at(slot) = sequence;
    return {};
}

}  // namespace mortise::storage
