// What this node knows of its contact with each peer: what the peer said of itself while it is
// connected, and otherwise why it is not.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/instant.hpp"
#include "core/node/hello.hpp"
#include "transport/wire/greeting.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

// For one run of a node. It reads no clock: instants are of the steady clock, a std::time_t is the
// time of day.
class PeerContacts {
public:
    // The first attempts to connect with peers begin at `began`. `finds_peers`: by a name, which
    // has this node as well.
    explicit PeerContacts(core::Instant began, bool finds_peers = false)
        : began_{began}, finds_peers_{finds_peers} {}

    // The peer has said hello, and is connected. True if it was not.
    bool up(core::Hello peer);
    // True if it was connected.
    bool down(core::NodeId peer, std::time_t at);
    // This node itself has ended all connections: none of them was lost.
    void disconnected() { connected_.clear(); }
    void refused(core::NodeId by, transport::Refusal why, core::Instant at);
    // A peer that cannot be reached does not refuse any more.
    void unreached(core::NodeId peer, std::string why);
    // How the times of that peer differ from `ours`, in words, if the words are others than those
    // returned before; they are empty if nothing differs any more.
    [[nodiscard]] std::optional<std::string> new_differences(const core::Hello& peer,
                                                             const core::HelloTiming& ours);

    [[nodiscard]] bool is_up(core::NodeId peer) const { return connected_.contains(peer); }
    [[nodiscard]] const std::map<core::NodeId, core::Hello>& connected() const {
        return connected_;
    }
    // Whether a connected peer belongs to a cluster.
    [[nodiscard]] bool has_member() const;
    // "node 2 names the peers 1, 2, 3, and this node 1, 2"; empty if all connected peers name the
    // voters `ours`, or none.
    [[nodiscard]] std::string disagreement(const std::vector<core::NodeId>& ours) const;
    // Those of `peers` that are not connected: "2 (10.0.0.2:7400), 3 (10.0.0.3:7400, which refuses:
    // ...)". `self` is left out.
    [[nodiscard]] std::string missing(const std::vector<PeerConfig>& peers, NodeId self,
                                      core::Instant now) const;

private:
    struct Refused {
        transport::Refusal why;
        core::Instant at;
    };
    // Why a peer is not connected. It is kept until the peer is up again.
    struct Absence {
        std::optional<Refused> refused;  // its newest answer, unless it was unreachable after it
        std::optional<std::string> unreached;  // why the newest attempt to connect failed
        std::optional<std::time_t> lost_at;    // when its connection was lost
    };

    [[nodiscard]] std::string why_missing(core::NodeId peer, core::Instant now) const;
    [[nodiscard]] std::string in_words(transport::Refusal refusal) const;

    // when this run of the node began, and how it knows its peers: set by the constructor
    core::Instant began_;
    bool finds_peers_;
    // the peers that are up, with their newest hellos: from up() to down()
    std::map<core::NodeId, core::Hello> connected_;
    // what is known of the absence of a peer: set by down(), refused() and unreached(), until up()
    std::map<core::NodeId, Absence> absent_;
    // the words that new_differences() has returned last for a peer
    std::map<core::NodeId, std::string> differences_;
};

}  // namespace mortise::detail
