#include "tests/sim/judges/tellings.hpp"

#include <chrono>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

constexpr core::Nanoseconds telling_max = std::chrono::milliseconds{100};

}  // namespace

void Tellings::lost(core::NodeId node, core::OperationId hold, bool closes) {
    untold_[hold] = {node, steady_(node), closes};
}

void Tellings::told(core::OperationId hold) {
    const auto untold = untold_.extract(hold);
    if (untold.empty()) return;
    tally_.probe("owner told before a lost lock went back");
    if (untold.mapped().closes) tally_.probe("owner told before its node closed");
}

void Tellings::applied(const LogBook& book) {
    std::erase_if(untold_, [&](const auto& entry) {
        const auto& [hold, untold] = entry;
        const bool is_free = book.was_released(hold) || book.was_closed(hold.session);
        if (is_free) went_back(hold, untold);
        return is_free || book.ended_at(hold.session).is_set();
    });
}

void Tellings::went_back(core::OperationId hold, const Untold& untold) {
    if (steady_(untold.node) >= untold.since + telling_max)
        return tally_.probe("lost lock went back though its owner was not told");
    violations_.report(untold.node,
                       "telling: " + in_words(hold) + " went back before its owner was told");
}

// The program is lost with its node.
void Tellings::node_lost(core::NodeId node) {
    std::erase_if(untold_, [&](const auto& entry) { return entry.second.node == node; });
}

}  // namespace mortise::sim
