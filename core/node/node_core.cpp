#include "core/node/node_core.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

RaftOptions raft_options(const NodeOptions& options) {
    RaftOptions raft;
    raft.self = options.self;
    raft.election_timeout = options.election_timeout;
    raft.heartbeat = options.heartbeat;
    return raft;
}

// The counter takes 40 bits: at a million reads a second a life of twelve days, and then the next
// epoch's ids begin, which no life uses before its millionth start.
ReadId read_id(BootEpoch epoch, std::uint64_t count) {
    return ReadId{(epoch.raw() << 40U) + count};
}

}  // namespace

NodeCore::NodeCore(NodeOptions options, RaftState state, Now now)
    : options_{std::move(options)},
      prng_{options_.seed},
      raft_{raft_options(options_), std::move(state), Prng{prng_.next()}, now.steady} {
    MORTISE_CHECK(options_.self.is_set() && options_.incarnation.is_set());
    // The founding entry may be purged by now; who founded is in the configuration either way.
    const auto& log = raft_.log();
    if (log.base().index == LogIndex{} && log.last().index >= LogIndex{1}) {
        founding_ = log.at(LogIndex{1});
    }
}

Effects NodeCore::step(Event event, Now now) {
    std::visit([&](auto& e) { on(e, now); }, event);
    form_if_unanimous(now);
    auto raft = raft_.collect(now.steady);
    effects_.write = std::move(raft.write);
    for (auto& envelope : raft.send) {
        effects_.send.push_back({envelope.to, std::move(envelope.message)});
    }
    effects_.committed = std::move(raft.committed);
    for (const auto& grant : raft.reads) {
        const auto asked = reads_.find(grant.id);
        if (asked == reads_.end()) continue;  // answered before, or given up
        effects_.reads.push_back({asked->second, grant.index});
        reads_.erase(asked);
    }
    effects_.notes = std::move(raft.notes);
    effects_.deadline = raft_.deadline();
    return std::exchange(effects_, {});
}

void NodeCore::on(const TimerFired& /*event*/, Now now) {
    raft_.on_timer(now.steady);
    for (const auto peer : unfounded_)
        offer_formation(peer);
}

void NodeCore::on(const PeerDown& event, Now now) {
    connected_.erase(event.peer);
    unfounded_.erase(event.peer);
    raft_.on_peer_down(event.peer, now.steady);
}

void NodeCore::on(Received& event, Now now) {
    std::visit(
        [&](auto& message) {
            using M = std::decay_t<decltype(message)>;
            if constexpr (std::is_same_v<M, FormationOffer>) {
                on_offer(message, now);
            } else {
                // A node that was never part of the cluster neither votes nor follows (S47).
                if (!is_formed() || !is_trusted(event.from)) {
                    ++refused_messages_;
                    return;
                }
                unfounded_.erase(event.from);
                raft_.on_message(event.from, std::move(message), now.steady);
            }
        },
        event.message);
}

void NodeCore::on(const WriteDone& event, Now now) {
    const bool was_durable = raft_.durable_index() >= LogIndex{1};
    raft_.on_write_done(event.id, now.steady);
    if (was_durable) return;
    for (const auto peer : unfounded_)
        offer_formation(peer);
}

// The log is kept until the slowest member has it, within limits: who is further behind is cut off.
void NodeCore::on(const StateDurable& event, Now /*now*/) {
    auto target = std::min({event.index, raft_.commit_index(), raft_.durable_index()});
    if (raft_.log().bytes() <= options_.log_bytes_max) {
        target = std::min(target, raft_.replicated_index());
    }
    if (target <= raft_.log().base().index) return;
    raft_.purge_to(target);
    effects_.purge_log_to = target;
}

void NodeCore::on(Propose& event, Now now) {
    const auto index = raft_.propose(EntryKind::commands, std::move(event.batch), now.steady);
    effects_.proposed.push_back({event.tag, index ? LogId{raft_.term(), *index} : LogId{}});
}

void NodeCore::on(const Read& event, Now now) {
    const auto id = read_id(options_.boot_epoch, ++reads_asked_);
    reads_.emplace(id, event.tag);
    if (!raft_.read(id, now.steady)) {
        reads_.erase(id);
        effects_.reads.push_back({event.tag, {}});
    }
}

void NodeCore::on(const TransferLeadership& event, Now now) {
    raft_.transfer_to(event.target, now.steady);
}

void NodeCore::check_invariants() const {
    raft_.check_invariants();
}

}  // namespace mortise::core
