// A text that hardly ever changes, in 32 bytes: only one of more than 31 bytes takes memory
// besides, where a std::string of the same size does with more than 15.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace mortise::core {

class CompactText {
public:
    CompactText() = default;
    explicit CompactText(std::string_view text) {
        if (text.size() <= within_.size()) {
            text.copy(within_.data(), text.size());
            size_ = static_cast<std::uint8_t>(text.size());
            return;
        }
        const Outside outside{new char[text.size()], text.size()};
        text.copy(outside.bytes, text.size());
        std::memcpy(within_.data(), &outside, sizeof outside);
        size_ = is_outside;
    }
    CompactText(CompactText&& other) noexcept
        : within_{other.within_}, size_{std::exchange(other.size_, 0)} {}
    CompactText& operator=(CompactText&& other) noexcept {
        std::swap(within_, other.within_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~CompactText() {
        if (size_ == is_outside) delete[] outside().bytes;
    }

    [[nodiscard]] std::string_view view() const {
        if (size_ != is_outside) return {within_.data(), size_};
        const auto there = outside();
        return {there.bytes, there.size};
    }
    [[nodiscard]] bool empty() const { return size_ == 0; }

private:
    struct Outside {
        char* bytes;
        std::size_t size;
    };
    static constexpr std::uint8_t is_outside = 0xFF;

    [[nodiscard]] Outside outside() const {
        Outside there{};
        std::memcpy(&there, within_.data(), sizeof there);
        return there;
    }

    std::array<char, 31> within_{};  // the text, or where it is
    std::uint8_t size_ = 0;
};

}  // namespace mortise::core
