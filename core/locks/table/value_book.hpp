// The values of names (S36), and their size together.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/locks/name_extras.hpp"

namespace mortise::core {

class ValueBook {
public:
    // Null if the name has none.
    [[nodiscard]] const LockValue* find(std::string_view name) const;
    // Empty bytes remove the value, and the versions of a later value begin anew. False, without an
    // effect, if there is no capacity.
    bool set(std::string_view name, std::string bytes);
    // Called when an exclusive holder was lost, which may have left the value half changed.
    void mark_dirty(std::string_view name);
    // False if there is no value.
    bool mark_consistent(std::string_view name);

    using Values = std::map<std::string, LockValue, std::less<>>;
    [[nodiscard]] const Values& all() const { return values_; }

    // For loading; the name must have no value.
    void restore(std::string_view name, LockValue value);

private:
    Values values_;
    std::size_t bytes_ = 0;  // of all of them together
};

}  // namespace mortise::core
