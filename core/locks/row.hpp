// The form of a state on disk: rows of a store that is ordered by key. docs/formats.md describes
// those of the lock machine.
#pragma once

#include <optional>
#include <string>

namespace mortise::core {

// One row of the state on disk. Without a value the row is removed.
struct Row {
    std::string key;
    std::optional<std::string> value;

    friend bool operator==(const Row&, const Row&) = default;
};

}  // namespace mortise::core
