#include "core/raft/succession.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

// This is long enough for a node with capacity to be elected first, even at its second attempt.
constexpr int timeouts_without_capacity = 3;
// The turns of the voters after a broken connection, in a heartbeat: long enough for the first one
// to be told by the others that they would vote for it.
constexpr int broken_slots = 20;
constexpr int refused_slots = 8;  // the first turn after a refusal, in a heartbeat

}  // namespace

Succession::Succession(const Timing& timing, Prng prng)
    : timing_{timing}, prng_{prng}, patience_{timing.heartbeat, timing.election_timeout} {}

// Also if this node suspected the leader meanwhile: it was only late.
void Succession::heard(NodeId leader, Term term, Instant now) {
    if (contact_.leader == leader && contact_.term == term) patience_.note(now - contact_.at, now);
    contact_ = {leader, term, now};
    given_time_.clear();
    attempts_ = 0;
}

void Succession::connection_lost(NodeId peer) {
    if (contact_.leader == peer) contact_ = {};
}

// The messages of its leader may wait in its own sockets. That delay counts like one of the
// leader's.
bool Succession::was_late(Nanoseconds delay, Instant now) {
    const auto before = patience_.value();
    patience_.note(delay, now);
    return patience_.value() > before;
}

void Succession::led() {
    attempts_ = 0;
    given_time_.clear();
}

Instant Succession::without_leader(Instant now) {
    const auto timeout = timing_.election_timeout.count();
    return now + lets_others_ask() + Nanoseconds{prng_.between(timeout, 2 * timeout)};
}

// It asks for votes within its patience again, when the other voters suspect the leader as well.
Instant Succession::after_silence(const Configuration& present, NodeId leader, Instant heard) {
    const auto queue = voters_without(present, leader);
    return heard + lets_others_ask() + patience() + turn(patience() / queue.length, queue.ahead);
}

// The other followers lose the leader at the same moment, or a little later, and answer then. So
// the first of them asks at once. Who has just answered another one's question lets that one win.
std::optional<Instant> Succession::after_loss(const Configuration& present, NodeId lost,
                                              bool another_asks, Instant now) {
    const auto queue = voters_without(present, lost);
    if (queue.ahead == 0 && has_room_ && !another_asks) return std::nullopt;
    const auto ahead = queue.ahead + (another_asks ? queue.length : 0);
    return now + lets_others_ask() + turn(timing_.heartbeat / broken_slots, ahead);
}

Instant Succession::after_refusal(const Configuration& present, Instant now, int doublings_max) {
    const auto doublings = std::min(attempts_, doublings_max);
    const auto slot = timing_.heartbeat / refused_slots * (1 << doublings);
    return now + lets_others_ask() + turn(slot, voters_without(present, {}).ahead);
}

Succession::Queue Succession::voters_without(const Configuration& present, NodeId missing) const {
    Queue queue;
    const auto add = [&](const Member& member) {
        if (member.id == missing) return;
        ++queue.length;
        if (member.id < timing_.self) ++queue.ahead;
    };
    std::ranges::for_each(present.voters, add);
    for (const auto& member : present.outgoing) {
        const auto votes = std::ranges::find(present.voters, member.id, &Member::id);
        if (votes == present.voters.end()) add(member);
    }
    queue.length = std::max<std::int64_t>(queue.length, 1);
    return queue;
}

// Voters that miss a leader at the same moment ask one after the other. The random part separates
// those that missed it at different moments.
Nanoseconds Succession::turn(Nanoseconds slot, std::int64_t ahead) {
    return slot * ahead + Nanoseconds{prng_.between(slot.count() / 4, slot.count() * 3 / 4)};
}

// A leader without capacity would delay everybody.
Nanoseconds Succession::lets_others_ask() const {
    return has_room_ ? Nanoseconds{0} : timing_.election_timeout * timeouts_without_capacity;
}

}  // namespace mortise::core
