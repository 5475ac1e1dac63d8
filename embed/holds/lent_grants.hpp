// Finds the uses to which cached grants are lent by the names of the locks.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "embed/threads/guarded.hpp"

namespace mortise::detail {

class HoldRecord;

// Thread-safe; threads that look for different names mostly do not meet. It only finds a record,
// whose word says whether the grant is still lent (GrantWord), so an entry may be out of date.
class LentGrants {
public:
    // Replaces the use of that name. Without memory the name is not found, or its former use is.
    void put(std::string_view name, const std::shared_ptr<HoldRecord>& use) noexcept;
    // Null if there is none.
    [[nodiscard]] std::shared_ptr<HoldRecord> find(std::string_view name) const {
        const auto hash = std::hash<std::string_view>{}(name);
        return part_of(hash).with([&](const Part& part) -> std::shared_ptr<HoldRecord> {
            const auto found = part.uses.find(name);
            return found == part.uses.end() ? nullptr : found->second.lock();
        });
    }
    // The entries, those without a record included.
    [[nodiscard]] std::size_t size() const;

private:
    static constexpr std::size_t parts = 128;

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    struct Part {
        std::unordered_map<std::string, std::weak_ptr<HoldRecord>, Hash, std::equal_to<>> uses;
        std::size_t cleared_at = 8;  // uses: then those without a record are removed
    };

    [[nodiscard]] const Guarded<Part>& part_of(std::size_t hash) const {
        return parts_[hash % parts];
    }

    std::array<Guarded<Part>, parts> parts_;
};

}  // namespace mortise::detail
