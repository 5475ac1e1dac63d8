// Raft driven by hand. Nothing happens by itself: a test passes time, fires timers, completes
// writes and delivers, drops, repeats or reorders messages, and examines the effects of each event.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/configuration_codec.hpp"
#include "core/raft/bounds.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

// Prints values for failed assertions.
template <class Kind>
void PrintTo(Id<Kind> id, std::ostream* out) {
    *out << id.raw();
}
inline void PrintTo(const LogId& id, std::ostream* out) {
    *out << id.term.raw() << "." << id.index.raw();
}
inline void PrintTo(const HardState& state, std::ostream* out) {
    *out << "term " << state.term.raw() << " vote " << state.voted_for.raw();
}
inline void PrintTo(Instant instant, std::ostream* out) {
    *out << instant.ns << "ns";
}

namespace test {

using namespace std::chrono_literals;

inline constexpr NodeId n1{1};
inline constexpr NodeId n2{2};
inline constexpr NodeId n3{3};
inline constexpr NodeId n4{4};
inline constexpr NodeId n5{5};
inline constexpr Nanoseconds election_timeout = 1s;
inline constexpr Nanoseconds heartbeat = 100ms;
// How long a follower waits for a leader whose messages came on time so far.
inline constexpr Nanoseconds calm_patience = 5 * heartbeat;
inline constexpr Instant start{std::int64_t{3'600'000'000'000}};

inline Member member(std::uint64_t id) {
    return {NodeId{id}, Incarnation{100 + id}, "host" + std::to_string(id) + ":7000"};
}

inline std::vector<Member> members(std::initializer_list<std::uint64_t> ids) {
    std::vector<Member> list;
    for (const auto id : ids)
        list.push_back(member(id));
    return list;
}

inline Configuration voters(std::initializer_list<std::uint64_t> ids) {
    return {{7, 9}, members(ids), {}, {}};
}

inline LogId log_id(std::uint64_t term, std::uint64_t index) {
    return {Term{term}, LogIndex{index}};
}

inline Entry commands(LogId id, std::string text = "x") {
    return make_entry(id, EntryKind::commands, Bytes{std::move(text)});
}

inline Entry configures(LogId id, const Configuration& configuration) {
    return make_entry(id, EntryKind::configuration, encode_configuration(configuration));
}

// A disk whose log has entries with these terms after the first entry, which has term 1.
inline RaftState disk_with(const Configuration& configuration, HardState hard_state,
                           const std::vector<std::uint64_t>& terms) {
    RaftState state;
    state.hard_state = hard_state;
    state.entries.push_back(configures(log_id(1, 1), configuration));
    for (const auto term : terms) {
        const auto index = state.entries.back().id.index.next();
        state.entries.push_back(commands({Term{term}, index}));
    }
    state.applied = LogIndex{1};
    return state;
}

// The disk after a crash: the effects of the completed writes.
struct Disk {
    HardState hard_state;
    LogId base;
    std::vector<Entry> entries;
    LogIndex applied;
    Configuration configuration;

    void carry_out(const Write& write) {
        if (write.reset) {
            base = write.reset->id;
            configuration = write.reset->configuration;
            applied = base.index;
            entries.clear();
        }
        if (write.hard_state) hard_state = *write.hard_state;
        if (write.truncate_from) {
            std::erase_if(entries, [&](const Entry& entry) {
                return entry.id.index >= *write.truncate_from;
            });
        }
        entries.insert(entries.end(), write.append.begin(), write.append.end());
    }
    [[nodiscard]] RaftState state() const {
        return {hard_state, base, entries, applied, configuration};
    }
};

// One Raft object, its disk and its clock. Its messages stay in `sent` until a test takes them.
class HandDriven {
public:
    HandDriven(RaftOptions options, const RaftState& state, Instant at = start)
        : now{at},
          options_{options},
          disk_{state.hard_state, state.base, state.entries, state.applied, state.configuration},
          raft_{std::make_unique<Raft>(options, state, Prng{options.self.raw()}, at)} {}

