#include "core/locks/table/name_index.hpp"

#include <utility>

#include "core/base/checksum.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t records_per_bucket = 2;  // on average
// No bucket ever has so many, unless the names were chosen for that.
constexpr std::size_t bucket_records_max = 24;

}  // namespace

std::size_t NameIndex::bucket_of(const NamedRecord& record) const {
    return bucket_of(hash_of(record.name()));
}

NamedRecord* NameIndex::find(std::string_view name, std::uint64_t hash) const {
    if (buckets_.empty()) return nullptr;
    auto* record = buckets_[bucket_of(hash)].get();
    while (record != nullptr && record->name() != name)
        record = record->next_in_bucket_.get();
    if (record != nullptr || others_.empty()) return record;
    const auto* other = others_.find(name);
    return other == nullptr ? nullptr : other->get();
}

void NameIndex::add(const RecordRef& record, std::uint64_t hash) {
    if (size_ >= records_per_bucket * buckets_.size()) grow();
    put(record, hash);
}

void NameIndex::put(const RecordRef& record, std::uint64_t hash) {
    auto& first = buckets_[bucket_of(hash)];
    std::size_t length = 0;
    for (auto* one = first.get(); one != nullptr; one = one->next_in_bucket_.get())
        ++length;
    record->has_bucket_ = length < bucket_records_max ? 1 : 0;
    if (record->has_bucket_ == 0) {
        others_.insert(record);
        return;
    }
    record->next_in_bucket_ = std::exchange(first, record);
    ++size_;
}

void NameIndex::remove(NamedRecord& record) {
    if (record.has_bucket_ == 0) {
        (void)others_.take(record.name());
        return;
    }
    auto* place = &buckets_[bucket_of(record)];
    while (place->get() != &record)
        place = &(*place)->next_in_bucket_;
    *place = std::exchange(record.next_in_bucket_, {});  // perhaps it was the last reference
    if (--size_ < buckets_.size() / records_per_bucket) shrink();
}

// Some records of one list belong into that of the new bucket, the last.
void NameIndex::grow() {
    buckets_.emplace_back();
    const auto last = buckets_.size() - 1;
    if (last == 0) return;
    for (auto* place = &buckets_[last - half_]; *place;) {
        if (bucket_of(**place) != last) {
            place = &(*place)->next_in_bucket_;
            continue;
        }
        const auto moved = *place;
        *place = std::exchange(moved->next_in_bucket_, buckets_[last]);
        buckets_[last] = moved;
    }
    if (buckets_.size() == 2 * half_) half_ *= 2;
}

// The records of the last bucket belong into another.
void NameIndex::shrink() {
    if (buckets_.size() == 1) return;
    auto left = std::move(buckets_.back());
    buckets_.pop_back();
    if (buckets_.size() < half_) half_ /= 2;
    while (left) {
        const auto moved = left;
        left = std::exchange(moved->next_in_bucket_, {});
        --size_;
        put(moved, hash_of(moved->name()));
    }
}

}  // namespace mortise::core
