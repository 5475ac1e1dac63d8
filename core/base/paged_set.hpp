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
    struct Page {
        mutable std::vector<T> entries;  // never empty; its order among the pages never changes
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
        const T& operator*() const { return page_->entries[at_]; }
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
        return &place.page_->entries[place.at_];
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
        const auto at = entries.begin() + static_cast<std::ptrdiff_t>(place.at_);
        T taken = std::move(*at);
        --size_;
        if (entries.size() == 1) {
            forget(place.page_);
            return taken;
        }
        entries.erase(at);
        if (entries.size() <= page_entries_max / 4) join(place.page_);
        return taken;
    }

    void clear() {
        pages_.clear();
        size_ = 0;
    }

private:
    static constexpr std::size_t page_entries_max = 64;

    static decltype(auto) first_of(const Page& page) { return KeyOf{}(page.entries.front()); }

    // Loses no entry if there is no memory.
    T& place(T value) {
        if (pages_.empty()) return add_page(pages_.end(), std::move(value));
        auto page = page_for(KeyOf{}(value));
        if (page->entries.size() == page_entries_max) {
            // Most keys ascend: then all pages but the last are full.
            const bool is_last = KeyOf{}(page->entries.back()) < KeyOf{}(value);
            if (is_last && std::next(page) == pages_.end())
                return add_page(pages_.end(), std::move(value));
            page = half_for(KeyOf{}(value), split(page));
        }
        auto& entries = page->entries;
        const auto at = std::ranges::lower_bound(entries, KeyOf{}(value), {}, KeyOf{});
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
        const auto& entries = page->entries;
        const auto at = std::ranges::partition_point(entries, is_before);
        if (at == entries.end()) return {std::next(page), 0};
        return {page, static_cast<std::size_t>(at - entries.begin())};
    }
    T& add_page(typename Pages::iterator before, T value) {
        Page page;
        page.entries.push_back(std::move(value));
        return pages_.insert(before, std::move(page))->entries.front();
    }
    // Moves the second half to a page of its own, and returns that. All memory is there before the
    // first entry moves.
    typename Pages::iterator split(typename Pages::iterator page) {
        auto& entries = page->entries;
        Pages one;
        auto& second = one.emplace().first->entries;
        second.reserve(page_entries_max / 2);
        const auto half = entries.begin() + page_entries_max / 2;
        std::move(half, entries.end(), std::back_inserter(second));
        entries.erase(half, entries.end());
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
        std::ranges::move(entries, std::back_inserter(before));
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
