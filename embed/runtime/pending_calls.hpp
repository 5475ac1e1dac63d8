// The calls that the core has, with their completions. Used on the core thread only.
#pragma once

#include <cstddef>
#include <utility>

#include "core/agent/call.hpp"
#include "core/base/id_table.hpp"
#include "embed/threads/call_gate.hpp"

namespace mortise::detail {

// Calls for which a missing answer leaves the outcome unknown (P6).
[[nodiscard]] inline bool is_unknown_unanswered(const SubmittedCall& call) {
    return call.is<core::ReleaseCall>() || call.is<core::WriteCall>() ||
           call.is<core::ChangeCall>();
}

class PendingCalls {
public:
    // Takes the first of these calls, which has a completion. Throws std::bad_alloc, and nothing
    // was taken.
    SubmittedCall& add(SubmittedCalls& calls) {
        auto& its = calls_.insert(calls.front().call.tag(), {});
        its.splice(its.end(), calls, calls.begin());
        return its.front().call;
    }
    // Empty if there is no call with that tag.
    [[nodiscard]] SubmittedCalls take(core::CallTag tag) {
        auto taken = calls_.take(tag);
        return taken ? *std::move(taken) : SubmittedCalls{};
    }
    [[nodiscard]] SubmittedCalls take_all() {
        SubmittedCalls all;
        std::size_t from = 0;
        calls_.each_from(from, [&](core::CallTag, SubmittedCalls& one) {
            all.splice(all.end(), one);
            return true;
        });
        calls_.clear();
        return all;
    }
    [[nodiscard]] std::size_t size() const { return calls_.size(); }
    // Calls visit(call) for the calls from that place of the table on, until it returns false:
    // then `place` is where to go on. True if it came to the end.
    template <class Visit>
    bool each_from(std::size_t& place, const Visit& visit) {
        return calls_.each_from(
            place, [&](core::CallTag, SubmittedCalls& one) { return visit(one.front().call); });
    }

private:
    core::IdTable<core::CallTag, SubmittedCalls> calls_;  // a list of one call for each
};

}  // namespace mortise::detail
