// A queue in one block of memory, which allocates only when it grows.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/check.hpp"

namespace mortise::core {

template <class T>
class Ring {
public:
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    // The element at that position, counted from the front. Requires that it exists.
    [[nodiscard]] T& operator[](std::size_t at) { return slots_[(head_ + at) & mask()]; }
    [[nodiscard]] const T& operator[](std::size_t at) const {
        return slots_[(head_ + at) & mask()];
    }
    [[nodiscard]] T& front() { return (*this)[0]; }
    [[nodiscard]] const T& front() const { return (*this)[0]; }

    T& push_back(T value) {
        if (size_ == slots_.size()) grow();
        auto& slot = (*this)[size_++];
        slot = std::move(value);
        return slot;
    }

    T pop_front() {
        MORTISE_CHECK(size_ != 0);
        T value = std::exchange(slots_[head_], T{});
        head_ = (head_ + 1) & mask();
        --size_;
        return value;
    }

    void clear() {
        slots_.clear();
        head_ = 0;
        size_ = 0;
    }

private:
    static constexpr std::size_t slots_min = 16;

    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

    void grow() {
        std::vector<T> larger(slots_.empty() ? slots_min : 2 * slots_.size());
        for (std::size_t at = 0; at < size_; ++at)
            larger[at] = std::move((*this)[at]);
        slots_ = std::move(larger);
        head_ = 0;
    }

    std::vector<T> slots_;  // their number is a power of two
    std::size_t head_ = 0;
    std::size_t size_ = 0;
};

}  // namespace mortise::core
