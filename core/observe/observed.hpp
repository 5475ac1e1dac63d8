// What an observer is told.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/locks/name_change.hpp"
#include "core/locks/name_extras.hpp"
#include "core/locks/table/holder.hpp"
#include "core/observe/position.hpp"

namespace mortise::core {

// The names that are observed: one, or all with a prefix.
struct ObservedNames {
    std::string prefix;
    bool is_one_name = false;  // the name `prefix`

    [[nodiscard]] bool has(std::string_view name) const {
        return is_one_name ? name == prefix : name.starts_with(prefix);
    }
};

// Nothing that was told before counts any more: the present state follows.
struct Gap {};

// The present state of a name: the holds that are held, oldest first, and the value. A later one
// replaces it. It has neither if the name was told before and has nothing any more.
struct NameState {
    std::string name;
    std::vector<Grant> holders;
    std::vector<NodeId> nodes;  // of these; not set if a session has ended and is not swept yet
    std::optional<LockValue> value;
    std::vector<Origin> origins{};  // as `nodes`; one that is not set is unknown
};

// The states since the Gap are those of the whole prefix as of this position; names without a state
// have none.
struct StateComplete {};

struct Observed {
    Position position;  // of a change or a complete state; otherwise not set
    std::variant<Gap, NameState, StateComplete, NameChange> what;
    Origin origin{};  // of the session of a change, if that is open when this is told
};

}  // namespace mortise::core
