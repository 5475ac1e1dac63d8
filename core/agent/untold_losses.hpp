// Holds that were lost here while their session lives (S6, S8, S24). Their owner is told before the
// cluster is, which may give them to others as soon as it knows (decision 0025). A release waits
// here until its owner was told; an owner that is told too slowly keeps it from nobody.
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

class UntoldLosses {
public:
    struct Loss {
        CallTag tag;  // of who released it all the same, and waits
        Names names;
        Instant until;  // of the steady clock: then the cluster is told all the same
    };

    void add(Seq hold, Loss loss);
    // Its owner was told. Empty when it is not here, or not any more.
    [[nodiscard]] std::optional<Loss> take(Seq hold);
    // One whose time is over; not set: there is none.
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
