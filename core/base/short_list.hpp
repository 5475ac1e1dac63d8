// A list that nearly always has one element, which it keeps in itself: only a longer one allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

namespace mortise::core {

template <class T>
class ShortList {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    ShortList() = default;
    ShortList(std::initializer_list<T> values) {
        for (const auto& value : values)
            push_back(value);
    }

    [[nodiscard]] std::size_t size() const {
        const auto* many = std::get_if<Many>(&values_);
        return many != nullptr ? many->size() : 1;
    }
    [[nodiscard]] bool empty() const { return size() == 0; }

    [[nodiscard]] const T* begin() const {
        const auto* many = std::get_if<Many>(&values_);
        return many != nullptr ? many->data() : std::get_if<T>(&values_);
    }
    [[nodiscard]] const T* end() const { return begin() + size(); }
    [[nodiscard]] T* begin() { return const_cast<T*>(std::as_const(*this).begin()); }
    [[nodiscard]] T* end() { return begin() + size(); }

    // Requires that the element exists.
    [[nodiscard]] T& operator[](std::size_t at) { return begin()[at]; }
    [[nodiscard]] const T& operator[](std::size_t at) const { return begin()[at]; }
    [[nodiscard]] T& front() { return *begin(); }
    [[nodiscard]] const T& front() const { return *begin(); }
    [[nodiscard]] const T& back() const { return *(end() - 1); }

    void push_back(T value) {
        if (empty()) {
            values_.template emplace<T>(std::move(value));
            return;
        }
        if (auto* one = std::get_if<T>(&values_)) {
            Many many;
            many.reserve(2);
            many.push_back(std::move(*one));
            values_.template emplace<Many>(std::move(many));
        }
        std::get<Many>(values_).push_back(std::move(value));
    }
    // Requires that the list is not empty.
    void pop_back() {
        if (auto* many = std::get_if<Many>(&values_)) return many->pop_back();
        clear();
    }
    void clear() { values_.template emplace<Many>(); }
    // Returns how many elements were removed.
    std::size_t remove(const T& value) {
        if (auto* many = std::get_if<Many>(&values_)) return std::erase(*many, value);
        const bool is_it = front() == value;
        if (is_it) clear();
        return is_it ? 1 : 0;
    }

    friend bool operator==(const ShortList& a, const ShortList& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    using Many = std::vector<T>;
    std::variant<Many, T> values_;
};

}  // namespace mortise::core
