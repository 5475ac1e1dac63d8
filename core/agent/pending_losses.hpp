// Holds that were lost here while their session lives (S6, S8, S10, S24). Their owner is notified
// before the cluster is informed, because the cluster may grant the names to others at once
// (decisions 0025 and 0065). The release waits here until the owner was notified, for a limited
// time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/agent/open_calls.hpp"
#include "core/base/instant.hpp"

namespace mortise::core {

class PendingLosses {
public:
    struct Loss {
        CallTag tag;  // the caller that released it all the same, and waits
        Names names;
        Instant until;  // on the steady clock: then the cluster is informed in any case
        bool ends_with_session = false;  // the node closes: no release of its own follows
    };

    void add(Seq hold, Loss loss);
    // The owner was notified. Empty if the loss is not here, or no longer here.
    [[nodiscard]] std::optional<Loss> take(Seq hold);
    // A loss whose time is over; not set if there is none.
    [[nodiscard]] Seq overdue(Instant now) const {
        return by_time_.empty() || by_time_.begin()->first > now ? Seq{} : by_time_.begin()->second;
    }
    [[nodiscard]] Instant deadline() const {
        return by_time_.empty() ? Instant::never() : by_time_.begin()->first;
    }
    [[nodiscard]] std::vector<Seq> all() const;
    [[nodiscard]] bool empty() const { return losses_.empty(); }
    [[nodiscard]] std::size_t size() const { return losses_.size(); }
    [[nodiscard]] std::size_t names() const { return names_; }

private:
    std::map<Seq, Loss> losses_;
    std::set<std::pair<Instant, Seq>> by_time_;
    std::size_t names_ = 0;
};

}  // namespace mortise::core
