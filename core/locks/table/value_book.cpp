#include "core/locks/table/value_book.hpp"

#include <utility>

#include "core/locks/limits.hpp"

namespace mortise::core {

const LockValue* ValueBook::find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
}

bool ValueBook::set(std::string_view name, std::string bytes) {
    const auto found = values_.find(name);
    const bool is_new = found == values_.end();
    const auto before = is_new ? 0 : found->second.bytes.size();
    if (bytes_ - before + bytes.size() > values_bytes_max) return false;
    bytes_ = bytes_ - before + bytes.size();
    if (bytes.empty()) {
        if (!is_new) values_.erase(found);
        return true;
    }
    auto& value = is_new ? values_[std::string{name}] : found->second;
    value.bytes = std::move(bytes);
    ++value.version;
    return true;
}

void ValueBook::mark_dirty(std::string_view name) {
    const auto found = values_.find(name);
    if (found != values_.end()) found->second.dirty = true;
}

bool ValueBook::mark_consistent(std::string_view name) {
    const auto found = values_.find(name);
    if (found == values_.end()) return false;
    found->second.dirty = false;
    return true;
}

void ValueBook::restore(std::string_view name, LockValue value) {
    bytes_ += value.bytes.size();
    values_.emplace(std::string{name}, std::move(value));
}

}  // namespace mortise::core
