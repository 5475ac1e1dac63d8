#include "core/locks/table/named_record.hpp"

#include <algorithm>
#include <new>

#include "core/base/check.hpp"

namespace mortise::core {

NamedRecord::NamedRecord(std::string_view name, LockRecord&& record)
    : LockRecord{std::move(record)}, name_bytes_{static_cast<std::uint16_t>(name.size() & 0x3ffU)} {
    std::ranges::copy(name, reinterpret_cast<char*>(this + 1));
}

RecordRef RecordRef::make(std::string_view name, LockRecord&& record) {
    MORTISE_CHECK(name.size() <= name_bytes_max);
    void* memory = ::operator new(sizeof(NamedRecord) + name.size());
    return RecordRef{*new (memory) NamedRecord{name, std::move(record)}};
}

void RecordRef::drop() noexcept {
    if (--record_->references_ != 0) return;
    record_->~NamedRecord();
    ::operator delete(record_);
}

}  // namespace mortise::core
