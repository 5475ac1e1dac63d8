// Limits how many things of a kind exist at a time.
#pragma once

#include <cstddef>
#include <memory>

namespace mortise::transport {

class CountLimit {
public:
    explicit CountLimit(std::size_t count) : free_{std::make_shared<std::size_t>(count)} {}

    // Counts until the last copy of it is gone, which may be after this object; null if the limit
    // is reached.
    using Use = std::shared_ptr<void>;
    [[nodiscard]] Use take() {
        if (*free_ == 0) return nullptr;
        --*free_;
        return Use{free_.get(), [free = free_](void*) { ++*free; }};
    }

private:
    std::shared_ptr<std::size_t> free_;
};

}  // namespace mortise::transport
