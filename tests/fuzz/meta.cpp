// The small files and the rows of a data directory, as if a disk had altered any of them: each is
// read as a valid value, or as damage. What is read is written to the same bytes.
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/checksum.hpp"
#include "storage/files/countdown_file.hpp"
#include "storage/files/meta_file.hpp"
#include "storage/log/log_rows.hpp"
#include "storage/log/log_shape.hpp"
#include "storage/rocks/sealed_row.hpp"
#include "storage/state/state_rows.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/scratch.hpp"

namespace mortise::fuzz {
namespace {

using namespace storage;

// Half of the inputs get a correct checksum, which a fuzzer cannot find.
std::string sealed(std::string_view key, Choices& choices) {
    const bool is_sealed = choices.coin();
    auto content = choices.rest();
    return is_sealed ? seal(key, std::move(content)) : content;
}

void read_hard_state(Choices& choices) {
    const auto row = sealed(hard_state_key, choices);
    if (const auto state = decode_hard_state(row)) FUZZ_CHECK(encode_hard_state(*state) == row);
}

void read_log_head(Choices& choices) {
    const auto row = sealed(log_head_key, choices);
    static_cast<void>(is_of_later_version(row));
    const auto head = decode_log_head(row);
    if (!head) return;
    const auto written = encode_log_head(*head);
    const auto again = decode_log_head(written);
    FUZZ_CHECK(again && encode_log_head(*again) == written);
}

void read_applied(Choices& choices) {
    const auto applied = decode_applied(sealed(applied_key, choices));
    if (!applied) return;
    const auto written = encode_applied(*applied);
    const auto again = decode_applied(written);
    FUZZ_CHECK(again && encode_applied(*again) == written);
}

void read_entry(Choices& choices) {
    const bool is_right = choices.coin();
    const auto index = index_of_key(choices.text(9));
    auto row = choices.rest();
    constexpr std::size_t head_bytes = 1 + 8 + 1 + 8 + 8;
    if (is_right && index && row.size() >= head_bytes) {
        core::ByteReader in{row};
        in.u8();
        const core::Term term{in.u64()};
        const auto kind = static_cast<core::EntryKind>(in.u8());
        const auto entry =
            core::make_entry({term, *index}, kind, core::Bytes{row.substr(head_bytes)});
        row = encode_entry_head(entry, 7) + row.substr(head_bytes);
    }
    if (!index) return;
    const auto read = decode_entry(*index, row);
    if (!read) return;
    FUZZ_CHECK(core::is_intact(read->entry));
    FUZZ_CHECK(entry_key(*index).size() == 9 && index_of_key(entry_key(*index)) == index);
    auto written = encode_entry_head(read->entry, read->previous);
    FUZZ_CHECK(written.append(read->entry.payload.view()) == row);
}

void read_meta_file(Choices& choices) {
    const auto path = scratch() / "meta";
    put(path, choices.rest());
    auto file = MetaFile::open(path, nullptr);
    if (!file) {
        FUZZ_CHECK(!file.error().what.empty());
        return;
    }
    const auto meta = file->meta();
    FUZZ_CHECK(file->write(meta, Durable::no));
    const auto again = MetaFile::open(path, nullptr);
    FUZZ_CHECK(again && again->meta() == meta);
}

// Likewise, with the correct checksum.
void read_summed_meta_file(Choices& choices) {
    constexpr std::size_t head_bytes = 16;
    std::string bytes;
    for (std::size_t slot = 0; slot < MetaFile::slots; ++slot) {
        auto content = choices.piece();
        content.resize(std::min(content.size(), MetaFile::slot_bytes - head_bytes - 8));
        core::ByteWriter out;
        out.u64(0x6174656d74726f6dU);
        out.u32(choices.one_in(16) ? 2 : 1);
        out.u32(static_cast<std::uint32_t>(content.size()));
        content = out.take() + content;
        core::Checksum sum;
        sum.text(content);
        core::ByteWriter end;
        end.u64(sum.value());
        content += end.take();
        content.resize(MetaFile::slot_bytes);
        bytes += content;
    }
    put(scratch() / "meta", bytes);
    Choices whole{bytes};
    read_meta_file(whole);
}

void read_countdowns(Choices& choices) {
    const bool is_summed = choices.coin();
    const auto first = choices.piece();
    put(scratch() / "countdowns", first);
    auto second = choices.rest();
    if (is_summed) {
        core::Checksum sum;
        sum.text(second);
        core::ByteWriter end;
        end.u64(sum.value());
        second += end.take();
    }
    put(scratch() / "countdowns.2", second);
    auto file = CountdownFile::open(scratch(), nullptr);
    FUZZ_CHECK(file);
    const auto found = file->found();
    FUZZ_CHECK(file->save(found));
    const auto again = CountdownFile::open(scratch(), nullptr);
    FUZZ_CHECK(again && again->found() == found);
}

void read_shape(Choices& choices) {
    static_cast<void>(content_of_log(choices.rest()));
}

constexpr void (*readers[])(Choices&) = {read_hard_state, read_log_head,  read_applied,
                                         read_entry,      read_meta_file, read_summed_meta_file,
                                         read_countdowns, read_shape};

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    readers[choices.below(std::size(readers))](choices);
    return 0;
}
