#include "core/base/bytes.hpp"

namespace mortise::core {

namespace {

template <class Number>
void put(std::string& out, Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
        out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
}

}  // namespace

void ByteWriter::u16(std::uint16_t value) {
    put(out_, value);
}
void ByteWriter::u32(std::uint32_t value) {
    put(out_, value);
}
void ByteWriter::u64(std::uint64_t value) {
    put(out_, value);
}

void ByteWriter::varint(std::uint64_t value) {
    while (value >= 0x80) {
        out_.push_back(static_cast<char>(value | 0x80U));
        value >>= 7U;
    }
    out_.push_back(static_cast<char>(value));
}

void ByteWriter::text(std::string_view value) {
    varint(value.size());
    out_.append(value);
}

std::string_view ByteReader::take(std::size_t size) {
    if (!ok_ || size > remaining()) {
        ok_ = false;
        return {};
    }
    const auto taken = in_.substr(at_, size);
    at_ += size;
    return taken;
}

template <class Number>
Number ByteReader::number() {
    const auto raw = take(sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
    }
    return static_cast<Number>(value);
}

std::uint8_t ByteReader::u8() {
    return number<std::uint8_t>();
}
std::uint16_t ByteReader::u16() {
    return number<std::uint16_t>();
}
std::uint32_t ByteReader::u32() {
    return number<std::uint32_t>();
}
std::uint64_t ByteReader::u64() {
    return number<std::uint64_t>();
}

std::uint64_t ByteReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint64_t byte = u8();
        const std::uint64_t bits = byte & 0x7fU;
        if (shift == 63 && bits > 1) break;  // more than 64 bits
        value |= bits << shift;
        if (byte < 0x80) {
            // Each number has one encoding: a last byte of zero would be a longer one.
            if (byte == 0 && shift != 0) break;
            return ok_ ? value : 0;
        }
    }
    ok_ = false;
    return 0;
}

std::string_view ByteReader::text(std::size_t bytes_max) {
    const auto size = varint();
    if (size > bytes_max) {
        ok_ = false;
        return {};
    }
    return take(static_cast<std::size_t>(size));
}

std::size_t ByteReader::count(std::size_t element_bytes_min) {
    const auto elements = varint();
    if (!ok_ || elements > remaining() / element_bytes_min) {
        ok_ = false;
        return 0;
    }
    return static_cast<std::size_t>(elements);
}

}  // namespace mortise::core
