// The common part of all fuzz targets. A target is a program with one function, which libFuzzer
// calls with generated inputs; whatever ends the process is a finding (docs/testing.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace mortise::fuzz {

// Ends the process: libFuzzer keeps the input.
[[noreturn]] inline void found(const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: it does not hold that %s\n", file, line, what);
    std::abort();
}

// An input as a sequence of choices, taken from its front, so that a seed can be written by hand
// and a change of one byte changes one choice. After the end every choice is zero. It has the
// functions of core::Prng, so that the fuzzer can drive a test's generator as well.
class Choices {
public:
    Choices(const std::uint8_t* data, std::size_t size) : left_{data, size} {}
    explicit Choices(std::string bytes)
        : kept_{std::move(bytes)},
          left_{reinterpret_cast<const std::uint8_t*>(kept_.data()), kept_.size()} {}
    Choices(const Choices&) = delete;
    Choices& operator=(const Choices&) = delete;

    [[nodiscard]] bool is_empty() const { return left_.empty(); }
    std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
    std::uint64_t next() { return number(8); }
    // A number from 0 to bound - 1; takes as many bytes as the bound needs.
    std::uint64_t below(std::uint64_t bound) {
        std::size_t bytes = 1;
        for (auto rest = bound >> 8U; rest != 0; rest >>= 8U)
            ++bytes;
        return number(bytes) % bound;
    }
    bool one_in(std::uint64_t n) { return below(n) == n - 1; }
    bool coin() { return one_in(2); }
    std::string text(std::size_t bytes_max) {
        const auto bytes = left_.substr(0, std::min(bytes_max, left_.size()));
        left_.remove_prefix(bytes.size());
        return {bytes.begin(), bytes.end()};
    }
    // Two bytes give the length.
    std::string piece() { return text(number(2)); }
    std::string rest() { return text(left_.size()); }

private:
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < bytes && !left_.empty(); ++i) {
            number |= std::uint64_t{left_.front()} << (8 * i);
            left_.remove_prefix(1);
        }
        return number;
    }

    std::string kept_;
    std::basic_string_view<std::uint8_t> left_;
};

}  // namespace mortise::fuzz

// A condition that must be true for every input.
#define FUZZ_CHECK(expression)               \
    (static_cast<bool>(expression) ? void(0) \
                                   : ::mortise::fuzz::found(#expression, __FILE__, __LINE__))
