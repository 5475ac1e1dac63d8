// Calls that may not be sent yet, because this node lost a hold of one of their names and the
// cluster does not know: the request would conflict with the lost hold. Later calls on one of their
// names stay behind them (S20).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/agent/open_calls.hpp"

namespace mortise::core {

class ParkedCalls {
public:
    // A hold of these names was lost. A name stays shut until reopen() was called as often as
    // shut().
    void shut(const Names& names) { shut_.insert(names.begin(), names.end()); }
    // Appends the calls that may go now to `freed`.
    void reopen(const Names& names, std::vector<CallTag>& freed);
    [[nodiscard]] bool is_shut(const std::string& name) const { return shut_.contains(name); }

    // No name is shut and no call is parked. This is nearly always the case.
    [[nodiscard]] bool are_none() const { return shut_.empty() && calls_.empty(); }
    // A name is shut, or an earlier call waits for it.
    [[nodiscard]] bool must_wait(const Names& names, std::uint64_t arrival) const;
    void add(CallTag tag, Names names, std::uint64_t arrival);
    // The call ended. Does nothing if it is not here.
    void remove(CallTag tag, std::vector<CallTag>& freed);
    [[nodiscard]] std::size_t size() const { return calls_.size(); }
    // Throws if a parked call could go.
    void check_invariants() const;

private:
    struct Parked {
        std::uint64_t arrival = 0;
        Names names;
    };
    using Arrivals = std::map<std::uint64_t, CallTag>;

    [[nodiscard]] bool is_first(const Parked& parked) const;
    void take_off(const Parked& parked);
    void free_first(Names names, std::vector<CallTag>& freed);

    std::multiset<std::string> shut_;
    std::map<CallTag, Parked> calls_;
    std::map<std::string, Arrivals> by_name_;
};

}  // namespace mortise::core
