// What a cluster that acknowledges from memory remembers of losses of power of a majority (eras,
// docs/decisions/0095). Empty in a cluster that syncs everything.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.hpp"
#include "core/locks/name_extras.hpp"

namespace mortise::core {

struct Eras {
    std::uint64_t begun = 0;  // since the cluster was formed
    // The entry that raised it is synced on a majority. No greater token is granted by an entry
    // that is not. Not set: it was never raised.
    FencingToken token_ceiling{};
    // The quorum timer during which no session opens. It belongs to no name and to no hold.
    std::optional<Closure> closing{};

    [[nodiscard]] bool is_empty() const { return *this == Eras{}; }
    friend bool operator==(const Eras&, const Eras&) = default;
};

// So many numbers of quorum timers are skipped by an era: those that were used by entries that are
// forgotten. A voter may have saved how long it has counted them.
constexpr std::uint64_t closures_of_an_era = std::uint64_t{1} << 42U;

}  // namespace mortise::core
