// What is known of one name: who holds it and whose turn it is. Its waiters are in a WaitQueue of
// their own, which most names never need.
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
    // It was taken away, and is in the way all the same: its node may not know yet (S24).
    bool broken = false;
    HoldTerms terms{};
    ClosureId closures{};  // the first of its own, if it has terms
    // How it left, when it is nobody's any more and in the way all the same (S8, S9).
    std::optional<Predecessor> left{};

    [[nodiscard]] bool is_held() const { return !broken && !left; }

    friend bool operator==(const Grant&, const Grant&) = default;
};

// S31: who goes first when the phase turns.
enum class Turn : std::uint8_t { writers, readers };

class LockRecord {
public:
    explicit LockRecord(QueuePolicy policy) : policy_{policy} {}
    // One that has been: holders are added as they entered.
    LockRecord(QueuePolicy policy, FencingToken newest, LockMode newest_mode)
        : policy_{policy}, newest_token_{newest}, newest_mode_{newest_mode} {}

    [[nodiscard]] QueuePolicy policy() const { return policy_; }
    [[nodiscard]] const std::vector<Grant>& holders() const { return holders_; }
    [[nodiscard]] const Grant* find(OperationId operation) const;
    // No holder is in the way of this mode.
    [[nodiscard]] bool admits(LockMode mode) const;
    [[nodiscard]] bool has_writer() const;
    // The holders are compatible with each other (P2).
    [[nodiscard]] bool is_compatible() const;
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }
    // The mode in which that was taken.
    [[nodiscard]] LockMode newest_mode() const { return newest_mode_; }

    void add(Grant grant);
    // Asked for each that leaves, before it does: whether it stays in the way all the same.
    using Keeps = std::function<bool(const Grant&, Predecessor how)>;
    // False when there is no such grant.
    bool remove(OperationId operation, Predecessor how, const Keeps& keeps);
    // Takes it out of the way; requires that it had left, and stayed.
    void remove_left(OperationId operation);
    // The holder's mode and token from now on. Requires that it holds.
    void convert(OperationId operation, LockMode mode, FencingToken token);
    // Requires that it holds.
    void mark_broken(OperationId operation);
    // Removes every holder that `left` says is gone. Asks once for each, oldest first.
    using Left = std::function<std::optional<Predecessor>(OperationId)>;
    void remove_if(const Left& left, const Keeps& keeps);

    // The token of a grant in `mode` that is about to be given: that of the present holders if the
    // grant joins them (S13), otherwise a new one, drawn from the cluster's counter.
    FencingToken take_token(LockMode mode, FencingToken& newest_of_cluster);

    Turn turn = Turn::writers;
    Previous previous;           // how the last one left
    std::uint64_t swept_at = 0;  // no trace of sessions that ended before this count of endings

private:
    using Place = std::vector<Grant>::iterator;
    [[nodiscard]] Place place_of(OperationId operation);
    bool leaves(Grant& grant, Predecessor how, const Keeps& keeps);

    QueuePolicy policy_;
    std::vector<Grant> holders_;                    // oldest first
    std::array<std::uint32_t, lock_modes> held_{};  // how many hold in each mode
    FencingToken newest_token_;
    LockMode newest_mode_ = LockMode::exclusive;
};

}  // namespace mortise::core
