#include "core/node/peer_memory.hpp"

#include <algorithm>
#include <utility>

#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

// These messages show a term that may not be on disk yet: a crash may lose it.
bool shows_durable_term(const RaftMessage& message) {
    return !std::holds_alternative<PreVoteRequest>(message) &&
           !std::holds_alternative<ReadRequest>(message);
}

// The message says something about its sender's log that is impossible if the log still has
// `entry`.
bool lacks(const RaftMessage& message, LogId entry) {
    return std::visit(Overloaded{
                          [&](const PreVoteRequest& m) { return m.last < entry; },
                          [&](const VoteRequest& m) { return m.last < entry; },
                          [&](const AppendReply& m) {
                              if (!m.rejected || !m.previous.is_set()) return false;
                              // The request concerned entries that every log has up to there, or
                              // the newest entry that may be in the leader's log is older.
                              return m.previous <= entry.index || m.hint < entry;
                          },
                          [](const auto&) { return false; },
                      },
                      message);
}

// The message shows that its sender has `entry`.
bool has(const RaftMessage& message, LogId entry) {
    return std::visit(Overloaded{
                          [&](const PreVoteRequest& m) { return m.last >= entry; },
                          [&](const VoteRequest& m) { return m.last >= entry; },
                          [&](const AppendReply& m) {
                              return m.rejected ? m.previous > entry.index && m.hint >= entry
                                                : m.match >= entry.index;
                          },
                          [](const auto&) { return false; },
                      },
                      message);
}

}  // namespace

void PeerMemory::Shown::include(const Shown& other) {
    said = std::max(said, other.said);
    acknowledged = std::max(acknowledged, other.acknowledged);
    attested = std::max(attested, other.attested);
}

PeerMemory::Verdict PeerMemory::hear(const Hello& hello, const Generation& newest_session) {
    const auto& present = hello.generation;
    auto& known = known_[present.incarnation];
    // Also one that was heard before: the session may be newer.
    const bool outlived =
        present.is_outlived_by(known.generation) || present.is_earlier_than(newest_session);
    if (outlived) return Verdict::outlived;
    if (present == known.generation) return Verdict::same_life;
    known.generation = present;
    known.command_format = hello.command_format;
    known.before.include(std::exchange(known.now, {}));
    known.lacking_since.reset();
    known.told_since.reset();
    known.newer_from.reset();
    // The directory was restored from a time before it learned of the cluster: it would bootstrap
    // and vote again (S47).
    const bool lost_all = hello.is_empty() && known.before.acknowledged > LogId{};
    known.forgot = known.forgot || lost_all;
    // What it acknowledged may have been lost with the power of its machine. It knows that, and
    // gives no vote before it has recovered (docs/decisions/0095). Terms are never lost.
    if (hello.is_forgetful) {
        known.before.acknowledged = known.before.attested = {};
    }
    return Verdict::new_life;
}

PeerMemory::Belief PeerMemory::believe(Incarnation from, const RaftMessage& message, Instant now) {
    auto& known = known_[from];
    const auto belief = known.forgot ? Belief::forgotten : judge(known, message, now);
    known.forgot = belief == Belief::forgotten;
    if (known.forgot && !known.told_since) known.told_since = now;
    if (belief == Belief::sound && shows_durable_term(message))
        known.now.said = std::max(known.now.said, term_of(message));
    return belief;
}

PeerMemory::Belief PeerMemory::judge(Known& known, const RaftMessage& message, Instant now) const {
    const auto& before = known.before;
    if (term_of(message) < before.said || lacks(message, before.acknowledged))
        return Belief::forgotten;
    if (has(message, before.attested)) known.lacking_since.reset();
    if (lacks(message, before.attested)) {
        if (!known.lacking_since) known.lacking_since = now;
        if (now - *known.lacking_since > patience_) return Belief::forgotten;
    }
    return known.lacking_since ? Belief::doubtful : Belief::sound;
}

bool PeerMemory::counts(Incarnation incarnation, Term said) {
    auto& known = known_[incarnation];
    known.now.said = std::max(known.now.said, said);
    known.before = {};
    known.lacking_since.reset();
    return std::exchange(known.forgot, false);
}

// The run had begun when its session was opened, and that entry is applied here.
std::optional<LogIndex> PeerMemory::newer_than_run(Incarnation incarnation,
                                                   const Generation& newest_session,
                                                   LogIndex applied) {
    const auto found = known_.find(incarnation);
    if (found == known_.end() || found->second.before == Shown{}) return std::nullopt;
    auto& known = found->second;
    if (!known.newer_from && newest_session.is_same_start(known.generation))
        known.newer_from = applied;
    return known.newer_from;
}

void PeerMemory::acknowledged(Incarnation by, LogId committed) {
    auto& known = known_[by].now;
    known.acknowledged = std::max(known.acknowledged, committed);
}

void PeerMemory::attested(Incarnation of, LogId committed) {
    auto& known = known_[of].now;
    known.attested = std::max(known.attested, committed);
}

void PeerMemory::forget_attested_but(const Configuration& members) {
    for (auto& [incarnation, known] : known_) {
        if (!members.has(incarnation)) known.now.attested = known.before.attested = {};
    }
}

std::optional<std::uint8_t> PeerMemory::command_format(Incarnation incarnation) const {
    const auto found = known_.find(incarnation);
    // It is known only from statements of other nodes, and has not said hello.
    if (found == known_.end() || !found->second.generation.is_set()) return std::nullopt;
    return found->second.command_format;
}

bool PeerMemory::has_forgotten(Incarnation incarnation) const {
    const auto found = known_.find(incarnation);
    return found != known_.end() && found->second.forgot;
}

// A member that has it from a leader speaks after the patience.
bool PeerMemory::is_only_witness(Incarnation incarnation, Instant now) const {
    const auto found = known_.find(incarnation);
    if (found == known_.end() || !found->second.told_since) return false;
    return now > *found->second.told_since + 2 * patience_;
}

}  // namespace mortise::core
