// Bytes that never change once they are published, and a bounds-checked little-endian writer and
// reader for them. A batch of commands is encoded once; disk, peers and apply share that buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mortise::core {

// Shared and immutable; copying is cheap and may be done on any thread.
class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::string text)
        : text_{text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))} {}

    [[nodiscard]] std::string_view view() const {
        return text_ ? std::string_view{*text_} : std::string_view{};
    }
    [[nodiscard]] std::size_t size() const { return text_ ? text_->size() : 0; }
    [[nodiscard]] bool empty() const { return size() == 0; }

    friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

private:
    std::shared_ptr<const std::string> text_;
};

class ByteWriter {
public:
    void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
    void u16(std::uint16_t value);
    void u32(std::uint32_t value);
    void u64(std::uint64_t value);
    // Writes one to ten bytes; small numbers take fewer (LEB128).
    void varint(std::uint64_t value);
    // Writes the length as a varint, then the bytes.
    void text(std::string_view value);
    // Appends the bytes without a length: the reader knows how many there are.
    void raw(std::string_view bytes) { out_.append(bytes); }

    [[nodiscard]] std::size_t size() const { return out_.size(); }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    std::string out_;
};

// Reads what ByteWriter wrote. After the first read past the end, or of a malformed number, ok() is
// false for ever and every further read returns zero or empty: check once, at the end.
class ByteReader {
public:
    explicit ByteReader(std::string_view in) : in_{in} {}

    std::uint8_t u8();
    std::uint16_t u16();
    std::uint32_t u32();
    std::uint64_t u64();
    std::uint64_t varint();
    // Fails and returns empty if it is longer than `bytes_max`. The result points into the input.
    std::string_view text(std::size_t bytes_max);
    // Reads a count of elements of at least `element_bytes_min` bytes each. Fails if they cannot
    // fit in the rest, so that no received count determines the size of an allocation.
    std::size_t count(std::size_t element_bytes_min);

    void fail() { ok_ = false; }
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool done() const { return ok_ && at_ == in_.size(); }
    [[nodiscard]] std::size_t remaining() const { return in_.size() - at_; }

private:
    std::string_view take(std::size_t size);
    template <class Number>
    Number number();

    std::string_view in_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

}  // namespace mortise::core
