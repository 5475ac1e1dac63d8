// The cached grants of this node (S39-S45): grants that stay with the node when their owner
// releases them, so that the next caller in the program gets the lock without the cluster. It
// decides which of them may be used, and when they go back. It has no clock and no thread: the
// caller passes the time in, and serializes the calls.
//
// Each cached grant has at most one user. An exclusive grant that nobody uses may be lent: then its
// last user takes and releases it again without the cache, until the cache needs to know more and
// ends the loan. A second reader of the same node gets a grant of its own
// from the cluster. A caller that wants an exclusive lock which another caller of the node has, or
// has asked for, waits here, and gets it without the cluster (S41). If it has waited for long, it
// asks the cluster all the same.
//
// A request of another session, or of this one, that waits for the name recalls the grant: it goes
// back at once if it has no user; else when its user releases it, or after so many and so late
// callers of the node as CacheOptions allow. If a user keeps it for longer than `publish_after`,
// the cluster is told who the user is, and the grant becomes an ordinary one.
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
#include "core/cache/local_queues.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

struct CacheOptions {
    Nanoseconds idle_max{std::chrono::seconds{1}};  // an unused grant is given back after this time
    // A loan ends after this time, so that the cache learns whether the grant is used.
    Nanoseconds loan_max{std::chrono::milliseconds{250}};
    Nanoseconds publish_after{std::chrono::milliseconds{5}};
    Nanoseconds wait_here_max{std::chrono::milliseconds{50}};
    std::size_t waiters_max = 4'096;
    std::size_t waiters_due_max = 256;  // that leave the local queue at once
    // After a recall the grant goes to so many other callers of the node, within this time.
    std::uint32_t hand_overs_max = 64;
    Nanoseconds hand_over_for{std::chrono::milliseconds{5}};
    // A recall after fewer uses than these means that the name is not worth a cached grant.
    std::uint32_t uses_worth = 4;
    std::size_t idle_grants_max = 1'024;  // beyond it the one that is unused for longest goes back
    std::size_t names_remembered = 4'096;
};

class LockCache {
public:
    explicit LockCache(CacheOptions options = {})
        : options_{options}, habits_{options.idle_max, options.names_remembered} {}

    using User = CacheUser;
    using Waiter = LocalQueues::Waiter;
    using Waiters = LocalQueues::Waiters;
    // A use of a cached grant.
    struct Use {
        OperationId grant;
        FencingToken token;
        Previous previous;              // the user before, in this program
        std::uint32_t tokens_left = 0;  // behind that one; a reader needs none
        friend bool operator==(const Use&, const Use&) = default;
    };
    // Where the last user of an unused exclusive grant takes it again and releases it, each time
    // with the next token, without the cache (S39). It outlives the loan.
    class Loan {
    public:
        struct State {
            FencingToken token;  // of the newest use
            bool in_use = false;
        };
        [[nodiscard]] virtual State state() const noexcept = 0;
        // From now on the grant is neither taken nor released without the cache.
        virtual State end() noexcept = 0;

    protected:
        Loan() = default;
        Loan(const Loan&) = default;
        Loan& operator=(const Loan&) = default;
        ~Loan() = default;
    };
    // What the cluster has to be told of a user.
    struct Publication {
        OperationId grant;
        FencingToken token;
        User user;
        bool ended = false;  // the last use, and the grant goes back
    };
    // A grant that goes back: the caller releases it in the cluster. If it was used again, its last
    // user is published before, so that the next holder learns of it (S23).
    struct GiveBack {
        OperationId grant;
        std::optional<Publication> last;
    };

    // Callers that leave the local queue: each asks the cluster, and reserves so many tokens.
    struct Asking {
        Waiters callers;
        std::uint32_t tokens = 0;
    };
    // A caller of the local queue that uses the grant now.
    struct HandOver {
        CallTag call;
        Use use;
    };
    struct Joined {
        bool waits = false;        // in the local queue
        std::optional<Use> use{};  // it has the lock
        std::uint32_t tokens = 0;  // else: it asks the cluster, and reserves so many tokens
    };
    struct Released {
        std::optional<GiveBack> back{};  // the grant goes back to the cluster
        std::optional<HandOver> next{};  // or to this caller; if neither, it stays here, unused
        Asking asking{};
        Waiters timed_out{};  // their deadlines have passed
    };

    // --- acquiring

    // Uses an unused grant of that name. The caller checks the lease after that (S42), and calls
    // released() if it has ended.
    [[nodiscard]] std::optional<Use> take(std::string_view name, LockMode mode, User user);
    // The same as take() for a caller that may wait in the local queue until its deadline, which is
    // over if it must not wait. A caller that asks the cluster reports the end of its request with
    // answered().
    [[nodiscard]] Joined join(std::string_view name, LockMode mode, Waiter caller, Instant now);
    // The cluster granted the name to this user, in a cached grant with so many tokens.
    void granted(OperationId grant, const NamedMode& what, FencingToken token, std::uint32_t tokens,
                 User user);
    // The request of that caller has ended, and granted() was called before, if it was granted.
    [[nodiscard]] Asking answered(std::string_view name, CallTag call, Instant now);
    // True if the caller waited in the local queue, and has left it.
    [[nodiscard]] bool withdraw(CallTag call) { return !queues_.take(call).empty(); }

