// An ordered set in pages of some dozen entries each: it takes hardly more memory than the entries
// themselves, where a tree takes a block of memory for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/check.hpp"

namespace mortise::core {

// KeyOf{}(entry) is the key of an entry; it must not change. An entry moves in memory whenever
// another one is added or removed, so no pointer to it and no iterator lives longer than that.
template <class T, class KeyOf>
class PagedSet {
    static constexpr std::size_t page_entries_max = 64;

    // Removals and insertions move the entries on the shorter side, so those at the ends are cheap.
    class Entries {
    public:
        [[nodiscard]] std::size_t size() const { return slots_.size() - unused_; }
        [[nodiscard]] T* begin() { return slots_.data() + unused_; }
        [[nodiscard]] T* end() { return slots_.data() + slots_.size(); }
        // How many fit before memory is needed.
        [[nodiscard]] std::size_t capacity() const { return slots_.capacity() - unused_; }
        // No slot is left behind the last entry, and few in front of the first.
        [[nodiscard]] bool is_full() const {
            return slots_.size() == page_entries_max && unused_ < page_entries_max / 2;
        }
        void reserve(std::size_t count) { slots_.reserve(count); }
        // The entries between these two move to the end of this page.
        void take_over(T* first, T* last) { std::move(first, last, std::back_inserter(slots_)); }

        T* insert(T* at, T value) {
            const auto before = static_cast<std::size_t>(at - begin());
            if (unused_ != 0 && 2 * before < size()) {
                std::move(begin(), at, begin() - 1);
                --unused_;
                return &(*(begin() + before) = std::move(value));
            }
            if (slots_.size() == page_entries_max) close_gap();
            return &*slots_.insert(slots_.begin() + place(unused_ + before), std::move(value));
        }
        T take(T* at) {
            T taken = std::move(*at);
            if (2 * static_cast<std::size_t>(at - begin()) >= size()) {
                slots_.erase(slots_.begin() + (at - slots_.data()));
                return taken;
            }
            std::move_backward(begin(), at, at + 1);
            *begin() = T{};
            ++unused_;
            return taken;
        }
        void erase_from(T* at) {
            slots_.erase(slots_.begin() + (at - slots_.data()), slots_.end());
        }

    private:
        static std::ptrdiff_t place(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }
        void close_gap() {
            slots_.erase(slots_.begin(), slots_.begin() + place(unused_));
            unused_ = 0;
        }

        std::vector<T> slots_;
        std::size_t unused_ = 0;  // slots before the first entry
    };
    struct Page {
        mutable Entries entries;  // never empty; its order among the pages never changes
    };
    struct InOrder {
        using is_transparent = void;
        bool operator()(const Page& a, const Page& b) const { return first_of(a) < first_of(b); }
        template <class Key>
        bool operator()(const Key& key, const Page& page) const {
            return key < first_of(page);
        }
    };
    using Pages = std::set<Page, InOrder>;

public:
    class Iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::forward_iterator_tag;
        using pointer = const T*;
        using reference = const T&;

        Iterator() = default;
        const T& operator*() const { return page_->entries.begin()[at_]; }
        const T* operator->() const { return &**this; }
        Iterator& operator++() {
            if (++at_ == page_->entries.size()) *this = {std::next(page_), 0};
            return *this;
        }
        Iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        friend class PagedSet;
        Iterator(typename Pages::const_iterator page, std::size_t at) : page_{page}, at_{at} {}

        typename Pages::const_iterator page_;
        std::size_t at_ = 0;
    };
    using iterator = Iterator;
    using const_iterator = Iterator;

    PagedSet() = default;
    PagedSet(PagedSet&& other) noexcept
        : pages_{std::exchange(other.pages_, {})}, size_{std::exchange(other.size_, 0)} {}
    PagedSet& operator=(PagedSet&& other) noexcept {
        pages_ = std::exchange(other.pages_, {});
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    ~PagedSet() = default;

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] const_iterator begin() const { return {pages_.begin(), 0}; }
    [[nodiscard]] const_iterator end() const { return {pages_.end(), 0}; }

    // Null if there is none.
    template <class Key>
    [[nodiscard]] T* find(const Key& key) {
        const auto place = lower_bound(key);
        if (place == end() || key < KeyOf{}(*place)) return nullptr;
        return &place.page_->entries.begin()[place.at_];
    }
    template <class Key>
    [[nodiscard]] const T* find(const Key& key) const {
        return const_cast<PagedSet*>(this)->find(key);
    }
    template <class Key>
    [[nodiscard]] bool contains(const Key& key) const {
        return find(key) != nullptr;
    }
    // The first entry whose key is not below that one.
    template <class Key>
    [[nodiscard]] const_iterator lower_bound(const Key& key) const {
        return first_where(key, [&](const T& entry) { return KeyOf{}(entry) < key; });
    }
    // The first entry whose key is above that one.
    template <class Key>
    [[nodiscard]] const_iterator upper_bound(const Key& key) const {
        return first_where(key, [&](const T& entry) { return !(key < KeyOf{}(entry)); });
    }

