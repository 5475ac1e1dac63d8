// The unanswered calls of this node's program, by tag, and the order in which they get sequence
// numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/id_table.hpp"
#include "core/base/ring.hpp"

namespace mortise::core {

struct OpenCall {
    RequestBody asked;  // moved to the send window when the request is sent
    Instant deadline;   // for the grant
    Instant gives_up;   // when it is answered in any case
    Instant began;
    Seq seq;   // not set: no sequence number yet
    Seq hold;  // the hold that it upgrades
    std::size_t names = 1;
    std::uint64_t arrival = 0;  // the order of the calls
    bool queued = false;        // queued by the cluster and not answered
    bool suspends = false;      // see AcquireCall
    bool writes = false;        // see WriteCall
    bool is_short = false;      // its time may be over before an answer can come
};

class OpenCalls {
public:
    void add(CallTag tag, OpenCall call);
    [[nodiscard]] bool contains(CallTag tag) const { return calls_.contains(tag); }
    // Valid until a call is added or taken.
    [[nodiscard]] OpenCall* find(CallTag tag) { return calls_.find(tag); }
    [[nodiscard]] const OpenCall* find(CallTag tag) const { return calls_.find(tag); }
    // Requires that the call is here.
    OpenCall take(CallTag tag);

    // The cluster has queued the request under that sequence number.
    void queue(CallTag tag, OpenCall& call);
    // Not set if no queued request has that number.
    [[nodiscard]] CallTag queued_as(Seq seq) const;

    // --- calls without a sequence number, in the order of their arrival

    // Not set if no call may be sent.
    [[nodiscard]] CallTag next_to_send();
    // The call got a sequence number, or is held back.
    void took_next();
    // The call is not held back any more. It is sent before calls that arrived later.
    void send_first(CallTag tag) { returned_.push_back(tag); }

    // The number of names in all calls, which counts against the limit of a session.
    [[nodiscard]] std::size_t names() const { return names_; }
    [[nodiscard]] std::size_t size() const { return calls_.size(); }
    [[nodiscard]] bool empty() const { return calls_.empty(); }
    // May be true although the last of these calls has ended.
    [[nodiscard]] bool has_next() const { return !returned_.empty() || !arrived_.empty(); }
    // In ascending order.
    [[nodiscard]] std::vector<CallTag> tags() const;
    template <class Visit>
    void each(const Visit& visit) const {
        calls_.each(visit);
    }

private:
    void sweep();

    IdTable<CallTag, OpenCall> calls_;
    IdTable<Seq, CallTag> queued_;
    Ring<CallTag> arrived_;   // may contain calls that have ended
    Ring<CallTag> returned_;  // likewise
    std::size_t names_ = 0;
    std::uint64_t arrivals_ = 0;
    std::size_t sweep_at_ = 1'024;  // when both queues have this many, ended calls are removed
};

}  // namespace mortise::core
