// A name with its record, in one block of memory, and counted references to it: so a name is stored
// once, and a reference to it needs no copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/locks/table/lock_record.hpp"

namespace mortise::core {

class NamedRecord;

// A reference to a name and its record; null by default. The record exists as long as there are
// references, even if the table does not have it any more. Not thread-safe.
class RecordRef {
public:
    RecordRef() = default;
    static RecordRef make(std::string_view name, LockRecord record);
    RecordRef(const RecordRef& other) noexcept;
    RecordRef(RecordRef&& other) noexcept : record_{std::exchange(other.record_, nullptr)} {}
    RecordRef& operator=(RecordRef other) noexcept {
        std::swap(record_, other.record_);
        return *this;
    }
    ~RecordRef() { drop(); }

    NamedRecord& operator*() const { return *record_; }
    NamedRecord* operator->() const { return record_; }
    [[nodiscard]] NamedRecord* get() const { return record_; }
    explicit operator bool() const { return record_ != nullptr; }
    friend bool operator==(const RecordRef&, const RecordRef&) = default;

private:
    explicit RecordRef(NamedRecord* record) : record_{record} {}
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
        return has_row_ ? std::optional{row_sum_} : std::nullopt;
    }
    void set_row_sum(std::optional<std::uint64_t> sum) {
        has_row_ = sum.has_value();
        row_sum_ = sum.value_or(0);
    }

    // It has a queue, or had one before the present entry.
    [[nodiscard]] bool was_waited() const { return was_waited_; }
    void set_waited(bool waited) { was_waited_ = waited; }
    // It is in the list of NameTable::changed_queues().
    [[nodiscard]] bool is_listed() const { return is_listed_; }
    void set_listed(bool listed) { is_listed_ = listed; }

private:
    friend class RecordRef;
    NamedRecord(std::string_view name, LockRecord record);
    ~NamedRecord() = default;

    std::uint64_t row_sum_ = 0;
    std::uint32_t references_ = 1;
    std::uint16_t name_bytes_;  // at most name_bytes_max
    bool has_row_ : 1 = false;
    bool was_waited_ : 1 = false;
    bool is_listed_ : 1 = false;
};

// The names of a request or an operation.
using RecordRefs = ShortList<RecordRef>;

struct NameOf {
    std::string_view operator()(const RecordRef& record) const { return record->name(); }
};

}  // namespace mortise::core
