#include "tests/sim/judges/latch_book.hpp"

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

void LatchBook::counted(core::OperationId operation, const core::CountDown& request) {
    if (!read_.insert(operation).second) return;
    tally_.probe("latch counted down");
    ++untold_[request.name];
    auto& remaining = remaining_of(request.name, request.expected);
    if (request.count > remaining) {
        violations_.report(
            {}, "latch: " + request.name + " was counted below zero by " + in_words(operation));
        remaining = 0;
        return;
    }
    remaining -= request.count;
}

void LatchBook::queued(core::OperationId /*operation*/, const core::AwaitLatch& request) {
    (void)remaining_of(request.name, request.expected);
    tally_.probe("latch waited for");
}

void LatchBook::passed(core::OperationId operation, const core::AwaitLatch& request,
                       core::LogIndex at) {
    if (!read_.insert(operation).second) return;
    tally_.probe("latch passed");
    const auto remaining = remaining_of(request.name, request.expected);
    if (remaining != 0)
        violations_.report({}, "latch: " + in_words(operation) + " passed " + request.name +
                                   " although " + std::to_string(remaining) + " remain");
    passed_[request.label] = at;
}

void LatchBook::told_counted(core::NodeId node, const std::string& name) {
    auto& untold = untold_[name];
    if (untold == 0) return violations_.report(node, "latch: a count that the log does not have");
    --untold;
}

core::LogIndex LatchBook::passed_at(const std::string& label) const {
    const auto found = passed_.find(label);
    return found == passed_.end() ? core::LogIndex{} : found->second;
}

}  // namespace mortise::sim
