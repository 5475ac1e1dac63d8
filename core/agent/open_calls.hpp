// The calls of this node's program that have no answer yet, each by its tag, and the order in which
// those without a number are to get one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/agent/call.hpp"
#include "core/base/id_table.hpp"
#include "core/base/ring.hpp"

namespace mortise::core {

struct OpenCall {
    RequestBody asked;  // unless it is in the send window, which has the body then
    Instant deadline;   // its own
    Instant gives_up;   // when it is answered whatever happens
    Seq seq;            // not set: it has no number yet
    Seq hold;           // that it upgrades
    std::size_t names = 1;
    std::uint64_t arrival = 0;  // in which order the calls were asked
    bool queued = false;        // the cluster has it in its queues, and no answer
    bool suspends = false;      // the hold that comes of it
    bool writes = false;        // see WriteCall
};

class OpenCalls {
public:
    void add(CallTag tag, OpenCall call);
    [[nodiscard]] bool contains(CallTag tag) const { return calls_.contains(tag); }
    // Valid until a call is added or taken.
    [[nodiscard]] OpenCall* find(CallTag tag) { return calls_.find(tag); }
    [[nodiscard]] const OpenCall* find(CallTag tag) const { return calls_.find(tag); }
    // Requires that it is here.
    OpenCall take(CallTag tag);

    // The cluster has it, under that number.
    void queue(CallTag tag, OpenCall& call);
    // Not set: it is none of those.
    [[nodiscard]] CallTag queued_as(Seq seq) const;

    // --- those without a number, which go out in the order of their arrival

    // Not set: there is none that may go.
    [[nodiscard]] CallTag next_to_send();
    // It got a number, or waits elsewhere.
    void took_next();
    // It waited elsewhere, and goes before those that arrived later.
    void send_first(CallTag tag) { returned_.push_back(tag); }

    // Names that all of them are about: what they take of a session's limit.
    [[nodiscard]] std::size_t names() const { return names_; }
    [[nodiscard]] std::size_t size() const { return calls_.size(); }
    [[nodiscard]] bool empty() const { return calls_.empty(); }
    // Perhaps: some of them may have ended.
    [[nodiscard]] bool has_next() const { return !returned_.empty() || !arrived_.empty(); }
    // In the order of their tags.
    [[nodiscard]] std::vector<CallTag> tags() const;
    template <class Visit>
    void each(const Visit& visit) const {
        calls_.each(visit);
    }

private:
    void sweep();

    IdTable<CallTag, OpenCall> calls_;
    IdTable<Seq, CallTag> queued_;
    Ring<CallTag> arrived_;   // with some that ended meanwhile
    Ring<CallTag> returned_;  // likewise
    std::size_t names_ = 0;
    std::uint64_t arrivals_ = 0;
    std::size_t sweep_at_ = 1'024;  // so many in those two: then the ended ones go
};

}  // namespace mortise::core
