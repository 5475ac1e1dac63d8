// Records in the byte order of their names, for listings. Most records are gone soon, so they are
// put in order only when somebody asks, or when they have stayed for a while.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/paged_set.hpp"
#include "core/locks/table/named_record.hpp"

namespace mortise::core {

class NamesInOrder {
public:
    using Sorted = PagedSet<RecordRef, NameOf>;

    // The record is known, and was not before.
    void add(const RecordRef& record);
    // The record is known no more.
    void remove(NamedRecord& record);
    // All known records.
    [[nodiscard]] const Sorted& all() const {
        sort();
        return sorted_;
    }

private:
    void sort() const;
    void drop_unknown() const;

    mutable Sorted sorted_;
    mutable std::vector<RecordRef> fresh_;  // a bounded number; some may be unknown by now
};

}  // namespace mortise::core
