// Whole nodes that a test drives by hand: raft_fixture.hpp with bootstrap and generations.
#pragma once

#include <functional>

#include "core/codec/command_codec.hpp"
#include "core/node/node_core.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {

// As configured: without incarnations, which are not known yet.
std::vector<Member> configured(std::initializer_list<std::uint64_t> ids);

NodeOptions node_options(std::uint64_t id, std::initializer_list<std::uint64_t> voters);

// One node, its disk and its clock. Its messages stay in `sent` until a test takes them.
class HandDrivenNode {
public:
    HandDrivenNode(std::uint64_t id, std::initializer_list<std::uint64_t> voters);
    HandDrivenNode(NodeOptions options, const RaftState& state);
    HandDrivenNode(NodeOptions options, NodeState state);
    HandDrivenNode(HandDrivenNode&&) noexcept;
    HandDrivenNode& operator=(HandDrivenNode&&) noexcept;
    ~HandDrivenNode();

    void step(Event event);
    void call(Call one);
    // A call of the program that changes the membership, with that patience.
    void change(std::uint64_t tag, MembershipGoal goal, Nanoseconds patience);
    // A call of the program that waits without limit.
    void acquire(std::uint64_t tag, std::string name);
    // The hold that was granted to that call; requires that it was.
    [[nodiscard]] OperationId granted(std::uint64_t tag) const;
    [[nodiscard]] std::optional<CallError> error_of(std::uint64_t tag) const;
    [[nodiscard]] std::optional<MembershipRefusal> refusal_of(std::uint64_t tag) const;
    void inspect(std::uint64_t tag, std::string name);
    template <class Result>
    [[nodiscard]] bool was_answered(std::uint64_t tag) const {
        return std::ranges::any_of(answers, [&](const CallAnswer& answer) {
            return answer.tag == CallTag{tag} && std::holds_alternative<Result>(answer.result);
        });
    }
    void timer();
    void timer_when_due();
    void receive(NodeId from, PeerMessage message);
    // All voters that were asked are still empty, and agree to the bootstrap.
    void all_agree();
    void complete_write();
    void complete_writes();
    // The next run on the same directory.
    void crash_and_restart();
    // The machine loses power, and with it the entries that were not synced.
    void lose_power_and_restart();
    // The next run is configured with another durability.
    void change_durability(Durability durability);
    // The next run is of a version that reads formats of commands up to that one.
    void change_version(std::uint8_t command_format);
    // Starts on an earlier image of its directory, with that boot epoch.
    void roll_back(Disk image, BootEpoch epoch, std::uint64_t life);
    // Starts on another directory with the same id.
    void wipe_and_restart();
    void configure(std::initializer_list<std::uint64_t> voters);

    template <class Message>
    std::vector<Message> take(NodeId to) {
        std::vector<Message> taken;
        std::erase_if(sent, [&](Envelope& envelope) {
            auto* message = find<Message>(envelope.message);
            if (envelope.to != to || message == nullptr) return false;
            taken.push_back(std::move(*message));
            return true;
        });
        return taken;
    }
    template <class Message>
    Message newest(NodeId to) {
        auto taken = take<Message>(to);
        return taken.at(taken.size() - 1);
    }
    template <class Message>
    [[nodiscard]] std::size_t sent_to(NodeId to) {
        return static_cast<std::size_t>(std::ranges::count_if(sent, [&](Envelope& envelope) {
            return envelope.to == to && find<Message>(envelope.message) != nullptr;
        }));
    }
    [[nodiscard]] bool noted(Note::Kind kind) const;
    [[nodiscard]] bool is_formed() const { return raft().configuration().is_formed(); }

    [[nodiscard]] const NodeCore& core() const { return *core_; }
    [[nodiscard]] const Raft& raft() const { return core_->raft(); }
    [[nodiscard]] const Disk& disk() const { return disk_; }
    [[nodiscard]] Hello hello() const { return core_->hello(); }

