// Messages that a faulty or malicious member may send, with any content that can be encoded.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/command_codec.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/codec/state_sum_codec.hpp"
#include "core/locks/limits.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {

// Draws messages for one node, close to its present state. `Chance` is a core::Prng, or a class
// with the same functions.
template <class Chance>
class Lies {
public:
    explicit Lies(Chance& chance) : prng_{chance} {}

    PeerMessage next(const HandDrivenNode& to) {
        to_ = &to;
        switch (prng_.below(12)) {
            case 0: return MembershipRequest{ChangeId{number()}, goal(), index(), term(), coin()};
            case 1: return membership_reply();
            case 2: return StreamGap{session(), Seq{number()}};
            case 3: return FormationOffer{entry(log_id(1, 1))};
            case 4: return FormationQuestion{number(), number()};
            case 5: return FormationAnswer{number()};
            case 6:
            case 7: return forward();
            default: return raft();
        }
    }
    [[nodiscard]] bool coin() { return prng_.one_in(2); }

private:
    const Raft& node() { return to_->raft(); }

    std::uint64_t number() {
        const std::uint64_t interesting[] = {0, 1, 2, 3, prng_.below(20), prng_.next()};
        return interesting[prng_.below(std::size(interesting))];
    }
    // Mostly a term that makes a difference.
    Term term() {
        const auto own = node().term().raw();
        if (prng_.one_in(100)) return Term{term_end - 1 + prng_.below(2)};
        const std::uint64_t interesting[] = {
            own, own, own, own, own + 1, own + 1, own - 1, 0, own + prng_.below(1'000)};
        return Term{interesting[prng_.below(std::size(interesting))]};
    }
    LogIndex index() {
        const auto last = node().log().last().index.raw();
        const auto commit = node().commit_index().raw();
        const auto base = node().log().base().index.raw();
        const std::uint64_t interesting[] = {0,
                                             1,
                                             base,
                                             base + 1,
                                             commit,
                                             commit + 1,
                                             commit - 1,
                                             last,
                                             last + 1,
                                             last,
                                             last + 9,
                                             prng_.below(last + 4),
                                             log_index_max};
        return LogIndex{std::min(interesting[prng_.below(std::size(interesting))], log_index_max)};
    }
    LogId id() {
        const auto at = index();
        const auto known = node().log().term_at(at);
        return {known && !prng_.one_in(4) ? *known : term(), at};
    }
    SessionId session() {
        const auto& all = to_->core().machine().sessions().all();
        if (all.empty() || prng_.one_in(5)) return SessionId{prng_.below(40)};
        auto one = all.begin();
        std::advance(one, static_cast<std::ptrdiff_t>(prng_.below(all.size())));
        return one->first;
    }
    std::string name() { return "name" + std::to_string(prng_.below(4)); }

    MembershipGoal goal() {
        return {static_cast<MembershipGoal::Kind>(prng_.below(5)), NodeId{prng_.below(6)},
                coin() ? "host" + std::to_string(prng_.below(6)) + ":1" : ""};
    }
    MembershipReply membership_reply() {
        MembershipReply reply;
        reply.id = ChangeId{(std::uint64_t{1} << 40U) + prng_.below(5)};
        reply.state = static_cast<MembershipReply::State>(prng_.below(5));
        reply.why = static_cast<MembershipRefusal>(prng_.below(16));
        reply.configuration = index();
        reply.term = term();
        return reply;
    }

    RequestBody body() {
        const Seq target{1 + prng_.below(12)};
        switch (prng_.below(13)) {
            case 0:
            case 1:
            case 2: {
                Acquire acquire;
                acquire.names.push_back({name(), static_cast<LockMode>(prng_.below(lock_modes))});
                acquire.wait = coin();
                acquire.priority = static_cast<Priority>(prng_.below(priority_max + 1));
                if (prng_.one_in(4)) acquire.terms = {0, 500, 700};
                if (prng_.one_in(8)) acquire.locker = {1 + prng_.below(3), "locker"};
                return acquire;
            }
            case 3: {
                Acquire several;
                several.which = static_cast<Acquire::Which>(prng_.below(2));
                for (auto left = 1 + prng_.below(4); left > 0; --left)
                    several.names.push_back(
                        {name(), static_cast<LockMode>(prng_.below(lock_modes))});
                several.wait = coin();
                return several;
            }
            case 4: return Cancel{target};
            case 5: return Downgrade{target, static_cast<LockMode>(prng_.below(lock_modes))};
            case 6: return Upgrade{target, coin()};
            case 7: return SetValue{target, name(), "value"};
            case 8: return BreakLock{name(), FencingToken{1 + prng_.below(40)}, "why", coin()};
            case 9: {
                Acquire permits;
                permits.names.push_back({name()});
                permits.permits = 1 + static_cast<std::uint32_t>(prng_.below(4));
                permits.limit = 1 + static_cast<std::uint32_t>(prng_.below(3));
                return permits;
            }
            case 10: return Resize{name(), static_cast<std::uint32_t>(prng_.below(5)), number()};
            case 11: return Remove{name()};
            default: return Release{target, coin()};
        }
    }
    Command command() {
        switch (prng_.below(12)) {
            case 0: {
                OpenSession open;
                open.node = NodeId{1 + prng_.below(5)};
                open.generation.incarnation = Incarnation{101 + prng_.below(5)};
                // No later start than the present one, which would correctly end that node's run.
                open.generation.boot_epoch = BootEpoch{1};
                open.nonce = prng_.below(100);
                open.ttl_ms = 1'000;
                open.rho_ppm = 10'000;
                open.former_life_ended = coin();
                if (open.nonce % 4 == 0) open.origin = {"db3", "backup", open.nonce, "10.0.0.7"};
                return open;
            }
            case 1: return Renew{{{some_session(), 1 + prng_.below(30)}}};
            case 2: return Request{some_session(), Seq{1 + prng_.below(12)}, CloseSession{}};
            case 3: return Expire{some_session(), LogIndex{1 + prng_.below(100)}};
            case 4: return Sweep{};
            case 5: return Acknowledge{some_session(), LogIndex{1 + number() / 2}};
            case 6: return EndClosure{ClosureId{1 + prng_.below(20)}};
            case 7: return Clock{1 + prng_.below(clock_ms_max)};
            case 8: return RaiseCeiling{FencingToken{1 + prng_.below(token_ceiling_max)}};
            default: {
                const Seq seq{1 + prng_.below(12)};
                return Request{some_session(), seq, body()};
            }
        }
    }
    SessionId some_session() {
        const auto found = session();
        return found.is_set() ? found : SessionId{1};
    }
    Bytes batch() {
        if (prng_.one_in(4)) {
            std::string rubbish(prng_.below(40), '\0');
            for (auto& byte : rubbish)
                byte = static_cast<char>(prng_.next());
            // A format that no node here knows would stop it (P5, P12).
            if (!rubbish.empty())
                rubbish[0] = static_cast<char>(prng_.below(command_format_newest + 1));
            return Bytes{rubbish};
        }
        BatchBuilder out;
        for (auto left = 1 + prng_.below(6); left > 0; --left)
            out.add(command());
        return out.take(command_format_newest);
    }
    Forward forward() {
        Forward forward;
        if (coin()) forward.batch = batch();
        if (coin()) forward.renewal = Renewal{session(), number()};
        return forward;
    }

    Configuration configuration() {
        auto changed = node().configuration();
        if (coin()) return changed;
        const auto member_of = [&] {
            return Member{NodeId{1 + prng_.below(5)}, Incarnation{101 + prng_.below(5)}, "host:1"};
        };
        switch (prng_.below(6)) {
            case 0: changed = voters({1, 2, 3}); break;
            case 1: changed.cluster.low += 1; break;
            case 2: changed.outgoing = voters({1, 2, 3, 4}).voters; break;
            case 3: changed.learners = {member_of()}; break;
            case 4: changed.voters = {member_of()}; break;
            default:
                if (changed.voters.size() > 1) changed.voters.pop_back();
                break;
        }
        if (!changed.is_formed()) changed.cluster = {7, 9};
        return changed;
    }
    Entry entry(LogId at) {
        switch (prng_.below(6)) {
            case 0: return make_entry(at, EntryKind::noop, {});
            case 1: return configures(at, configuration());
            case 2:
                return make_entry(at, EntryKind::state_sum,
                                  encode_state_sum({LogIndex{number()}, number()}));
            default: {
                auto made = make_entry(at, EntryKind::commands, batch());
                if (prng_.one_in(30)) made.checksum ^= 1U;
                return made;
            }
        }
    }
    std::vector<Entry> entries_after(LogId previous, Term of) {
        std::vector<Entry> entries;
        const auto& log = node().log();
        for (auto left = prng_.below(5); left > 0; --left) {
            const auto at = previous.index.next();
            if (!is_in_bounds(at)) break;
            const bool is_real = log.term_at(at).has_value() && at > log.base().index;
            if (is_real && !prng_.one_in(4)) {
                entries.push_back(log.at(at));
            } else {
                const auto newest = std::max(previous.term, coin() ? of : previous.term);
                entries.push_back(entry({std::max(newest, Term{1}), at}));
            }
            previous = entries.back().id;
        }
        return entries;
    }

    AppendRequest append_request() {
        AppendRequest m;
        m.term = term();
        m.previous = id();
        m.commit = index();
        m.replicated = index();
        m.read_round = number();
        m.entries = entries_after(m.previous, m.term);
        m.quiet = coin();
        if (coin()) m.transfer_target = NodeId{prng_.below(6)};
        return m;
    }
    AppendReply append_reply() {
        AppendReply m{term(), number(), coin(), index(), index(), id(), {}};
        m.run_out.push_back({session(), index()});
        m.closures_run_out.push_back(ClosureId{prng_.below(9)});
        return m;
    }
    // Rows of a machine that was valid somewhere, or rubbish.
    std::vector<Row> rows() {
        LockMachine machine;
        std::vector<Command> commands;
        for (auto left = prng_.below(20); left > 0; --left)
            commands.push_back(command());
        Outcomes outcomes;
        machine.apply(LogIndex{1 + prng_.below(4)}, commands, outcomes);
        auto rows = machine.take_changed_rows();
        std::erase_if(rows, [](const Row& row) { return !row.value; });
        if (!rows.empty() && prng_.one_in(4)) {
            auto& value = *rows[prng_.below(rows.size())].value;
            if (!value.empty()) value[prng_.below(value.size())] ^= 1;
        }
        if (rows.size() > 1 && prng_.one_in(8)) rows.erase(rows.begin());
        return rows;
    }
    SnapshotChunk chunk() {
        SnapshotChunk m;
        m.term = term();
        m.last = id();
        m.configuration = configuration();
        m.position = prng_.one_in(4) ? number() : 0;
        m.rows = rows();
        m.done = !prng_.one_in(4);
        m.cut = prng_.one_in(8);
        m.checksum = prng_.one_in(20) ? number() : sum_with(0, m);
        return m;
    }
    RaftMessage raft() {
        switch (prng_.below(17)) {
            case 0: return PreVoteRequest{term(), number(), id()};
            case 1: {
                PreVoteReply reply{term(), number(), coin()};
                if (coin()) reply.voted_for = NodeId{prng_.below(6)};
                reply.configuration = index();
                return reply;
            }
            case 2: return VoteRequest{term(), number(), id(), coin()};
            case 3: return VoteReply{term(), number(), coin()};
            case 4: return TimeoutNow{term(), coin() ? node().log().last() : id()};
            case 5: return ReadRequest{term(), ReadId{number()}};
            case 6: return ReadReply{term(), ReadId{number()}, index()};
            case 7:
            case 8: return chunk();
            case 9: return SnapshotReply{term(), id(), number(), coin(), coin()};
            case 10: return NotAMember{term(), id()};
            case 11:
            case 12: return append_reply();
            default: return append_request();
        }
    }

    Chance& prng_;
    const HandDrivenNode* to_ = nullptr;
};

}  // namespace mortise::core::test