    // --- events, each followed by its collect()
    void receive(NodeId from, RaftMessage message) {
        raft_->begin_event(now);
        if (!raft_->refuses(from, message)) raft_->take_message(from, std::move(message), now);
        collect();
    }
    void timer() {
        raft_->on_timer(now);
        collect();
    }
    void timer_in(Nanoseconds delay) {
        now = now + delay;
        timer();
    }
    // Moves its clock to its deadline.
    void timer_when_due() {
        now = std::max(now, raft_->deadline());
        timer();
    }
    void complete_write() {
        disk_.carry_out(writes.at(0));
        const auto id = writes.front().id;
        writes.pop_front();
        raft_->on_write_done(id, now);
        collect();
    }
    void complete_writes() {
        while (!writes.empty())
            complete_write();
    }
    void peer_down(NodeId peer) {
        raft_->on_peer_down(peer, now);
        collect();
    }
    std::optional<LogIndex> propose(std::string text = "x") {
        const auto index = raft_->propose(EntryKind::commands, Bytes{std::move(text)}, now);
        collect();
        return index;
    }
    std::optional<LogIndex> configure(const Configuration& configuration) {
        const auto index =
            raft_->propose(EntryKind::configuration, encode_configuration(configuration), now);
        collect();
        return index;
    }
    bool read(std::uint64_t id) {
        const bool asked = raft_->read(ReadId{id}, now);
        collect();
        return asked;
    }
    void reply_early_in(Nanoseconds delay) {
        now = now + delay;
        raft_->reply_early(now);
        collect();
    }
    // Several reads in one step.
    void read_many(std::uint64_t from, std::uint64_t to) {
        for (auto id = from; id < to; ++id)
            raft_->read(ReadId{id}, now);
        collect();
    }
    bool transfer_to(NodeId target) {
        const bool started = raft_->transfer_to(target, now);
        collect();
        return started;
    }
    ChangeResult add_learner(const Member& member) {
        auto result = raft_->add_learner(member, now);
        collect();
        return result;
    }
    ChangeResult promote(NodeId id) {
        auto result = raft_->promote(id, now);
        collect();
        return result;
    }
    ChangeResult remove(NodeId id) {
        auto result = raft_->remove(id, now);
        collect();
        return result;
    }
    // The view's answer to the oldest request for rows.
    void give_rows(LogId last, const Configuration& configuration, std::vector<Row> rows,
                   bool done) {
        auto asked = std::move(reads_asked.at(0));
        reads_asked.erase(reads_asked.begin());
        raft_->on_snapshot_rows({asked.peer, last, configuration, std::move(asked.after),
                                 std::move(rows), done, asked.transfer},
                                now);
        collect();
    }
    bool state_installed(LogId last) {
        const bool waited = raft_->on_state_installed(last, now);
        collect();
        return waited;
    }
    void set_room(bool has_room) { raft_->set_room(has_room); }
    void set_room_for_state(bool has_room) {
        raft_->set_room_for_state(has_room);
        collect();
    }
    void adopt_formation(const Entry& founding) {
        raft_->adopt_formation(founding, now);
        collect();
    }
    void purge_to(std::uint64_t index) {
        raft_->purge_to(LogIndex{index});
        collect();
    }
    // Incomplete writes are lost, and so are messages that were not taken.
    void crash_and_restart() {
        writes.clear();
        sent.clear();
        notes.clear();
        raft_ =
            std::make_unique<Raft>(options_, disk_.state(), Prng{options_.self.raw() + 50}, now);
    }

    // --- effects
    // Removes the messages of one kind to one peer, and returns them oldest first.
    template <class Message>
    std::vector<Message> take(NodeId to) {
        std::vector<Message> taken;
        std::erase_if(sent, [&](RaftEnvelope& envelope) {
            auto* message = std::get_if<Message>(&envelope.message);
            if (envelope.to != to || message == nullptr) return false;
            taken.push_back(std::move(*message));
            return true;
        });
        return taken;
    }
    // The newest of them; throws, which fails the test, if there is none.
    template <class Message>
    Message newest(NodeId to) {
        auto taken = take<Message>(to);
        return taken.at(taken.size() - 1);
    }
    template <class Message>
    [[nodiscard]] std::size_t sent_count(NodeId to) const {
        return static_cast<std::size_t>(std::ranges::count_if(sent, [&](const auto& envelope) {
            return envelope.to == to && std::holds_alternative<Message>(envelope.message);
        }));
    }
    [[nodiscard]] bool noted(Note::Kind kind) const {
        return std::ranges::find(notes, kind, &Note::kind) != notes.end();
    }

    [[nodiscard]] const Raft& raft() const { return *raft_; }
    const Raft* operator->() const { return raft_.get(); }
    [[nodiscard]] NodeId self() const { return options_.self; }
    [[nodiscard]] const Disk& disk() const { return disk_; }

    Instant now;
    std::deque<Write> writes;  // submitted, not completed
    std::vector<RaftEnvelope> sent;
    std::vector<Entry> committed;
    std::vector<ReadGrant> reads;
    std::vector<Note> notes;
    std::vector<NodeId> distrusted;
    std::vector<SnapshotRead> reads_asked;
    std::vector<NodeId> closed;
    std::vector<InstallStep> install;

private:
    void collect() {
        auto decided = raft_->take_decided();
        auto out = raft_->collect(now);
        if (out.write) writes.push_back(std::move(*out.write));
        std::ranges::move(out.send, std::back_inserter(sent));
        std::ranges::move(decided.committed, std::back_inserter(committed));
        std::ranges::move(decided.reads, std::back_inserter(reads));
        std::ranges::move(out.notes, std::back_inserter(notes));
        std::ranges::move(out.distrusted, std::back_inserter(distrusted));
        std::ranges::move(out.read_snapshot, std::back_inserter(reads_asked));
        std::ranges::move(out.close_snapshots, std::back_inserter(closed));
        std::ranges::move(out.install, std::back_inserter(install));
        raft_->check_invariants();
    }

