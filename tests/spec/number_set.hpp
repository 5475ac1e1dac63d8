// A set of numbers below a known limit, one bit for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mortise::spec {

class NumberSet {
public:
    NumberSet() = default;
    explicit NumberSet(std::size_t limit) : words_((limit + bits - 1) / bits) {}

    void insert(std::size_t number) { words_[number / bits] |= bit(number); }
    void erase(std::size_t number) { words_[number / bits] &= ~bit(number); }
    [[nodiscard]] bool contains(std::size_t number) const {
        return (words_[number / bits] & bit(number)) != 0;
    }
    // Both sets have the same limit, here and below.
    void merge(const NumberSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] |= other.words_[i];
    }
    void keep(const NumberSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] &= other.words_[i];
    }
    [[nodiscard]] bool meets(const NumberSet& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if ((words_[i] & other.words_[i]) != 0) return true;
        }
        return false;
    }

private:
    static constexpr std::size_t bits = 64;
    static constexpr std::uint64_t bit(std::size_t number) {
        return std::uint64_t{1} << (number % bits);
    }

    std::vector<std::uint64_t> words_;
};

}  // namespace mortise::spec
