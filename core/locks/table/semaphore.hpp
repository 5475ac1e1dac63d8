// The permits of a semaphore (S34): how many there are, and which of its numbered slots are taken.
// Each hold has as many slots as permits, the lowest that were free (S15).
#pragma once

#include <cstdint>
#include <vector>

#include "core/locks/outcome.hpp"

namespace mortise::core {

class Semaphore {
public:
    explicit Semaphore(std::uint32_t limit, std::uint64_t version = 1)
        : limit_{limit}, version_{version} {}

    [[nodiscard]] std::uint32_t limit() const { return limit_; }
    // Begins with 1, and grows with each change of the limit.
    [[nodiscard]] std::uint64_t version() const { return version_; }
    [[nodiscard]] bool was_resized() const { return version_ > 1; }
    // Takes no slot away, even if more are taken now than the limit allows.
    void resize(std::uint32_t limit);
    // The semaphore counts as one whose limit was never changed.
    void forget_resizes() { version_ = 1; }

    [[nodiscard]] std::uint32_t taken() const { return taken_; }
    // True if the limit allows so many more.
    [[nodiscard]] bool has_free(std::uint32_t permits) const {
        return permits <= limit_ && taken_ <= limit_ - permits;
    }
    // The lowest slots that are free. After has_free() all of them are below the limit.
    [[nodiscard]] Slots lowest_free(std::uint32_t permits) const;
    // Whether the slots ascend, exist, and are all free.
    [[nodiscard]] bool are_free(const Slots& slots) const;
    // They must be free.
    void take(const Slots& slots);
    // They must be taken.
    void give_back(const Slots& slots);

private:
    [[nodiscard]] bool is_taken(std::uint32_t slot) const;

    std::uint32_t limit_;
    std::uint32_t taken_ = 0;
    std::uint64_t version_;
    std::vector<std::uint64_t> bits_;  // a bit for each slot, the lowest first: it is taken
};

}  // namespace mortise::core