    // Requires that no entry has its key.
    T& insert(T value) {
        auto& added = place(std::move(value));
        ++size_;
        return added;
    }

    // Requires that an entry has that key. Allocates nothing.
    template <class Key>
    T take(const Key& key) {
        const auto place = lower_bound(key);
        MORTISE_CHECK(place != end() && !(key < KeyOf{}(*place)));
        auto& entries = place.page_->entries;
        --size_;
        const bool is_last = entries.size() == 1;
        T taken = entries.take(entries.begin() + place.at_);
        if (is_last) {
            forget(place.page_);
        } else if (entries.size() <= page_entries_max / 4) {
            join(place.page_);
        }
        return taken;
    }

    void clear() {
        pages_.clear();
        size_ = 0;
    }

private:
    static decltype(auto) first_of(const Page& page) { return KeyOf{}(*page.entries.begin()); }

    // Loses no entry if there is no memory.
    T& place(T value) {
        if (pages_.empty()) return add_page(pages_.end(), std::move(value));
        auto page = page_for(KeyOf{}(value));
        // Most keys ascend: then all pages but the last are full.
        const bool is_last = KeyOf{}(*(page->entries.end() - 1)) < KeyOf{}(value);
        if (page->entries.is_full()) {
            if (is_last && std::next(page) == pages_.end())
                return add_page(pages_.end(), std::move(value));
            page = half_for(KeyOf{}(value), split(page));
        }
        auto& entries = page->entries;
        auto* at = is_last ? entries.end()
                           : std::ranges::lower_bound(entries, KeyOf{}(value), {}, KeyOf{});
        MORTISE_CHECK(at == entries.end() || KeyOf{}(value) < KeyOf{}(*at));
        return *entries.insert(at, std::move(value));
    }

    // The page that has the key, if any has it.
    template <class Key>
    [[nodiscard]] typename Pages::iterator page_for(const Key& key) const {
        const auto behind = pages_.upper_bound(key);
        return behind == pages_.begin() ? behind : std::prev(behind);
    }
    template <class Key, class IsBefore>
    [[nodiscard]] const_iterator first_where(const Key& key, const IsBefore& is_before) const {
        if (pages_.empty()) return end();
        const auto page = page_for(key);
        auto& entries = page->entries;
        auto* at = std::ranges::partition_point(entries, is_before);
        if (at == entries.end()) return {std::next(page), 0};
        return {page, static_cast<std::size_t>(at - entries.begin())};
    }
    T& add_page(typename Pages::iterator before, T value) {
        Page page;
        page.entries.insert(page.entries.end(), std::move(value));
        return *pages_.insert(before, std::move(page))->entries.begin();
    }
    // Moves the second half to a page of its own, and returns that. All memory is there before the
    // first entry moves.
    typename Pages::iterator split(typename Pages::iterator page) {
        auto& entries = page->entries;
        Pages one;
        auto& second = one.emplace().first->entries;
        second.reserve(page_entries_max / 2);
        auto* half = entries.begin() + entries.size() / 2;
        second.take_over(half, entries.end());
        entries.erase_from(half);
        return pages_.insert(std::next(page), one.extract(one.begin()));
    }
    // Where that key belongs: in this page, or in the one before.
    template <class Key>
    [[nodiscard]] typename Pages::iterator half_for(const Key& key,
                                                    typename Pages::iterator second) const {
        return key < first_of(*second) ? std::prev(second) : second;
    }
    // Its entries may have been moved away, so this must not look at its key.
    void forget(typename Pages::const_iterator page) { pages_.erase(page); }
    // Moves the entries of a page that has become small to the page before it, if they fit well.
    void join(typename Pages::const_iterator page) {
        if (page == pages_.begin()) page = std::next(page);
        if (page == pages_.end()) return;
        auto& entries = page->entries;
        auto& before = std::prev(page)->entries;
        const auto together = before.size() + entries.size();
        if (together > std::min(page_entries_max / 2, before.capacity())) return;
        before.take_over(entries.begin(), entries.end());
        forget(page);
    }

    Pages pages_;
    std::size_t size_ = 0;
};

// Its entries by key.
template <class Key, class Value>
struct PagedEntry {
    Key key;
    Value value;
};

struct KeyOfEntry {
    template <class Key, class Value>
    Key operator()(const PagedEntry<Key, Value>& entry) const {
        return entry.key;
    }
};

template <class Key, class Value>
using PagedMap = PagedSet<PagedEntry<Key, Value>, KeyOfEntry>;

}  // namespace mortise::core
