#include "core/node/bootstrap.hpp"

#include <algorithm>

#include "core/codec/configuration_codec.hpp"

namespace mortise::core {

// Before it is on disk a crash could remove it, and another cluster could be formed.
bool Bootstrap::is_formation_durable() const {
    return raft_.durable_index() >= LogIndex{1} || raft_.log().base().index.is_set();
}

Hello Bootstrap::hello() const {
    Hello hello{options_.self, options_.generation, {}, {}, options_.command_format};
    hello.access = options_.access;
    hello.cluster_name = options_.cluster_name;
    hello.durability = options_.durability;
    hello.is_forgetful = raft_.is_forgetful();
    hello.timing = {options_.election_timeout, options_.heartbeat,
                    std::chrono::milliseconds{options_.session_ttl_ms}};
    if (is_formation_durable()) {
        hello.cluster = raft_.configuration().cluster;
        if (const auto* self = raft_.configuration().find(options_.self))
            hello.address = self->address;
    } else if (former_cluster_.is_set()) {
        hello.cluster = former_cluster_;
    } else if (is_formed()) {
        return hello;  // in between: it agrees to no other bootstrap, so it names no voters
    }
    for (const auto& voter : options_.voters)
        hello.voters.push_back(voter.id);
    return hello;
}

// It joins the cluster that adds it; or, if it lost its data, the one it belonged to.
bool Bootstrap::may_join(std::optional<ClusterId> cluster) const {
    return !former_cluster_.is_set() || cluster.value_or(former_cluster_) == former_cluster_;
}

// --- the node that bootstraps -------------------------------------------------------------------

// A snapshot that was received completely is not in force yet, but its cluster already counts on
// it.
bool Bootstrap::may_be_founded() const {
    const bool is_empty = raft_.log().last() == LogId{};
    return !is_formed() && is_empty && !former_cluster_.is_set() && !raft_.is_installing();
}

std::optional<Entry> Bootstrap::form_if_unanimous(Prng& prng, Instant now, Outbox& send) {
    if (!may_be_founded()) {
        founding_ = {};
        waits_until_ = Instant::never();
        return std::nullopt;
    }
    if (is_held_back(now)) return std::nullopt;
    auto configuration = unanimous_by_hello();
    if (configuration) {
        ask_founders(*configuration, prng, now, send);
    } else {
        founding_ = {};
    }
    const bool agreed = founding_.agreed.size() == founding_.asked.size();
    if (!configuration || !agreed) return std::nullopt;
    founding_ = {};
    configuration->cluster = {prng.next(), prng.next() | 1U};
    return founding_entry(*configuration);
}

// A sole voter first waits for a member to call. Once one has, it joins and never bootstraps.
bool Bootstrap::is_held_back(Instant now) {
    if (options_.voters.size() != 1) return false;
    if (!alone_from_) alone_from_ = now + options_.founding_pause;
    const bool waits = now < *alone_from_ && !has_met_member_;
    waits_until_ = waits ? *alone_from_ : Instant::never();
    return waits || has_met_member_;
}

// Returns the configuration that this node may bootstrap, if the hellos of all are right.
std::optional<Configuration> Bootstrap::unanimous_by_hello() const {
    Configuration configuration;
    std::size_t heard = 0;
    const auto own = hello();
    for (auto voter : options_.voters) {
        const auto* found = peers_.find(voter.id);
        const bool is_self = voter.id == options_.self;
        if (!peers_.is_voters_certificate(voter.id)) continue;
        const bool agrees =
            is_self || (found != nullptr && found->is_empty() && found->voters == own.voters);
        if (agrees) ++heard;
        if (agrees && configuration.voters.empty() && !is_self) return {};  // a lower id bootstraps
        voter.incarnation = is_self  ? options_.generation.incarnation
                            : agrees ? found->generation.incarnation
                                     : Incarnation{};
        if (agrees && voter.address.empty() && !is_self) voter.address = found->address;
        configuration.voters.push_back(voter);
    }
    if (heard < own.voters.size() || configuration.voters.empty()) return {};
    return configuration;
}

// A voter that comes with another hello is asked in another round, together with all others.
void Bootstrap::ask_founders(const Configuration& configuration, Prng& prng, Instant now,
                             Outbox& send) {
    std::map<NodeId, Hello> present;
    for (const auto& voter : configuration.voters)
        if (voter.id != options_.self) present.emplace(voter.id, peers_.at(voter.id));
    if (present != founding_.asked) founding_ = {prng.next(), std::move(present), {}, now};
    if (now < founding_.ask_at) return;
    founding_.ask_at = now + options_.heartbeat;
    for (const auto& [id, hello] : founding_.asked) {
        if (founding_.agreed.contains(id)) continue;
        send.push_back({id, FormationQuestion{founding_.round, hello.generation.life}});
    }
}

// An answer to an earlier round may still arrive.
void Bootstrap::take(NodeId from, const FormationAnswer& answer) {
    if (answer.round == founding_.round && founding_.asked.contains(from))
        founding_.agreed.insert(from);
}

void Bootstrap::expects_offer(NodeId peer, Outbox& send) {
    unfounded_.insert(peer);
    offer(peer, send);
}

// The offer is repeated as long as a voter may not have received the entry and there is no leader:
// without this voter there may be no majority. A leader sends the log to every member that it
// reaches. A member that it does not reach gets the offer when the leader is lost, since its vote
// is needed only then. Without this limit the followers of a leader would repeat the offer for
// ever, because they exchange no messages that would show that they are members.
void Bootstrap::offer_to_all(Outbox& send) const {
    if (raft_.leader()) return;
    for (const auto peer : unfounded_)
        offer(peer, send);
}

// The log may have purged the entry; the configuration has its content.
void Bootstrap::offer(NodeId to, Outbox& send) const {
    const auto* member = raft_.configuration().find(to);
    if (!is_formed() || member == nullptr || !is_formation_durable()) return;
    const bool was_wiped = peers_.at(to).generation.incarnation != member->incarnation;
    if (was_wiped) return;  // it is nobody's voter
    if (raft_.configuration().founding().has(to, member->incarnation))
        send.push_back({to, FormationOffer{founding_entry(raft_.configuration())}});
}

// --- the others ---------------------------------------------------------------------------------

bool Bootstrap::agrees(NodeId from, const FormationQuestion& question) const {
    const auto own = hello();
    return own.is_empty() && may_be_founded() && question.life == options_.generation.life &&
           std::ranges::find(own.voters, from) != own.voters.end();
}

// An offer counts only from a node that it names, with its present incarnation, or from one that
// belongs to that cluster by its own hello. Otherwise an offer of a run whose disk is gone could
// form a cluster beside the one that its new run may be forming.
bool Bootstrap::accepts(NodeId from, const FormationOffer& offer) const {
    const auto configuration = decode_configuration(offer.founding.payload);
    const bool valid = offer.founding.id == LogId{Term{1}, LogIndex{1}} && configuration &&
                       offer.founding.kind == EntryKind::configuration && is_intact(offer.founding);
    const auto* self = valid ? configuration->find(options_.self) : nullptr;
    const bool names_us = self != nullptr && self->incarnation == options_.generation.incarnation;
    const auto* sender = valid ? configuration->find(from) : nullptr;
    const auto* connected = peers_.find(from);
    const bool names_sender = sender != nullptr && connected != nullptr &&
                              connected->generation.incarnation == sender->incarnation;
    const bool sender_belongs =
        valid && connected != nullptr && connected->cluster == configuration->cluster;
    const bool is_ours = valid && std::ranges::equal(configuration->voters, options_.voters, {},
                                                     &Member::id, &Member::id);
    const bool counts = names_us && is_ours && (names_sender || sender_belongs);
    return may_be_founded() && counts;
}

bool Bootstrap::has_accepted(const FormationOffer& offer) const {
    return is_formed() && offer.founding == founding_entry(raft_.configuration());
}

}  // namespace mortise::core
