// What remains to be counted of a latch (S35). It only goes down.
#pragma once

#include <cstdint>

namespace mortise::core {

class Latch {
public:
    explicit Latch(std::uint32_t remaining) : remaining_{remaining} {}

    [[nodiscard]] std::uint32_t remaining() const { return remaining_; }
    // Nothing remains to be counted, so all that wait pass.
    [[nodiscard]] bool is_open() const { return remaining_ == 0; }
    // False, without an effect, if less than that remains.
    [[nodiscard]] bool count_down(std::uint32_t count) {
        if (count > remaining_) return false;
        remaining_ -= count;
        return true;
    }

private:
    std::uint32_t remaining_;
};

}  // namespace mortise::core
