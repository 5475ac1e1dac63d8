// An agent and the cluster of its session, without a network. Every message stays in transit until
// the test decides: it arrives, early, late or several times, is declined, or lost.
#pragma once

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/locks/machine/lock_machine.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {

class ClusterByHand {
public:
    using Message = std::vector<Command>;
    struct Step {
        std::vector<Request> sent;  // in the order in which they were sent
        std::vector<CallAnswer> answers;
        std::vector<HoldLost> lost;
    };

    ClusterByHand() {
        agent.on_leader(true, now);
        step();
        for (const auto& opening : std::exchange(under_way, {}))
            arrive(opening);
        OpenSession other;
        other.nonce = 77;
        other.node = NodeId{2};
        other.generation.incarnation = Incarnation{10};
        other.generation.boot_epoch = BootEpoch{1};
        other.ttl_ms = Agent::of_a_day().ttl_ms;
        apply(other, true);
        rival_ = machine.sessions().newest();
    }

    // Messages that are sent are in transit from then on.
    Step step() {
        auto output = agent.collect(now);
        agent.check_invariants();
        for (const auto& forward : output.forwards) {
            if (!forward.batch.empty()) under_way.push_back(decode_batch(forward.batch).value());
        }
        return {requests_in(output), std::move(output.answers), std::move(output.lost)};
    }

    // Returns the requests that took effect, in order: not duplicates, and none behind a gap.
    std::vector<Seq> arrive(const Message& message, bool told = true) {
        std::vector<Seq> effective;
        for (const auto& command : message) {
            const auto seq = seq_of(command);
            const bool was_there = is_there(seq);
            apply(command, told);
            if (!was_there && is_there(seq)) effective.push_back(seq);
        }
        return effective;
    }
    // As by a leader without capacity.
    static Message declined(Message message) {
        for (auto& command : message) {
            auto* request = std::get_if<Request>(&command);
            if (request != nullptr && !is_releasing(request->body)) request->body = Declined{};
        }
        return message;
    }
    void replace_state() { agent.on_state_replaced(machine.sessions(), now); }
    void pass(Nanoseconds time) {
        now = {now.steady + time, now.boot + time};
        agent.begin(now);
        agent.on_timer(now);
    }

    // Another session, which never waits.
    void rival_takes(std::string name, LockMode mode) {
        Acquire asked;
        asked.names.push_back({std::move(name), mode});
        asked.wait = false;
        rivals_.push_back(rival_asks(std::move(asked)));
    }
    void rival_releases_newest() {
        if (rivals_.empty()) return;
        rival_asks(Release{rivals_.back()});
        rivals_.pop_back();
    }
    void rival_leaves() {
        while (!rivals_.empty())
            rival_releases_newest();
    }

    Now now{Instant{1'000'000'000}, Instant{1'000'000'000}};
    SessionAgent agent{Agent::of_a_day(), Prng{1}, now};
    LockMachine machine;
    std::vector<Message> under_way;

private:
    static Seq seq_of(const Command& command) {
        const auto* request = std::get_if<Request>(&command);
        return request == nullptr ? Seq{} : request->seq;
    }
    bool is_there(Seq seq) const {
        const auto own = agent.open_session();
        return own && seq <= machine.sessions().find(*own)->applied;
    }
    void apply(const Command& command, bool told) {
        Outcomes outcomes;
        machine.apply(LogIndex{++index_}, {command}, outcomes);
        if (!told) return;
        agent.on_progress(now);
        for (const auto& outcome : outcomes)
            agent.on_outcome(outcome, LogIndex{index_}, now);
    }
    Seq rival_asks(RequestBody body) {
        rival_seq_ = rival_seq_.next();
        apply(Request{rival_, rival_seq_, std::move(body)}, true);
        return rival_seq_;
    }

    std::uint64_t index_ = 0;
    SessionId rival_;
    Seq rival_seq_;
    std::vector<Seq> rivals_;  // the requests of its present holds
};

}  // namespace mortise::core::test
