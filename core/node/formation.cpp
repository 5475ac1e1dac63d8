// The bootstrap of a cluster (S47).
//
// Only the voter with the lowest configured id may bootstrap, and only while every configured voter
// is connected, empty, and configured with the same list. A hello was true when it was sent, which
// was not the same moment for all of them. So when the node has heard all hellos it asks them all
// again, and each one answers only if it is still empty in the same run. Then there was a moment,
// when it began to ask, at which all were empty. It writes the first entry with the incarnations
// that it received and, when that is durable, offers it. An empty node accepts an offer that names
// it, by id and incarnation, and is a voter from then on. If a majority were enough, two halves of
// the voters that start in the wrong order could each form a cluster, or a majority with wiped
// disks could form a second one.
#include <algorithm>

#include "core/codec/configuration_codec.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

// Before it is on disk a crash could remove it, and another cluster could be formed.
bool NodeCore::is_formation_durable() const {
    return raft_.durable_index() >= LogIndex{1} || raft_.log().base().index.is_set();
}

Hello NodeCore::hello() const {
    Hello hello{options_.self, options_.generation, {}, {}, options_.command_format};
    hello.access = options_.access;
    hello.cluster_name = options_.cluster_name;
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

// A snapshot that was received completely is not in force yet, but its cluster already counts on
// it.
bool NodeCore::may_be_founded() const {
    const bool is_empty = raft_.log().last() == LogId{};
    return !is_formed() && is_empty && !former_cluster_.is_set() && !raft_.is_installing();
}

void NodeCore::form_if_unanimous(Now now) {
    if (!may_be_founded()) {
        founding_ = {};
        return;
    }
    auto configuration = unanimous_by_hello();
    if (configuration) {
        ask_founders(*configuration, now);
    } else {
        founding_ = {};
    }
    const bool agreed = founding_.agreed.size() == founding_.asked.size();
    if (!configuration || !agreed) return;
    founding_ = {};
    configuration->cluster = {prng_.next(), prng_.next() | 1U};
    raft_.adopt_formation(founding_entry(*configuration), now.steady);
}

// What this node may bootstrap, if all are as their hellos say.
std::optional<Configuration> NodeCore::unanimous_by_hello() const {
    Configuration configuration;
    std::size_t heard = 0;
    const auto own = hello();
    for (auto voter : options_.voters) {
        const auto found = connected_.find(voter.id);
        const bool is_self = voter.id == options_.self;
        if (!is_voters_certificate(voter.id)) continue;
        const bool agrees = is_self || (found != connected_.end() && found->second.is_empty() &&
                                        found->second.voters == own.voters);
        if (agrees) ++heard;
        if (agrees && configuration.voters.empty() && !is_self) return {};  // a lower id bootstraps
        voter.incarnation = is_self  ? options_.generation.incarnation
                            : agrees ? found->second.generation.incarnation
                                     : Incarnation{};
        configuration.voters.push_back(voter);
    }
    if (heard < own.voters.size() || configuration.voters.empty()) return {};
    return configuration;
}

// A voter that comes with another hello is asked in another round, together with all others.
void NodeCore::ask_founders(const Configuration& configuration, Now now) {
    std::map<NodeId, Hello> present;
    for (const auto& voter : configuration.voters)
        if (voter.id != options_.self) present.emplace(voter.id, connected_.at(voter.id));
    if (present != founding_.asked) founding_ = {prng_.next(), std::move(present), {}, now.steady};
    if (now.steady < founding_.ask_at) return;
    founding_.ask_at = now.steady + options_.heartbeat;
    for (const auto& [id, hello] : founding_.asked) {
        if (founding_.agreed.contains(id)) continue;
        effects_.send.push_back({id, FormationQuestion{founding_.round, hello.generation.life}});
    }
}

void NodeCore::receive(NodeId from, const FormationQuestion& message, Now /*now*/) {
    const auto own = hello();
    const bool agrees = own.is_empty() && may_be_founded() &&
                        message.life == options_.generation.life &&
                        std::ranges::find(own.voters, from) != own.voters.end();
    if (!agrees) {
        ++refused_messages_;
        return;
    }
    effects_.send.push_back({from, FormationAnswer{message.round}});
}

// An answer to an earlier round may still arrive.
void NodeCore::receive(NodeId from, const FormationAnswer& message, Now /*now*/) {
    if (message.round == founding_.round && founding_.asked.contains(from))
        founding_.agreed.insert(from);
}

// Repeated as long as a voter may not have received the entry. The leader would bring it
// everything, but there may be no leader before this node is a voter. The log may have purged the
// entry; the configuration has its content.
void NodeCore::offer_formation(NodeId to) {
    const auto* member = raft_.configuration().find(to);
    if (!is_formed() || member == nullptr || !is_formation_durable()) return;
    const bool was_wiped = connected_.at(to).generation.incarnation != member->incarnation;
    if (was_wiped) return;  // it is nobody's voter
    if (raft_.configuration().founding().has(to, member->incarnation))
        effects_.send.push_back({to, FormationOffer{founding_entry(raft_.configuration())}});
}

// An offer counts only from a node that it names, with its present incarnation, or from one that
// belongs to that cluster by its own hello. Otherwise an offer of a run whose disk is gone could
// form a cluster beside the one that its new run may be forming.
void NodeCore::receive(NodeId from, const FormationOffer& offer, Now now) {
    const auto configuration = decode_configuration(offer.founding.payload);
    const bool valid = offer.founding.id == LogId{Term{1}, LogIndex{1}} && configuration &&
                       offer.founding.kind == EntryKind::configuration && is_intact(offer.founding);
    const auto* self = valid ? configuration->find(options_.self) : nullptr;
    const bool names_us = self != nullptr && self->incarnation == options_.generation.incarnation;
    const auto* sender = valid ? configuration->find(from) : nullptr;
    const auto connected = connected_.find(from);
    const bool names_sender = sender != nullptr && connected != connected_.end() &&
                              connected->second.generation.incarnation == sender->incarnation;
    const bool sender_belongs = valid && connected != connected_.end() &&
                                connected->second.cluster == configuration->cluster;
    const bool is_ours = valid && std::ranges::equal(configuration->voters, options_.voters, {},
                                                     &Member::id, &Member::id);
    const bool counts = names_us && is_ours && (names_sender || sender_belongs);
    if (!may_be_founded() || !counts) {
        ++refused_messages_;
        return;
    }
    raft_.adopt_formation(offer.founding, now.steady);
}

}  // namespace mortise::core
