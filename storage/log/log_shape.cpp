#include "storage/log/log_shape.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "storage/rocks/rocks_crc.hpp"

namespace mortise::storage {

namespace {

constexpr std::size_t block_bytes = log_block_bytes;
constexpr std::size_t head_bytes = 7;

// The position of a record within its write.
enum RecordType : std::uint8_t { full = 1, first = 2, middle = 3, last = 4 };

struct Record {
    std::uint8_t type = 0;
    std::size_t bytes = 0;  // including its head
    bool has_content = true;
};

// A start that leaves out a torn end writes a batch without content to the next log, with the
// sequence number of its head.
constexpr std::size_t empty_batch_bytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);

bool is_empty_batch(std::string_view content) {
    core::ByteReader in{content};
    static_cast<void>(in.u64());
    return in.u32() == 0 && in.done();
}

// The complete record that begins here, if there is one. `rest` is the rest of the block.
std::optional<Record> record_at(std::string_view rest) {
    if (rest.size() < head_bytes) return std::nullopt;
    core::ByteReader in{rest};
    const auto crc = in.u32();
    const std::size_t length = in.u16();
    const auto type = in.u8();
    if (type < full || type > last || head_bytes + length > rest.size()) return std::nullopt;
    constexpr std::size_t type_at = head_bytes - 1;
    if (crc != stored_crc32c(rest.substr(type_at, 1 + length))) return std::nullopt;
    const bool is_empty = type == full && length == empty_batch_bytes &&
                          is_empty_batch(rest.substr(head_bytes, length));
    return Record{type, head_bytes + length, !is_empty};
}

bool begins_write(const Record& record) {
    return record.type == full || record.type == first;
}

// After a bad place the next record may begin at any byte.
bool write_begins_in(std::string_view block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        const auto record = record_at(block.substr(i));
        if (record && begins_write(*record)) return true;
    }
    return false;
}

}  // namespace

// Trusts lengths, as RocksDB does.
std::optional<std::size_t> zeros_in(std::string_view block) {
    std::size_t at = 0;
    while (at + head_bytes <= block.size()) {
        core::ByteReader in{block.substr(at + sizeof(std::uint32_t))};
        const std::size_t length = in.u16();
        const auto type = in.u8();
        if (type == 0 && length == 0) return at;
        at += head_bytes + length;
    }
    return std::nullopt;
}

bool write_begins_after(std::string_view bytes, std::size_t at) {
    while (at < bytes.size()) {
        const auto block_end = std::min(bytes.size(), (at / block_bytes + 1) * block_bytes);
        if (write_begins_in(bytes.substr(at, block_end - at))) return true;
        at = block_end;
    }
    return false;
}

bool are_zeros(std::string_view bytes) {
    return bytes.find_first_not_of('\0') == std::string_view::npos;
}

LogContent content_of_log(std::string_view bytes) {
    LogContent content;
    bool within_write = false;
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto block_left = block_bytes - at % block_bytes;
        if (block_left < head_bytes) {  // filler
            at += block_left;
            continue;
        }
        const auto record = record_at(bytes.substr(at, block_left));
        if (!record || begins_write(*record) == within_write) {
            if (are_zeros(bytes.substr(at))) break;  // written ahead, and not used
            const bool goes_on = write_begins_after(bytes, at);
            content.shape = goes_on ? LogShape::damaged : LogShape::cut_short;
            content.has_writes = content.has_writes || goes_on;
            return content;
        }
        content.has_writes = content.has_writes || record->has_content;
        within_write = record->type == first || record->type == middle;
        at += record->bytes;
        if (!within_write) content.whole_bytes = at;
    }
    if (within_write) content.shape = LogShape::cut_short;
    return content;
}

}  // namespace mortise::storage
