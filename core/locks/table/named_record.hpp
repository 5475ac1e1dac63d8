// A name with its record, in one block of memory, and counted references to it: so a name is stored
// once, and a reference to it needs no copy and no search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/table/lock_record.hpp"

namespace mortise::core {

class NamedRecord;

// A reference to a name and its record; null by default. The record exists as long as there are
// references, even if the table does not have it any more. Not thread-safe.
class RecordRef {
public:
    RecordRef() = default;
    explicit RecordRef(NamedRecord& record) noexcept;
    static RecordRef make(std::string_view name, LockRecord&& record);
    RecordRef(const RecordRef& other) noexcept;
    RecordRef(RecordRef&& other) noexcept : record_{std::exchange(other.record_, nullptr)} {}
    RecordRef& operator=(RecordRef other) noexcept {
        std::swap(record_, other.record_);
        return *this;
    }
    ~RecordRef() {
        if (record_ != nullptr) drop();
    }

    NamedRecord& operator*() const { return *record_; }
    NamedRecord* operator->() const { return record_; }
    [[nodiscard]] NamedRecord* get() const { return record_; }
    explicit operator bool() const { return record_ != nullptr; }
    friend bool operator==(const RecordRef&, const RecordRef&) = default;

private:
    void drop() noexcept;

    NamedRecord* record_ = nullptr;
};

// Its name follows it in memory.
class NamedRecord final : public LockRecord {
public:
    NamedRecord(const NamedRecord&) = delete;
    NamedRecord& operator=(const NamedRecord&) = delete;

    [[nodiscard]] std::string_view name() const {
        return {reinterpret_cast<const char*>(this + 1), name_bytes_};
    }

    // The checksum of its row, if it has one: see RowWriter.
    [[nodiscard]] std::optional<std::uint64_t> row_sum() const {
        return has_row_ != 0 ? std::optional{row_sum_} : std::nullopt;
    }
    void set_row_sum(std::optional<std::uint64_t> sum) {
        has_row_ = sum ? 1 : 0;
        row_sum_ = sum.value_or(0);
    }
    // The table has the name: it has holders, waiters or a value.
    [[nodiscard]] bool is_known() const { return is_known_ != 0; }

private:
    friend class RecordRef;
    friend class NameIndex;
    friend class NamesInOrder;
    friend class NameTable;
    NamedRecord(std::string_view name, LockRecord&& record);
    ~NamedRecord() = default;

    std::uint16_t name_bytes_ : 10;  // at most name_bytes_max
    std::uint16_t has_row_ : 1 = 0;
    std::uint16_t has_bucket_ : 1 = 0;  // in NameIndex
    std::uint16_t is_sorted_ : 1 = 0;   // in NamesInOrder, among those in order
    std::uint16_t is_fresh_ : 1 = 0;    // in NamesInOrder, among the others
    std::uint16_t was_waited_ : 1 = 0;  // it has a queue, or had one before the present entry
    std::uint16_t is_listed_ : 1 = 0;   // in NameTable::changed_queues()
    std::uint32_t is_changed_ : 1 = 0;  // in NameTable::changes()
    std::uint32_t is_known_ : 1 = 0;
    std::uint32_t references_ : 30 = 0;
    std::uint64_t row_sum_ = 0;
    RecordRef next_in_bucket_;
};

static_assert(name_bytes_max < 1U << 10U);

inline RecordRef::RecordRef(NamedRecord& record) noexcept : record_{&record} {
    ++record_->references_;
}

inline RecordRef::RecordRef(const RecordRef& other) noexcept : record_{other.record_} {
    if (record_ != nullptr) ++record_->references_;
}

// The names of a request or an operation.
using RecordRefs = ShortList<RecordRef>;

struct NameOf {
    std::string_view operator()(const RecordRef& record) const { return record->name(); }
};

}  // namespace mortise::core
