// Compares what the members report with the configuration and the directory of this node.
#include <algorithm>
#include <string>
#include <utility>

#include "tools/mortise/doctor/checks.hpp"

namespace mortise::cli {

namespace {

std::string joined(const std::vector<NodeId>& ids) {
    std::string text;
    for (const auto id : ids)
        text += (text.empty() ? "" : ", ") + std::to_string(id);
    return text.empty() ? "none" : text;
}

std::vector<NodeId> ids_of(const Config& config) {
    std::vector<NodeId> ids;
    for (const auto& peer : config.peers)
        ids.push_back(peer.id);
    std::ranges::sort(ids);
    return ids;
}

std::string differences(const TimingOfMember& theirs, const TimingConfig& ours) {
    std::string text;
    const auto compare = [&](const char* key, Duration there, Duration here) {
        if (there == Duration::zero() || there == here) return;
        text += (text.empty() ? "" : ", ") + std::string{key} + ' ' + to_string(there) + " (here " +
                to_string(here) + ')';
    };
    compare("election_timeout", theirs.election_timeout, ours.election_timeout);
    compare("heartbeat", theirs.heartbeat, ours.heartbeat);
    compare("session_ttl", theirs.session_ttl, ours.session_ttl);
    return text;
}

// Compares one member with this node.
class MemberJudge {
public:
    MemberJudge(const Config& config, const OwnDirectory& own, const PeerConfig& peer,
                const MemberReport& report)
        : config_{config},
          own_{own},
          peer_{peer},
          report_{report},
          status_{report.status},
          name_{name_of_node(peer.id)} {}

    Findings run() {
        judge_identity();
        if (status_.id != peer_.id || status_.cluster != config_.cluster)
            return std::move(findings_);  // it is another node or another cluster
        judge_configuration();
        judge_membership();
        judge_state();
        if (findings_.empty())
            findings_.push_back(
                fine(name_, peer_.address + " is ready, version " + status_.version));
        return std::move(findings_);
    }

private:
    void note(Finding finding) { findings_.push_back(std::move(finding)); }

    void judge_identity() {
        if (status_.cluster != config_.cluster) {
            note(problem(name_,
                         peer_.address + " is a member of the cluster \"" + status_.cluster +
                             "\", and this node is configured for \"" + config_.cluster + '"',
                         "correct cluster, or the address of " + name_));
        } else if (status_.id != peer_.id) {
            note(problem(name_, name_of_node(status_.id) + " answers at " + peer_.address,
                         "correct the address of " + name_ + ", or the node_id there"));
        }
    }

    void judge_configuration() {
        if (config_.role == Role::client) return;  // its times are its own
        const auto timing = differences(report_.timing, config_.timing);
        if (!timing.empty()) {
            note(warning(name_, "it is configured with " + timing,
                         "give all members the same times below [timing]"));
        }
        // Once the cluster is formed, its log says who the members are.
        const bool forms = status_.cluster_id.empty() && config_.role == Role::voter;
        if (forms && !report_.voters.empty() && report_.voters != ids_of(config_)) {
            note(problem(name_,
                         "it names the peers " + joined(report_.voters) + ", and this node names " +
                             joined(ids_of(config_)) + ", so they form no cluster",
                         "list the same peers in the files of all nodes"));
        }
    }

    // A cluster id that differs says more than anything that follows from it.
    void judge_membership() {
        if (status_.cluster_id.empty() || config_.role == Role::client) return;
        if (!own_.cluster_id.empty() && own_.cluster_id != status_.cluster_id) {
            return note(problem("data_dir",
                                "this directory belongs to the cluster " + own_.cluster_id +
                                    ", and " + name_ + " to " + status_.cluster_id,
                                "use the directory that this node had in the cluster of " + name_ +
                                    ", or an empty one"));
        }
        const auto self = std::ranges::find(status_.members, config_.own_id(), &MemberInfo::id);
        if (self == status_.members.end()) return judge_stranger_here();
        if (self->connected && !own_.is_running) {
            note(problem(name_,
                         "it is connected with a node that has the id " +
                             std::to_string(config_.own_id()) + ", and no node runs here",
                         "give this node another id, or end the other one"));
        }
    }

    void judge_stranger_here() {
        const auto id = std::to_string(config_.own_id());
        const auto add = "run `mortise members add " + id + " ADDRESS` once it runs";
        if (!own_.cluster_id.empty()) {
            return note(problem(name_,
                                "the cluster has the members " + joined(members()) + ": node " +
                                    id + " was removed",
                                "empty its directory, set role = \"learner\", and " + add));
        }
        if (config_.role == Role::learner)
            return note(warning(name_, "the cluster does not have node " + id + " yet", add));
        note(problem(name_,
                     "the cluster was formed by " + joined(members()) + ", without node " + id,
                     "set role = \"learner\", and " + add));
    }

    [[nodiscard]] std::vector<NodeId> members() const {
        std::vector<NodeId> ids;
        for (const auto& member : status_.members)
            ids.push_back(member.id);
        return ids;
    }

    void judge_state() {
        if (status_.insecure && config_.tls.is_set())
            note(warning(name_, "it is reachable without TLS", "set its files below [tls]"));
        if (status_.durability != config_.durability) {
            note(warning(
                name_,
                "the durability of its cluster is \"" + std::string{to_string(status_.durability)} +
                    "\", and this file says \"" + std::string{to_string(config_.durability)} + '"',
                "give the files of all members the same one, and restart those that have "
                "another; the cluster follows when all have it"));
        }
        if (!status_.version.empty() && status_.version != MORTISE_VERSION) {
            note(warning(
                name_,
                "it has the version " + status_.version + ", and this program " + MORTISE_VERSION,
                "give all members the same version, one after the other"));
        }
        if (status_.ready) return;
        note(warning(
            name_,
            "it is not ready" + (status_.why_not_ready.empty() ? "" : ": " + status_.why_not_ready),
            "correct what it says, or start the members that are missing"));
    }

    const Config& config_;
    const OwnDirectory& own_;
    const PeerConfig& peer_;
    const MemberReport& report_;
    const Status& status_;
    const std::string name_;
    Findings findings_;
};

Findings judge_agreement(const std::vector<PeerAnswer>& answers) {
    const PeerAnswer* first = nullptr;
    for (const auto& answer : answers) {
        if (!answer.report || answer.report->status.cluster_id.empty()) continue;
        if (first == nullptr) first = &answer;
        if (answer.report->status.cluster_id == first->report->status.cluster_id) continue;
        return {problem(name_of_node(answer.peer.id),
                        "it belongs to another cluster (" + answer.report->status.cluster_id +
                            ") than " + name_of_node(first->peer.id) + " (" +
                            first->report->status.cluster_id + ')',
                        "stop the wrong ones, and give them empty directories")};
    }
    return {};
}

}  // namespace

Findings judge_members(const Config& config, const OwnDirectory& own,
                       const std::vector<PeerAnswer>& answers) {
    Findings findings;
    for (const auto& answer : answers) {
        append(findings, answer.findings);
        if (answer.report)
            append(findings, MemberJudge{config, own, answer.peer, *answer.report}.run());
    }
    append(findings, judge_agreement(answers));
    return findings;
}

}  // namespace mortise::cli