    // --- releasing: it allocates nothing

    // The user of the grant releases it.
    [[nodiscard]] Released released(OperationId grant, Instant now);
    // The user of an ordinary grant of that name releases it.
    void released_ordinary(std::string_view name, Instant now) { habits_.released(name, now); }
    // Nobody uses that grant. False if it is not an exclusive one. Every other call that depends on
    // its use ends the loan first.
    bool lend(OperationId grant, Loan& loan) noexcept;
    void end_all_loans() noexcept;
    // How often grants were taken again while they were lent.
    [[nodiscard]] std::uint64_t taken_again() const;

    // --- the grant ends, or becomes an ordinary one

    // The user with that token converts the hold, or writes the value of the name: the caller
    // publishes the user first. This is repeated if take_due() has returned the same publication,
    // because another thread may not have sent that yet. No publication if the grant is not cached,
    // or the user has released it.
    struct Ordinary {
        std::optional<Publication> user{};
        Asking asking{};
    };
    [[nodiscard]] Ordinary make_ordinary(OperationId grant, FencingToken token, Instant now);
    // Another request waits for the grant. Not empty: nobody uses it, and it goes back.
    [[nodiscard]] std::optional<GiveBack> recalled(OperationId grant, Instant now);
    // The grant ended without a release.
    struct Lost {
        bool was_unused = false;  // false as well if there is no such grant
        FencingToken token{};     // of its present or last use
        Asking asking{};
    };
    Lost lost(OperationId grant, Instant now);
    // Nobody waits in the local queue any more, and nobody has asked for others.
    void clear_queues() { queues_.clear(); }

    // --- time

    struct Due {
        std::vector<GiveBack> give_back;
        std::vector<Publication> publish;
        std::vector<Asking> asking;
        Waiters timed_out;  // their deadlines have passed
    };
    [[nodiscard]] Due take_due(Instant now);
    // When take_due() has something to return.
    [[nodiscard]] Instant deadline() const;

    [[nodiscard]] bool contains(OperationId grant) const { return by_grant_.contains(grant); }
    [[nodiscard]] bool is_in_use(OperationId grant) const;
    [[nodiscard]] std::size_t size() const { return by_grant_.size(); }
    [[nodiscard]] std::size_t waiters() const { return queues_.size(); }
    void check_invariants() const;

private:
    struct Slot {
        std::string name;
        OperationId grant;
        LockMode mode = LockMode::exclusive;
        FencingToken first;
        FencingToken token;    // of the present use, or of the last one
        FencingToken end;      // behind the last token; readers do not count up
        User user;             // the present one, or the last one
        Loan* loan = nullptr;  // null: what it says of the use is known here
        bool in_use = true;
        bool is_recalled = false;
        bool is_published = false;
        std::uint32_t uses = 1;
        std::uint32_t hand_overs = 0;  // since the recall
        Instant recalled_at;
        Instant since;  // unused, or when it was lent, or recalled and in this use
    };
    using Slots = std::list<Slot>;
    using Place = Slots::iterator;

    [[nodiscard]] static bool has_token_left(const Slot& slot);
    // True if the grant was taken again meanwhile.
    bool end_loan(Place place) noexcept;
    void end_loans(std::string_view name) noexcept;
    // Ends its loan. Empty if there is no such grant.
    [[nodiscard]] std::optional<Place> find(OperationId grant) noexcept;
    // Whether the grant may go from its user to another caller of this node.
    [[nodiscard]] bool may_hand_over(const Slot& slot, Instant now) const;
    // The slot of a writer whom the cluster does not know; null if there is none. Loans of the name
    // were ended before.
    [[nodiscard]] const Slot* used_exclusively(std::string_view name) const;
    [[nodiscard]] bool may_wait_here(std::string_view name, const User& user, Instant now) const;
    void give_back_due(Instant now, Due& due);
    // The next user of the slot, with its token.
    [[nodiscard]] static Use use_by(Slot& slot, User user);
    [[nodiscard]] HandOver hand_over(Place place, CallTag next, Instant now);
    // The next caller in the local queue whose time is not over. The others leave it.
    [[nodiscard]] std::optional<CallTag> next_in_time(std::string_view name, Instant now,
                                                      Waiters& timed_out);
    // Of the callers that wait for the name, one asks for all of them; or all ask, if the name is
    // not worth a cached grant. Nobody asks if one has asked.
    [[nodiscard]] Asking next_asker(std::string_view name, Instant now);
    void take_due_waiters(Instant now, Due& due);
    void note_end(const Slot& slot, Instant now) noexcept;
    [[nodiscard]] static Publication publication_of(const Slot& slot);
    [[nodiscard]] GiveBack give_back(Place place);
    void erase(Place place);

    const CacheOptions options_;
    CacheHabits habits_;
    Slots idle_;  // unused, for longest first
    Slots lent_;  // unused when they were lent: by `since`
    Slots used_;
    Slots recalled_;  // used and recalled, and not published: by `since`
    LocalQueues queues_;
    std::uint64_t taken_again_ = 0;  // in loans that have ended
    std::unordered_multimap<std::string_view, Place> by_name_;
    std::map<OperationId, Place> by_grant_;
};

}  // namespace mortise::core
