// The unanswered calls of this node's program, by tag, and the order in which they get sequence
// numbers. Their requests are here as well, unless they are in the send window.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/agent/agent_request.hpp"
#include "core/base/id_table.hpp"
#include "core/base/ring.hpp"

namespace mortise::core {

class OpenCalls {
public:
    void add(AgentRequest call);
    [[nodiscard]] bool contains(CallTag tag) const {
        return calls_.contains(tag) || sent_.contains(tag);
    }
    // Null if its request is not here. Valid until a call is added, sent, queued or taken.
    [[nodiscard]] const AgentRequest* find(CallTag tag) const { return calls_.find(tag); }
    // The number under which its request is in the send window; not set if it is not there.
    [[nodiscard]] Seq sent_as(CallTag tag) const;
    // Its request goes to the send window, under that number.
    AgentRequest send(CallTag tag, Seq seq);
    // The cluster has queued the request, which comes from the send window.
    AgentRequest& queue(AgentRequest call);
    // Not set if no queued request has that number.
    [[nodiscard]] CallTag queued_as(Seq seq) const;
    // Takes its request. Requires that it is here. The call stays open.
    AgentRequest take(CallTag tag);
    // The call has an answer; its request is not here.
    void end(const AgentRequest& call);

    // --- calls without a sequence number, in the order of their arrival

    // Not set if no call may be sent.
    [[nodiscard]] CallTag next_to_send();
    // The call got a sequence number, or is held back.
    void took_next();
    // The call is not held back any more. It is sent before calls that arrived later.
    void send_first(CallTag tag) { returned_.push_back(tag); }

    // The number of names in all calls, which counts against the limit of a session.
    [[nodiscard]] std::size_t names() const { return names_; }
    [[nodiscard]] std::size_t size() const { return calls_.size() + sent_.size(); }
    // May be true although the last of these calls has ended.
    [[nodiscard]] bool has_next() const { return !returned_.empty() || !arrived_.empty(); }
    // In ascending order.
    [[nodiscard]] std::vector<CallTag> tags() const;
    // Visits the requests that are here.
    template <class Visit>
    void each(const Visit& visit) const {
        calls_.each(visit);
    }

private:
    void sweep();

    IdTable<CallTag, AgentRequest> calls_;
    IdTable<CallTag, Seq> sent_;
    IdTable<Seq, CallTag> queued_;
    Ring<CallTag> arrived_;   // may contain calls that have ended
    Ring<CallTag> returned_;  // likewise
    std::size_t names_ = 0;
    std::uint64_t arrivals_ = 0;
    std::size_t sweep_at_ = 1'024;  // when both queues have this many, ended calls are removed
};

}  // namespace mortise::core
