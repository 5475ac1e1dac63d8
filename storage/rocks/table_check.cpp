#include "storage/rocks/table_check.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "storage/rocks/rocks_crc.hpp"

namespace mortise::storage {

namespace {

using rocksdb::IOStatus;

// The footer is the end of the file: the kind of the checksums, the places of two blocks, filler,
// the version and this number.
constexpr std::uint64_t magic = 0x88e241b785f4cff7U;
constexpr std::size_t footer_bytes = 1 + 40 + 4 + 8;
constexpr std::size_t magic_bytes = 8;
constexpr std::uint32_t newest_version = 5;
constexpr std::uint8_t crc32c_kind = 1;
// After each block: its compression and its checksum.
constexpr std::size_t trailer_bytes = 1 + 4;
constexpr std::size_t number_bytes = 4;
constexpr std::string_view properties_name = "rocksdb.properties";

struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

Place get_place(core::ByteReader& in) {
    const auto offset = in.varint();
    return {offset, in.varint()};
}

class TableCheck {
public:
    TableCheck(const rocksdb::FSRandomAccessFile& table, std::uint64_t bytes)
        : table_{table}, bytes_{bytes} {}

    void run() {
        if (bytes_ < footer_bytes) return;
        const auto footer = get({bytes_ - footer_bytes, footer_bytes});
        if (!footer) return;
        core::ByteReader end{std::string_view{*footer}.substr(footer_bytes - magic_bytes)};
        if (end.u64() != magic) return;
        core::ByteReader in{*footer};
        // Later versions have another field here.
        core::ByteReader version{
            std::string_view{*footer}.substr(footer_bytes - magic_bytes - number_bytes)};
        if (version.u32() > newest_version) return;
        const auto kind = in.u8();
        const auto names = get_place(in);
        const auto index = get_place(in);
        if (!in.ok() || !fits(names) || !fits(index)) return fail("the footer");
        if (kind == crc32c_kind) check_names(names);
    }
    [[nodiscard]] const IOStatus& status() const { return status_; }

private:
    void fail(const char* what) {
        status_ = IOStatus::Corruption(std::string{"a table is damaged: "} + what);
    }
    [[nodiscard]] bool fits(const Place& block) const {
        return block.offset <= bytes_ && bytes_ - block.offset >= trailer_bytes &&
               block.bytes <= bytes_ - block.offset - trailer_bytes;
    }
    // Empty if it cannot be read.
    std::optional<std::string> get(const Place& place) {
        std::string bytes(place.bytes, '\0');
        rocksdb::Slice got;
        status_ = table_.Read(place.offset, bytes.size(), {}, &got, bytes.data(), nullptr);
        if (!status_.ok()) return std::nullopt;
        if (got.size() == bytes.size()) return got.ToString();
        fail("it is cut short");
        return std::nullopt;
    }
    // The block without its trailer.
    std::optional<std::string> get_block(const Place& place, const char* what) {
        auto block = get({place.offset, place.bytes + trailer_bytes});
        if (!block) return block;
        core::ByteReader sum{std::string_view{*block}.substr(place.bytes + 1)};
        const bool is_right =
            sum.u32() == stored_crc32c(std::string_view{*block}.substr(0, place.bytes + 1));
        block->resize(place.bytes);
        if (is_right) return block;
        fail(what);
        return std::nullopt;
    }

    // Checks the block that locates the others: names in order, each without the prefix that it
    // shares with the one before; then numbers, the last of which is their count.
    void check_names(const Place& place) {
        const auto block = get_block(place, "the names of its blocks");
        if (!block) return;
        if (block->size() < number_bytes) return fail("it has no names");
        std::string_view left{*block};
        const std::uint64_t numbers =
            core::ByteReader{left.substr(left.size() - number_bytes)}.u32();
        if (numbers >= left.size() / number_bytes) return fail("the end of its names");
        left.remove_suffix((numbers + 1) * number_bytes);
        std::string name;
        while (!left.empty()) {
            const auto found = take_name(left, name);
            if (!found || !fits(*found)) return fail("the place of a block");
            if (name != properties_name) continue;
            static_cast<void>(get_block(*found, "its properties"));
            return;
        }
    }
    static std::optional<Place> take_name(std::string_view& left, std::string& name) {
        core::ByteReader in{left};
        const auto shared = in.varint();
        const auto more = in.varint();
        const auto value = in.varint();
        if (!in.ok() || shared > name.size()) return std::nullopt;
        left.remove_prefix(left.size() - in.remaining());
        if (more > left.size() || value > left.size() - more) return std::nullopt;
        name.resize(shared);
        name += left.substr(0, more);
        core::ByteReader place{left.substr(more, value)};
        const auto found = get_place(place);
        left.remove_prefix(more + value);
        return place.ok() ? std::optional{found} : std::nullopt;
    }

    const rocksdb::FSRandomAccessFile& table_;
    std::uint64_t bytes_;
    IOStatus status_;
};

}  // namespace

IOStatus check_table(const rocksdb::FSRandomAccessFile& table, std::uint64_t bytes) {
    TableCheck check{table, bytes};
    check.run();
    return check.status();
}

}  // namespace mortise::storage
