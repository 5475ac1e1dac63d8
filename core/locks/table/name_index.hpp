// Finds records by their names: a hash table that grows and shrinks by one bucket at a time (linear
// hashing: Litwin, 1980), so that no insertion moves more than a few records (P10). Nothing that a
// replica shows depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include "core/base/paged_set.hpp"
#include "core/locks/table/named_record.hpp"

namespace mortise::core {

class NameIndex {
public:
    // Null if it is not here. `hash`: hash_of() the name.
    [[nodiscard]] NamedRecord* find(std::string_view name, std::uint64_t hash) const;
    // No record of that name is here.
    void add(const RecordRef& record, std::uint64_t hash);
    // The record is here.
    void remove(NamedRecord& record);

private:
    [[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const {
        const auto at = static_cast<std::size_t>(hash) & (2 * half_ - 1);
        return at < buckets_.size() ? at : at - half_;
    }
    [[nodiscard]] std::size_t bucket_of(const NamedRecord& record) const;
    void put(const RecordRef& record, std::uint64_t hash);
    void grow();
    void shrink();

    std::deque<RecordRef> buckets_;  // each is the first of a list
    std::size_t half_ = 1;           // a power of two: half_ <= buckets < 2 * half_
    std::size_t size_ = 0;           // of all lists together
    // Names may be chosen so that their hashes are equal: those that would make a list too long.
    PagedSet<RecordRef, NameOf> others_;
};

}  // namespace mortise::core
