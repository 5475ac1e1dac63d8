// Counts requests in the log that have nothing left to do (S17): duplicates, also after their own
// cancel, and requests after the end of their session. The specification judges what such a request
// may change; here they are counted, so that a kind that never occurs is visible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>

#include "core/locks/command.hpp"
#include "core/raft/entry.hpp"
#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

class Repeats {
public:
    explicit Repeats(Tally& tally) : tally_{tally} {}

    // The next request in the log, in an entry of that term.
    void read(core::Term term, const core::Request& request, bool session_ended);

private:
    struct Hash {
        std::size_t operator()(const core::OperationId& id) const {
            return std::hash<std::uint64_t>{}(id.session.raw() * 1'000'003 + id.seq.raw());
        }
    };

    Tally& tally_;
    std::unordered_map<core::OperationId, core::Term, Hash> first_;  // the first occurrence of each
    std::set<core::OperationId> cancelled_;                          // by a Cancel in the log
};

}  // namespace mortise::sim
