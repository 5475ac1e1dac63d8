// Latches (S35): what remains to be counted, the requests for it, and their bytes. A latch exists
// until it is removed (S37).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/locks/kinds/kind.hpp"

namespace mortise::core {

constexpr std::uint32_t latch_max = 0x7fff'ffff;  // what a latch counts down from

// What remains to be counted only goes down.
class Latch {
public:
    static constexpr std::uint8_t row_flag = 16;
    static constexpr bool has_holders = false;

    explicit Latch(std::uint32_t remaining = 0) : remaining_{remaining} {}

    // Writes the fields to a row, or reads them from one.
    static void fields(auto& of, auto& self) { of.number(self.remaining_, 0, latch_max); }
    [[nodiscard]] bool is_sound() const { return true; }

    [[nodiscard]] std::uint32_t remaining() const { return remaining_; }
    // Nothing remains to be counted, so all that wait pass.
    [[nodiscard]] bool is_open() const { return remaining_ == 0; }
    // No more than that remains.
    void count_down(std::uint32_t count);

    [[nodiscard]] bool stays() const { return true; }
    // Whether it can be that these wait.
    [[nodiscard]] bool fits(const WaitingParties& waiting) const {
        return waiting.empty() || !is_open();
    }

    struct View {
        std::uint32_t remaining = 0;  // to be counted
        friend bool operator==(const View&, const View&) = default;
    };
    [[nodiscard]] View view(const Onlooker& /*to*/) const { return {remaining_}; }

private:
    std::uint32_t remaining_;
};

// Counts a latch down. A request takes effect once (S17), so it is counted once, and it stays
// counted when its session ends. A count that is greater than what remains is refused and changes
// nothing.
struct CountDown {
    using State = Latch;
    static constexpr std::uint8_t log_number = 25;

    std::string name;
    std::uint32_t expected = 0;  // what a latch that this creates begins with
    std::uint32_t count = 1;

    static void fields(auto& of, auto& self) {
        of.name(self.name);
        of.number(self.expected, 0, latch_max);
        of.number(self.count, 0, latch_max);
    }
    [[nodiscard]] Latch made() const { return Latch{expected}; }
    [[nodiscard]] std::optional<AnswerKind> refusal(const Latch& latch, SessionId by) const;
    [[nodiscard]] KindStep apply(Latch& latch, SessionId by) const;
    [[nodiscard]] std::string words(Quote quote) const;
    friend bool operator==(const CountDown&, const CountDown&) = default;
};

// Waits until nothing remains to be counted of a latch, and then is answered `passed`: at once if
// nothing remains now. While it waits it is an operation, which a Cancel ends; it never holds
// anything.
struct AwaitLatch {
    using State = Latch;
    static constexpr std::uint8_t log_number = 26;

    std::string name;
    std::uint32_t expected = 0;  // as in CountDown
    std::string label;           // shown to readers of the table

    static void fields(auto& of, auto& self) {
        of.name(self.name);
        of.number(self.expected, 0, latch_max);
        of.label(self.label);
    }
    [[nodiscard]] bool waits() const { return true; }
    [[nodiscard]] Latch made() const { return Latch{expected}; }
    [[nodiscard]] std::optional<AnswerKind> refusal(const Latch& latch, SessionId by) const;
    [[nodiscard]] KindStep apply(Latch& latch, SessionId by) const;
    [[nodiscard]] std::string words(Quote quote) const;
    friend bool operator==(const AwaitLatch&, const AwaitLatch&) = default;
};

}  // namespace mortise::core
