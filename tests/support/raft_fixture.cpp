#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {

RaftState disk_with(const Configuration& configuration, HardState hard_state,
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

void Disk::carry_out(const Write& write) {
    if (write.reset) {
        base = write.reset->id;
        configuration = write.reset->configuration;
        applied = base.index;
        entries.clear();
    }
    if (write.hard_state) hard_state = *write.hard_state;
    if (write.truncate_from) {
        std::erase_if(entries,
                      [&](const Entry& entry) { return entry.id.index >= *write.truncate_from; });
    }
    entries.insert(entries.end(), write.append.begin(), write.append.end());
    if (write.unsynced) unsynced = *write.unsynced;
    if (write.synced) synced = last();
    synced = std::min(synced, last());
}

void Disk::lose_power() {
    std::erase_if(entries, [&](const Entry& entry) { return entry.id.index > synced; });
    if (unsynced == Unsynced::entries) unsynced = Unsynced::forgotten;
}

RaftState Disk::state() const {
    return {hard_state, base, entries, applied, configuration, unsynced};
}

// What is on the disk was there before.
HandDriven::HandDriven(RaftOptions options, const RaftState& state, Instant at)
    : now{at},
      options_{options},
      disk_{state.hard_state, state.base, state.entries, state.applied, state.configuration,
            state.unsynced,   {}},
      raft_{std::make_unique<Raft>(options, state, Prng{options.self.raw()}, at)} {
    disk_.synced = disk_.last();
}

HandDriven::HandDriven(HandDriven&&) noexcept = default;
HandDriven& HandDriven::operator=(HandDriven&&) noexcept = default;
HandDriven::~HandDriven() = default;

void HandDriven::receive(NodeId from, RaftMessage message) {
    raft_->begin_event(now);
    if (!raft_->refuses(from, message)) raft_->take_message(from, std::move(message), now);
    collect();
}

void HandDriven::timer() {
    raft_->on_timer(now);
    collect();
}

void HandDriven::timer_in(Nanoseconds delay) {
    now = now + delay;
    timer();
}

void HandDriven::timer_when_due() {
    now = std::max(now, raft_->deadline());
    timer();
}

void HandDriven::complete_write() {
    disk_.carry_out(writes.at(0));
    const auto id = writes.front().id;
    writes.pop_front();
    raft_->on_write_done(id, now);
    collect();
}

void HandDriven::complete_writes() {
    while (!writes.empty())
        complete_write();
}

void HandDriven::peer_down(NodeId peer) {
    raft_->on_peer_down(peer, now);
    collect();
}

void HandDriven::peer_restarted(NodeId peer) {
    raft_->on_peer_restarted(peer);
    collect();
}

std::optional<LogIndex> HandDriven::propose(std::string text) {
    const auto index = raft_->propose(EntryKind::commands, Bytes{std::move(text)}, now);
    collect();
    return index;
}

std::optional<LogIndex> HandDriven::configure(const Configuration& configuration) {
    const auto index =
        raft_->propose(EntryKind::configuration, encode_configuration(configuration), now);
    collect();
    return index;
}

bool HandDriven::read(std::uint64_t id) {
    const bool asked = raft_->read(ReadId{id}, now);
    collect();
    return asked;
}

void HandDriven::reply_early_in(Nanoseconds delay) {
    now = now + delay;
    raft_->reply_early(now);
    collect();
}

void HandDriven::read_many(std::uint64_t from, std::uint64_t to) {
    for (auto id = from; id < to; ++id)
        raft_->read(ReadId{id}, now);
    collect();
}

bool HandDriven::transfer_to(NodeId target) {
    const bool started = raft_->transfer_to(target, now);
    collect();
    return started;
}

ChangeResult HandDriven::add_learner(const Member& member) {
    auto result = raft_->add_learner(member, now);
    collect();
    return result;
}

ChangeResult HandDriven::promote(NodeId id) {
    auto result = raft_->promote(id, now);
    collect();
    return result;
}

ChangeResult HandDriven::remove(NodeId id) {
    auto result = raft_->remove(id, now);
    collect();
    return result;
}

void HandDriven::give_rows(LogId last, const Configuration& configuration, std::vector<Row> rows,
                           bool done) {
    auto asked = std::move(reads_asked.at(0));
    reads_asked.erase(reads_asked.begin());
    raft_->on_snapshot_rows({asked.peer, last, configuration, std::move(asked.after),
                             std::move(rows), done, asked.transfer},
                            now);
    collect();
}

bool HandDriven::state_installed(LogId last) {
    const bool waited = raft_->on_state_installed(last, now);
    collect();
    return waited;
}

void HandDriven::set_room_for_state(bool has_room) {
    raft_->set_room_for_state(has_room);
    collect();
}

void HandDriven::adopt_formation(const Entry& founding) {
    raft_->adopt_formation(founding, now);
    collect();
}

void HandDriven::purge_to(std::uint64_t index) {
    raft_->purge_to(LogIndex{index});
    collect();
}

void HandDriven::crash_and_restart() {
    writes.clear();
    sent.clear();
    notes.clear();
    raft_ = std::make_unique<Raft>(options_, disk_.state(), Prng{options_.self.raw() + 50}, now);
}

void HandDriven::lose_power_and_restart() {
    disk_.lose_power();
    crash_and_restart();
}

bool HandDriven::set_durability(Durability durability) {
    const bool is_begun = std::holds_alternative<LogIndex>(raft_->set_durability(durability, now));
    collect();
    return is_begun;
}

void HandDriven::recover_at(std::uint64_t index) {
    raft_->recover_at(LogIndex{index});
    collect();
}

bool HandDriven::noted(Note::Kind kind) const {
    return std::ranges::find(notes, kind, &Note::kind) != notes.end();
}

const Raft* HandDriven::operator->() const {
    return raft_.get();
}
void HandDriven::collect() {
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

RaftOptions options_of(NodeId self) {
    RaftOptions options;
    options.self = self;
    options.incarnation = Incarnation{100 + self.raw()};
    options.election_timeout = election_timeout;
    options.heartbeat = heartbeat;
    return options;
}

RaftCluster::RaftCluster(const Configuration& configuration, RaftOptions options)
    : RaftCluster{configuration, options, {}} {}

RaftCluster::RaftCluster(std::initializer_list<std::uint64_t> ids)
    : RaftCluster{voters(ids), options_of(n1), {}} {}

RaftCluster::RaftCluster(const Configuration& configuration, RaftOptions options,
                         const std::map<NodeId, RaftState>& disks) {
    for (const auto id : configuration.all()) {
        options.self = id;
        options.incarnation = configuration.find(id)->incarnation;
        const auto disk = disks.find(id);
        const auto founded = disk_with(configuration, {Term{1}, {}}, {});
        nodes_.try_emplace(id, options, disk == disks.end() ? founded : disk->second);
    }
}

RaftCluster::~RaftCluster() = default;

HandDriven& RaftCluster::operator[](NodeId id) {
    return nodes_.at(id);
}
void RaftCluster::pass(Nanoseconds time) {
    for (auto& [id, node] : nodes_)
        node.now = node.now + time;
}

void RaftCluster::cut(NodeId id) {
    cut_.insert(id);
}
void RaftCluster::heal(NodeId id) {
    cut_.erase(id);
}
void RaftCluster::stall_disk(NodeId id) {
    stalled_.insert(id);
}
void RaftCluster::free_disk(NodeId id) {
    stalled_.erase(id);
}
bool RaftCluster::deliver() {
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

void RaftCluster::settle() {
    for (bool busy = true; busy;) {
        busy = deliver();
        for (auto& [id, node] : nodes_) {
            if (node.writes.empty() || stalled_.contains(id)) continue;
            node.complete_writes();
            busy = true;
        }
    }
}

void RaftCluster::beat(NodeId leader) {
    pass(heartbeat);
    nodes_.at(leader).timer();
    settle();
}

HandDriven& RaftCluster::elect(NodeId id) {
    auto& node = nodes_.at(id);
    pass(std::max(2 * election_timeout, node->deadline() - node.now));
    node.timer();
    settle();
    if (!node->is_leader()) throw std::logic_error{"the election failed"};
    return node;
}

HandDriven& RaftCluster::elect_anybody() {
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
}  // namespace mortise::core::test
