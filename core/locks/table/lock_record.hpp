// The record of one name: its holders, and the turn of readers or writers. Waiters are in a
// separate WaitQueue, which most names never need.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

struct Grant {
    OperationId operation;
    LockMode mode = LockMode::exclusive;
    FencingToken token;
    LogIndex since;
    std::string label;
    LockerTag locker{};
    // The hold was broken, but still blocks the name, because its node may not know yet (S24).
    bool broken = false;
    HoldTerms terms{};
    ClosureId closures{};  // the first quorum timer of its time limits, if it has any
    // How it ended, if it has ended and still blocks the name (S8, S9).
    std::optional<Predecessor> left{};
    // How many tokens it reserves, from `token` on: its node grants the name with these to one
    // caller after the other (S39). Zero: it is not cached. Whether a caller of that node holds the
    // name now, and which, is not known, so a cached grant has no locker.
    std::uint32_t cached_tokens = 0;

    [[nodiscard]] bool is_held() const { return !broken && !left; }
    [[nodiscard]] bool is_cached() const { return cached_tokens != 0; }
    // The token is this grant's, or one that it reserves.
    [[nodiscard]] bool has_token(FencingToken other) const {
        return other == token || (other > token && other.raw() - token.raw() < cached_tokens);
    }

    friend bool operator==(const Grant&, const Grant&) = default;
};

// S31: whether readers or writers are served next.
enum class Turn : std::uint8_t { writers, readers };

class LockRecord {
public:
    explicit LockRecord(QueuePolicy policy) : policy_{policy} {}
    // For a record that was saved: its holders are added in the order of their grants.
    LockRecord(QueuePolicy policy, FencingToken newest, LockMode newest_mode)
        : policy_{policy}, newest_token_{newest}, newest_mode_{newest_mode} {}

    [[nodiscard]] QueuePolicy policy() const { return policy_; }
    [[nodiscard]] const std::vector<Grant>& holders() const { return holders_; }
    [[nodiscard]] const Grant* find(OperationId operation) const;
    // No holder conflicts with this mode.
    [[nodiscard]] bool admits(LockMode mode) const;
    [[nodiscard]] bool has_writer() const;
    // The holders are compatible with each other (P2).
    [[nodiscard]] bool is_compatible() const;
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }
    // The mode in which the newest token was taken.
    [[nodiscard]] LockMode newest_mode() const { return newest_mode_; }

    void add(Grant grant);
    // Called for each hold before it ends: returns whether it still blocks the name after that.
    using Keeps = std::function<bool(const Grant&, Predecessor how)>;
    // False if there is no such grant.
    bool remove(OperationId operation, Predecessor how, const Keeps& keeps);
    // Removes a former holder.
    void remove_left(OperationId operation);
    // Changes the mode and the token of a holder, which must exist.
    void convert(OperationId operation, LockMode mode, FencingToken token);
    // The operation must be a holder.
    void mark_broken(OperationId operation);
    // Ends every hold for which `left` has a result. Calls `left` once for each, oldest first.
    using Left = std::function<std::optional<Predecessor>(OperationId)>;
    void remove_if(const Left& left, const Keeps& keeps);

    // The token of a new grant in `mode`: that of the present holders if the grant joins them
    // (S13), otherwise a new one from the cluster's counter.
    FencingToken take_token(LockMode mode, FencingToken& newest_of_cluster);
    // Takes `more` tokens after the newest one, which was taken just before.
    void reserve_tokens(std::uint32_t more, FencingToken& newest_of_cluster);
    // Makes a cached grant an ordinary one; it must be a holder.
    void publish(OperationId operation, FencingToken token, LockerTag locker, std::string label);

    Turn turn = Turn::writers;
    Previous previous;           // how the previous hold ended
    std::uint64_t swept_at = 0;  // no traces are left of the sessions up to this count of endings

private:
    using Place = std::vector<Grant>::iterator;
    [[nodiscard]] Place place_of(OperationId operation);
    bool leaves(Grant& grant, Predecessor how, const Keeps& keeps);

    QueuePolicy policy_;
    std::vector<Grant> holders_;                    // oldest first
    std::array<std::uint32_t, lock_modes> held_{};  // the number of holders in each mode
    FencingToken newest_token_;
    LockMode newest_mode_ = LockMode::exclusive;
};

}  // namespace mortise::core
