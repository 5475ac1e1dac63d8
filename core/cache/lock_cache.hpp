// The cached grants of this node (S39-S45): grants that stay with the node when their owner
// releases them, so that the next caller in the program gets the lock without the cluster. It
// decides which of them may be used, and when they go back. It has no clock and no thread: the
// caller passes the time in, and serializes the calls.
//
// Each cached grant has at most one user. A second reader of the same node gets a grant of its own
// from the cluster. A request of another session, or of this one, that waits for the name recalls
// the grant: it is not used again, and goes back as soon as its user releases it, or at once if it
// has none. If the user keeps it for longer than `publish_after`, the cluster is told who the user
// is, and the grant becomes an ordinary one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/instant.hpp"
#include "core/cache/cache_habits.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

struct CacheOptions {
    Nanoseconds idle_max{std::chrono::seconds{1}};  // an unused grant is given back after this time
    Nanoseconds publish_after{std::chrono::milliseconds{5}};
    std::size_t idle_grants_max = 1'024;  // beyond it the one that is unused for longest goes back
    std::size_t names_remembered = 4'096;
};

class LockCache {
public:
    explicit LockCache(CacheOptions options = {})
        : options_{options}, habits_{options.idle_max, options.names_remembered} {}

    struct User {
        LockerTag locker{};
        std::string label{};
    };
    // A use of a cached grant.
    struct Use {
        OperationId grant;
        FencingToken token;
        Previous previous;  // the user before, in this program
        friend bool operator==(const Use&, const Use&) = default;
    };
    // What the cluster has to be told of a user.
    struct Publication {
        OperationId grant;
        FencingToken token;
        User user;
    };
    // A grant that goes back: the caller releases it in the cluster. If it was used again, its last
    // user is published before, so that the next holder learns of it (S23).
    struct GiveBack {
        OperationId grant;
        std::optional<Publication> last;
    };

    // --- acquiring

    // How many tokens an acquire of the name is to reserve in the cluster; zero: an ordinary grant.
    [[nodiscard]] std::uint32_t tokens_to_reserve(std::string_view name, Instant now) const {
        return habits_.tokens(name, now);
    }
    // Uses an unused grant of that name. The caller checks the lease after that (S42), and calls
    // released() if it has ended.
    [[nodiscard]] std::optional<Use> take(std::string_view name, LockMode mode, User user);
    // The cluster granted the name to this user, in a cached grant with so many tokens.
    void granted(OperationId grant, const NamedMode& what, FencingToken token, std::uint32_t tokens,
                 User user);

    // --- releasing

    // The user of the grant releases it. Empty: the grant stays here. Otherwise it goes back.
    [[nodiscard]] std::optional<GiveBack> released(OperationId grant, Instant now);
    // The user of an ordinary grant of that name releases it.
    void released_ordinary(std::string_view name, Instant now) { habits_.released(name, now); }
    // The user converts the hold, or writes the value of the name: from now on the grant is an
    // ordinary one, and the caller publishes the user first. This is repeated if take_due() has
    // returned the same publication, because another thread may not have sent that yet. Empty if
    // the grant is not cached.
    [[nodiscard]] std::optional<Publication> make_ordinary(OperationId grant);

    // --- the cluster

    // Another request waits for the grant. Not empty: nobody uses it, and it goes back.
    [[nodiscard]] std::optional<GiveBack> recalled(OperationId grant, Instant now);
    // The grant ended without a release.
    struct Lost {
        bool was_unused = false;  // false as well if there is no such grant
        FencingToken token;       // of its present or last use
    };
    Lost lost(OperationId grant);

    // --- time

    struct Due {
        std::vector<GiveBack> give_back;
        std::vector<Publication> publish;
    };
    [[nodiscard]] Due take_due(Instant now);
    // When take_due() has something to return.
    [[nodiscard]] Instant deadline() const;

    [[nodiscard]] bool contains(OperationId grant) const { return by_grant_.contains(grant); }
    [[nodiscard]] bool is_in_use(OperationId grant) const;
    [[nodiscard]] std::size_t size() const { return by_grant_.size(); }
    void check_invariants() const;

private:
    struct Slot {
        std::string name;
        OperationId grant;
        LockMode mode = LockMode::exclusive;
        FencingToken first;
        FencingToken token;  // of the present use, or of the last one
        FencingToken end;    // behind the last token; readers do not count up
        User user;           // the present one, or the last one
        bool in_use = true;
        bool is_recalled = false;
        bool is_published = false;
        Instant since;  // unused, or recalled
    };
    using Slots = std::list<Slot>;
    using Place = Slots::iterator;

    [[nodiscard]] static bool has_token_left(const Slot& slot);
    [[nodiscard]] static Publication publication_of(const Slot& slot);
    [[nodiscard]] GiveBack give_back(Place place);
    void erase(Place place);

    const CacheOptions options_;
    CacheHabits habits_;
    Slots idle_;  // unused, for longest first
    Slots used_;
    Slots recalled_;  // used and recalled, and not published: the first recall first
    std::unordered_multimap<std::string_view, Place> by_name_;
    std::map<OperationId, Place> by_grant_;
};

}  // namespace mortise::core