    RaftOptions options_;
    Disk disk_;
    std::unique_ptr<Raft> raft_;
};

inline RaftOptions options_of(NodeId self) {
    RaftOptions options;
    options.self = self;
    options.incarnation = Incarnation{100 + self.raw()};
    options.election_timeout = election_timeout;
    options.heartbeat = heartbeat;
    return options;
}

// --- messages in short forms
inline AppendRequest append(std::uint64_t term, LogId previous, std::vector<Entry> entries = {},
                            std::uint64_t commit = 0) {
    return {Term{term}, previous, LogIndex{commit}, {}, 0, std::move(entries)};
}
inline AppendReply accepts(std::uint64_t term, std::uint64_t match, std::uint64_t read_round = 0) {
    return {Term{term}, read_round, false, LogIndex{match}, {}, {}, {}};
}
inline AppendReply rejects(std::uint64_t term, std::uint64_t previous, LogId hint) {
    return {Term{term}, 0, true, {}, LogIndex{previous}, hint, {}};
}

// Several Raft objects, with a network that loses only what a test cuts off. The clocks run
// together.
class RaftCluster {
public:
    RaftCluster(const Configuration& configuration, RaftOptions options)
        : RaftCluster{configuration, options, {}} {}
    explicit RaftCluster(std::initializer_list<std::uint64_t> ids)
        : RaftCluster{voters(ids), options_of(n1), {}} {}
    // The listed ones start from other disks than that of the bootstrap.
    RaftCluster(const Configuration& configuration, RaftOptions options,
                const std::map<NodeId, RaftState>& disks) {
        for (const auto id : configuration.all()) {
            options.self = id;
            options.incarnation = configuration.find(id)->incarnation;
            const auto disk = disks.find(id);
            const auto founded = disk_with(configuration, {Term{1}, {}}, {});
            nodes_.try_emplace(id, options, disk == disks.end() ? founded : disk->second);
        }
    }

    HandDriven& operator[](NodeId id) { return nodes_.at(id); }
    [[nodiscard]] auto begin() { return nodes_.begin(); }
    [[nodiscard]] auto end() { return nodes_.end(); }

    void pass(Nanoseconds time) {
        for (auto& [id, node] : nodes_)
            node.now = node.now + time;
    }
    // No message reaches it or leaves it.
    void cut(NodeId id) { cut_.insert(id); }
    void heal(NodeId id) { cut_.erase(id); }
    // Its writes wait for complete_write().
    void stall_disk(NodeId id) { stalled_.insert(id); }
    void free_disk(NodeId id) { stalled_.erase(id); }

    // Delivers the messages in transit once; their effects stay in transit. True if there were any.
    bool deliver() {
        std::vector<std::pair<NodeId, RaftEnvelope>> mail;
        for (auto& [id, node] : nodes_) {
            for (auto& envelope : std::exchange(node.sent, {}))
                mail.emplace_back(id, std::move(envelope));
        }
        for (auto& [from, envelope] : mail) {
            if (cut_.contains(from) || cut_.contains(envelope.to)) continue;
            const auto to = nodes_.find(envelope.to);
            if (to != nodes_.end()) to->second.receive(from, std::move(envelope.message));
        }
        return !mail.empty();
    }
    // Delivers messages and completes writes until there are none.
    void settle() {
        for (bool busy = true; busy;) {
            busy = deliver();
            for (auto& [id, node] : nodes_) {
                if (node.writes.empty() || stalled_.contains(id)) continue;
                node.complete_writes();
                busy = true;
            }
        }
    }
    // The leader's heartbeat, and everything that follows.
    void beat(NodeId leader) {
        pass(heartbeat);
        nodes_.at(leader).timer();
        settle();
    }
    // Elects the node after a silence that ends the stickiness to any earlier leader.
    HandDriven& elect(NodeId id) {
        auto& node = nodes_.at(id);
        pass(std::max(2 * election_timeout, node->deadline() - node.now));
        node.timer();
        settle();
        if (!node->is_leader()) throw std::logic_error{"the election failed"};
        return node;
    }
    // Likewise for the node with the newest log; terms may have to be exchanged first.
    HandDriven& elect_anybody() {
        for (int attempt = 0; attempt < 5; ++attempt) {
            pass(3 * election_timeout);
            const auto newest = std::ranges::max_element(
                nodes_, {}, [](const auto& node) { return node.second->log().last(); });
            newest->second.timer();
            settle();
            if (newest->second->is_leader()) return newest->second;
        }
        throw std::logic_error{"nobody was elected"};
    }

private:
    std::map<NodeId, HandDriven> nodes_;
    std::set<NodeId> cut_;
    std::set<NodeId> stalled_;
};

}  // namespace test
}  // namespace mortise::core
