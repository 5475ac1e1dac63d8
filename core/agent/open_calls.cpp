#include "core/agent/open_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

void OpenCalls::add(AgentRequest call) {
    const auto tag = call.tag;
    names_ += call.names;
    call.arrival = ++arrivals_;
    calls_.insert(tag, std::move(call));
    if (arrived_.size() >= sweep_at_) sweep();
    arrived_.push_back(tag);
}

// Calls that end before they get a sequence number leave their tags in the queues. Without a leader
// nothing else removes these tags, however many calls come and go.
void OpenCalls::sweep() {
    for (auto left = arrived_.size(); left > 0; --left) {
        const auto tag = arrived_.pop_front();
        if (calls_.contains(tag)) arrived_.push_back(tag);
    }
    sweep_at_ = std::max<std::size_t>(1'024, 2 * arrived_.size());
}

AgentRequest OpenCalls::take(CallTag tag) {
    auto call = calls_.take(tag);
    MORTISE_CHECK(call.has_value());
    if (call->queued) queued_.take(call->seq);
    return std::move(*call);
}

AgentRequest OpenCalls::send(CallTag tag, Seq seq) {
    sent_.insert(tag, seq);
    return take(tag);
}

AgentRequest& OpenCalls::queue(AgentRequest call) {
    const auto tag = call.tag;
    sent_.take(tag);
    queued_.insert(call.seq, tag);
    call.queued = true;
    return calls_.insert(tag, std::move(call));
}

void OpenCalls::end(const AgentRequest& call) {
    names_ -= call.names;
    sent_.take(call.tag);
}

Seq OpenCalls::sent_as(CallTag tag) const {
    const auto* found = sent_.find(tag);
    return found == nullptr ? Seq{} : *found;
}

CallTag OpenCalls::queued_as(Seq seq) const {
    const auto* found = queued_.find(seq);
    return found == nullptr ? CallTag{} : *found;
}

CallTag OpenCalls::next_to_send() {
    for (auto* lane : {&returned_, &arrived_}) {
        while (!lane->empty() && !calls_.contains(lane->front()))
            lane->pop_front();
        if (!lane->empty()) return lane->front();
    }
    return {};
}

void OpenCalls::took_next() {
    (returned_.empty() ? arrived_ : returned_).pop_front();
}

std::vector<CallTag> OpenCalls::tags() const {
    std::vector<CallTag> tags;
    tags.reserve(size());
    calls_.each([&](CallTag tag, const AgentRequest&) { tags.push_back(tag); });
    sent_.each([&](CallTag tag, Seq) { tags.push_back(tag); });
    std::ranges::sort(tags);
    return tags;
}

}  // namespace mortise::core
