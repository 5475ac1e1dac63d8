#include "embed/runtime/readiness_words.hpp"

#include "embed/runtime/id_words.hpp"
#include "embed/runtime/translate.hpp"
#include <mortise/duration.hpp>

namespace mortise::detail {

namespace {

// What a voter without a cluster waits for: the missing voters, or what prevents the present ones.
std::string why_not_formed(const InNoCluster& node) {
    if (node.is_to_be_found && !node.unlisted_by.empty())
        return "the name " + node.unlisted_by +
               " does not have its address yet; the leader adds it when it finds it there";
    if (node.is_to_be_found)
        return "the leader adds it when it finds it by the name of the peers" +
               (node.missing.empty() ? std::string{}
                                     : "; there is no connection with " + node.missing);
    if (node.peers_have_one) return "its peers have formed one; it waits until they add it";
    if (!node.missing.empty())
        return "all its voters have to form it, and there is no connection with " + node.missing;
    if (!node.disagreement.empty())
        return node.disagreement + ": list the same peers in the files of all";
    return "all voters are connected; it is formed if they name the same peers";
}

std::string why_not_formed_alone(const InNoCluster& node) {
    return "it waits " + to_string(Duration{node.founding_pause}) +
           " for a member that knows it, and joins that cluster, or forms one of its own";
}

// It belonged to a cluster, and forms no other one: a member that has the data has to bring it
// back.
std::string why_not_brought_back(const InNoCluster& node) {
    const auto lost = "the data that it had in its cluster, " + to_text(node.former) +
                      ", is damaged or gone, and it waits for a member that has it";
    if (!node.names_others) return lost + "; " + std::string{remedy_of_sole_node};
    return lost + (node.missing.empty() ? "" : "; there is no connection with " + node.missing) +
           "; if no member has it any more, see docs/backup.md, When a majority is lost";
}

// What keeps this node out of elections; empty if nothing does.
std::string doubts_in_words(const WithoutLeader& node) {
    if (node.used_up_terms)
        return "; the last possible term was used: `mortise recover` begins the terms anew";
    if (node.forgetful)
        return "; its machine lost power, and it may lack entries: unless a majority of the others "
               "elects a leader, all voters have to be there";
    if (!node.doubted) return {};
    return "; this node takes no part in elections, because for " +
           to_string(Duration{node.doubted->lasting}) + " node " + ids_in_words(node.doubted->by) +
           " has been saying that its directory was rolled back, or is a copy";
}

}  // namespace

std::string why_in_no_cluster(const InNoCluster& node) {
    if (node.former.is_set()) return "in no cluster: " + why_not_brought_back(node);
    return "in no cluster yet: " +
           (node.names_others ? why_not_formed(node) : why_not_formed_alone(node));
}

std::string why_closed_by_an_era(core::Nanoseconds left) {
    return "the machines of a majority lost power: no session opens for " +
           to_string(Duration{left}) +
           ", since holders that the cluster has forgotten may still rely on their leases";
}

std::string why_no_leader(const WithoutLeader& node) {
    const auto doubts = doubts_in_words(node);
    if (!node.missing.empty())
        return "no leader is known, and there is no connection with " + node.missing + doubts;
    return doubts.empty() ? doubts : "no leader is known" + doubts;
}

}  // namespace mortise::detail
