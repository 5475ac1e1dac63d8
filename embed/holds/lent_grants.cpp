#include "embed/holds/lent_grants.hpp"

#include <algorithm>
#include <new>

namespace mortise::detail {

void LentGrants::put(std::string_view name, const std::shared_ptr<HoldRecord>& use) noexcept try {
    const auto hash = std::hash<std::string_view>{}(name);
    parts_[hash % parts].with([&](Part& part) {
        auto& uses = part.uses;
        const auto known = uses.find(name);
        if (known != uses.end()) {
            known->second = use;
            return;
        }
        if (uses.size() >= part.cleared_at) {
            std::erase_if(uses, [](const auto& one) { return one.second.expired(); });
            part.cleared_at = std::max(part.cleared_at, 2 * uses.size());
        }
        uses.emplace(name, use);
    });
} catch (const std::bad_alloc&) {
}

std::size_t LentGrants::size() const {
    std::size_t size = 0;
    for (const auto& one : parts_)
        size += one.with([](const Part& part) { return part.uses.size(); });
    return size;
}

}  // namespace mortise::detail
