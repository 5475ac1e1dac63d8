// Requests that come to the log where nothing is left for them to do (S17): again, also behind
// their own cancel, and after the end of their session. What such a one may change the
// specification judges; here they are counted, so that a kind that never gets there shows.
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

    // The next request of the log, in an entry of that term.
    void read(core::Term term, const core::Request& request, bool session_ended);

private:
    struct Hash {
        std::size_t operator()(const core::OperationId& id) const {
            return std::hash<std::uint64_t>{}(id.session.raw() * 1'000'003 + id.seq.raw());
        }
    };

    Tally& tally_;
    std::unordered_map<core::OperationId, core::Term, Hash> first_;  // where each came first
    std::set<core::OperationId> cancelled_;                          // by a Cancel that is there
};

}  // namespace mortise::sim
