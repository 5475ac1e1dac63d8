// Limits how many things of a kind exist at a time.
#pragma once

#include <cstddef>
#include <memory>

namespace mortise::transport {

class Places {
public:
    explicit Places(std::size_t count) : free_{std::make_shared<std::size_t>(count)} {}

    // A place is occupied while the Place exists, which may be longer than this object; null if all
    // are occupied.
    using Place = std::shared_ptr<void>;
    [[nodiscard]] Place take() {
        if (*free_ == 0) return nullptr;
        --*free_;
        return Place{free_.get(), [free = free_](void*) { ++*free; }};
    }

private:
    std::shared_ptr<std::size_t> free_;
};

}  // namespace mortise::transport
