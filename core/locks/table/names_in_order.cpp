#include "core/locks/table/names_in_order.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t fresh_max = 2'048;  // putting them in order must take no milliseconds (P10)

}  // namespace

void NamesInOrder::add(const RecordRef& record) {
    if (record->is_fresh_ != 0) return;  // it was known a moment ago
    if (fresh_.size() == fresh_max) {
        drop_unknown();
        if (fresh_.size() > fresh_max / 2) sort();
    }
    record->is_fresh_ = 1;
    fresh_.push_back(record);
}

void NamesInOrder::remove(NamedRecord& record) {
    if (record.is_sorted_ == 0) return;
    record.is_sorted_ = 0;
    (void)sorted_.take(record.name());
}

void NamesInOrder::drop_unknown() const {
    std::erase_if(fresh_, [](const RecordRef& record) {
        if (record->is_known()) return false;
        record->is_fresh_ = 0;
        return true;
    });
}

void NamesInOrder::sort() const {
    drop_unknown();
    for (auto& record : fresh_) {
        record->is_fresh_ = 0;
        record->is_sorted_ = 1;
        sorted_.insert(std::move(record));
    }
    fresh_.clear();
}

}  // namespace mortise::core
