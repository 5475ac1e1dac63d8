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
RaftState disk_with(const Configuration& configuration, HardState hard_state,
                    const std::vector<std::uint64_t>& terms);

// The disk after a crash: the effects of the completed writes.
struct Disk {
    HardState hard_state;
    LogId base;
    std::vector<Entry> entries;
    LogIndex applied;
    Configuration configuration;
    Unsynced unsynced = Unsynced::nothing;
    LogIndex synced{};  // the last entry that a loss of power leaves

    void carry_out(const Write& write);
    // Everything after the synced entries is gone.
    void lose_power();
    [[nodiscard]] LogIndex last() const {
        return entries.empty() ? base.index : entries.back().id.index;
    }
    [[nodiscard]] RaftState state() const;
};

// One Raft object, its disk and its clock. Its messages stay in `sent` until a test takes them.
class HandDriven {
public:
    HandDriven(RaftOptions options, const RaftState& state, Instant at = start);
    HandDriven(HandDriven&&) noexcept;
    HandDriven& operator=(HandDriven&&) noexcept;
    ~HandDriven();

    // --- events, each followed by its collect()
    void receive(NodeId from, RaftMessage message);
    void timer();
    void timer_in(Nanoseconds delay);
    // Moves its clock to its deadline.
    void timer_when_due();
    void complete_write();
    void complete_writes();
    void peer_down(NodeId peer);
    void peer_restarted(NodeId peer);
    std::optional<LogIndex> propose(std::string text = "x");
    std::optional<LogIndex> configure(const Configuration& configuration);
    bool read(std::uint64_t id);
    void reply_early_in(Nanoseconds delay);
    // Several reads in one step.
    void read_many(std::uint64_t from, std::uint64_t to);
    bool transfer_to(NodeId target);
    ChangeResult add_learner(const Member& member);
    ChangeResult promote(NodeId id);
    ChangeResult remove(NodeId id);
    // The view's answer to the oldest request for rows.
    void give_rows(LogId last, const Configuration& configuration, std::vector<Row> rows,
                   bool done);
    bool state_installed(LogId last);
    void set_room(bool has_room) { raft_->set_room(has_room); }
    void set_room_for_state(bool has_room);
    void adopt_formation(const Entry& founding);
    void purge_to(std::uint64_t index);
    // Incomplete writes are lost, and so are messages that were not taken.
    void crash_and_restart();
    void lose_power_and_restart();
    bool set_durability(Durability durability);
    void recover_at(std::uint64_t index);
    void sync() { disk_.synced = disk_.last(); }
    void doubt(bool is_doubted) { raft_->set_doubted(is_doubted, now); }

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
    [[nodiscard]] bool noted(Note::Kind kind) const;

    [[nodiscard]] const Raft& raft() const { return *raft_; }
    const Raft* operator->() const;
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
    void collect();

    RaftOptions options_;
    Disk disk_;
    std::unique_ptr<Raft> raft_;
};

RaftOptions options_of(NodeId self);

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
    RaftCluster(const Configuration& configuration, RaftOptions options);
    explicit RaftCluster(std::initializer_list<std::uint64_t> ids);
    // The listed ones start from other disks than that of the bootstrap.
    RaftCluster(const Configuration& configuration, RaftOptions options,
                const std::map<NodeId, RaftState>& disks);
    ~RaftCluster();

    HandDriven& operator[](NodeId id);
    [[nodiscard]] auto begin() { return nodes_.begin(); }
    [[nodiscard]] auto end() { return nodes_.end(); }

    void pass(Nanoseconds time);
    // No message reaches it or leaves it.
    void cut(NodeId id);
    void heal(NodeId id);
    // Its writes wait for complete_write().
    void stall_disk(NodeId id);
    void free_disk(NodeId id);

    // Delivers the messages in transit once; their effects stay in transit. True if there were any.
    bool deliver();
    // Delivers messages and completes writes until there are none.
    void settle();
    // The leader's heartbeat, and everything that follows.
    void beat(NodeId leader);
    // Elects the node after a silence that ends the stickiness to any earlier leader.
    HandDriven& elect(NodeId id);
    // Likewise for the node with the newest log; terms may have to be exchanged first.
    HandDriven& elect_anybody();

private:
    std::map<NodeId, HandDriven> nodes_;
    std::set<NodeId> cut_;
    std::set<NodeId> stalled_;
};

}  // namespace test
}  // namespace mortise::core