    Instant now = start;
    std::uint64_t wall_ms = 0;  // by its wall clock, at the instant zero; zero: it has none
    std::deque<Write> writes;
    std::vector<Envelope> sent;
    std::vector<Applied> applied;
    std::vector<CallAnswer> answers;
    std::vector<Note> notes;
    std::vector<Contended> contended;
    std::vector<Member> peers;  // as last requested
    std::vector<StateDelta> deltas;
    std::vector<InstallStep> installs;
    SavedCountdowns countdowns;  // as last saved
    LogIndex purged_to;
    std::vector<NodeId> disconnected;
    std::vector<std::pair<ClientId, ClientNotice>> notices;
    std::vector<ClientId> unfit_clients;
    std::vector<ClientId> replaced_clients;
    bool checks_grants = true;  // false if another member lies
    bool superseded = false;
    bool copied = false;

private:
    template <class Message>
    static Message* find(PeerMessage& message) {
        if constexpr (!std::is_constructible_v<RaftMessage, Message>) {
            return std::get_if<Message>(&message);
        } else {
            auto* raft = std::get_if<RaftMessage>(&message);
            return raft == nullptr ? nullptr : std::get_if<Message>(raft);
        }
    }
    void start_again();
    [[nodiscard]] Now clocks() const;

    NodeOptions options_;
    Disk disk_;
    std::unique_ptr<NodeCore> core_;
};

// The hello of a peer with the default incarnation while it is empty.
Hello empty_hello(std::uint64_t id, std::initializer_list<std::uint64_t> voters);

// --- members that the test plays: they send only what it sends in their name

// The hello of such a member to members of that cluster.
Hello played_hello(NodeId id, Hello of_another);
// Opens its session, which is never renewed.
OpenSession opening_of(NodeId id, std::uint32_t ttl_ms);
// A request of such a member to a leader.
Forward forward_of(Bytes batch, std::optional<Renewal> renewal = {});
// The next request of a session, when all earlier ones are applied.
Request next_request(const HandDrivenNode& leader, SessionId session, RequestBody body);
// A session that such a member opened, and whose first request is applied.
template <class Settle>
SessionId played_session(HandDrivenNode& leader, NodeId id, Settle settle) {
    const auto say = [&](const Command& command) {
        BatchBuilder batch;
        batch.add(command);
        leader.receive(id, forward_of(batch.take()));
        settle();
    };
    auto opening = opening_of(id, 60'000);
    opening.nonce += 1'000;
    say(opening);
    const auto& all = leader.core().machine().sessions().all();
    const auto opened = std::ranges::find_if(
        all, [&](const auto& each) { return each.second.opened.nonce == opening.nonce; });
    if (opened == all.end()) throw std::runtime_error{"the session was not opened"};
    const auto session = opened->first;
    say(Request{session, Seq{1}, Declined{}});
    return session;
}

// Several nodes. A message arrives if there is a connection; the clocks run together.
class NodeCluster {
public:
    explicit NodeCluster(std::initializer_list<std::uint64_t> ids);
    NodeCluster(std::initializer_list<std::uint64_t> ids,
                const std::function<void(NodeOptions&)>& change);
    ~NodeCluster();

    HandDrivenNode& operator[](NodeId id);
    [[nodiscard]] auto begin() { return nodes_.begin(); }
    [[nodiscard]] auto end() { return nodes_.end(); }
    void add(std::uint64_t id, std::initializer_list<std::uint64_t> voters);
    void add(NodeOptions options);

    void connect(NodeId a, NodeId b);
    void disconnect(NodeId a, NodeId b);
    void connect_all();
    // Its connections end with the process: the others notice that, it does not.
    void crash_and_restart(NodeId id);
    void wipe_and_restart(NodeId id);
    void lose_power_and_restart(NodeId id);
    void change_durability(NodeId id, Durability durability);

    void change_version(NodeId id, std::uint8_t command_format);
    void roll_back(NodeId id, Disk image, std::uint64_t epoch, std::uint64_t life = 0);

    // Adds a learner that the test plays. Requires a leader.
    void add_played(NodeId id);

    void pass(Nanoseconds time);
    void deliver();
    void settle();
    // Runs in real time: timers fire when due, and messages take no time.
    void run_for(Nanoseconds time);
    // Null if no node leads.
    HandDrivenNode* leader();

private:
    void lose_links(NodeId id);

    std::map<NodeId, HandDrivenNode> nodes_;
    std::set<std::pair<NodeId, NodeId>> links_;
    std::vector<Hello> played_;
};

}  // namespace mortise::core::test
