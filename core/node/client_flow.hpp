// How much the clients of a member may have under way: requests that were passed on to the leader
// and are not applied here. Each has its share of what all of them may have. A member answers what
// a client says beyond that later, and a client has few such calls open (own_says_max), so it waits
// instead of filling the queues of everybody. Nothing is refused, and who asks for little is
// answered at once (docs/decisions/0071).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"

namespace mortise::core {

class ClientFlow {
public:
    // What the client says is answered when it may say more, or after `pause`. Not set: it may say
    // more.
    struct Change {
        ClientId client;
        std::optional<Nanoseconds> pause;
        friend bool operator==(const Change&, const Change&) = default;
    };

    // The client asked for the requests of its session up to `last`, of which those up to `applied`
    // are applied. `pause` is how long it may wait at most; it must be far below the TTL, because
    // the client renews its session in the same way.
    void asked(ClientId client, Seq applied, Seq last, Nanoseconds pause);
    // What it asked for was dropped, because it asks for more than any correct client.
    void dropped(ClientId client, Nanoseconds pause);
    // Its requests up to that one are applied.
    void applied(ClientId client, Seq last);
    // Nothing of it is under way any more.
    void forget(ClientId client);
    // Nor of any other: there is another leader, to which they send their requests again.
    void forget_all();

    [[nodiscard]] std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

private:
    struct UnderWay {
        Seq applied;
        Seq last;
        bool is_paused = false;
    };
    using All = std::map<ClientId, UnderWay>;

    [[nodiscard]] bool is_above_share(const UnderWay& its) const;
    All::iterator end(All::iterator client);
    void resume(All::iterator client);

    All under_way_;  // clients that have something under way
    std::vector<Change> changes_;
};

}  // namespace mortise::core
