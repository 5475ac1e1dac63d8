// The record of one name: its holders, and the turn of readers or writers. Waiters are in a
// separate WaitQueue, which most names never need.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/table/holder.hpp"
#include "core/locks/table/semaphore.hpp"

namespace mortise::core {

// S31: whether readers or writers are served next.
enum class Turn : std::uint8_t { writers, readers };

// There may be millions of them, and most have one holder. So the only holder is a part of the
// record, and what few records have is in a block of its own.
class LockRecord {
public:
    explicit LockRecord(QueuePolicy policy) : policy_{policy} {}
    // For a record that was saved: its holders are added in the order of their grants.
    LockRecord(QueuePolicy policy, FencingToken newest, LockMode newest_mode)
        : policy_{policy}, newest_mode_{newest_mode}, newest_token_{newest} {}

    [[nodiscard]] QueuePolicy policy() const { return policy_; }
    // Oldest first.
    [[nodiscard]] std::span<const Holder> holders() const {
        if (has_several()) return rare_->holders;
        return {&only_, only_.operation.seq.is_set() ? 1U : 0U};
    }
    [[nodiscard]] const Holder* find(OperationId operation) const;
    // Null if the name is a lock.
    [[nodiscard]] const Semaphore* semaphore() const {
        return rare_ ? rare_->semaphore.get() : nullptr;
    }
    [[nodiscard]] Semaphore* semaphore() { return rare_ ? rare_->semaphore.get() : nullptr; }
    // Makes it a semaphore; it must have no holder.
    void set_semaphore(Semaphore semaphore);
    // It stays without holders and waiters, because its limit was changed (S37).
    [[nodiscard]] bool was_resized() const {
        return semaphore() != nullptr && semaphore()->was_resized();
    }
    // No holder conflicts with this mode. Of a semaphore: so many permits are free.
    [[nodiscard]] bool admits(LockMode mode, std::uint32_t permits = 0) const;
    [[nodiscard]] bool has_writer() const;
    // The holders are compatible with each other (P2). Of a semaphore: each slot has one holder.
    [[nodiscard]] bool is_compatible() const;
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }
    // The mode in which the newest token was taken.
    [[nodiscard]] LockMode newest_mode() const { return newest_mode_; }
    // How the previous hold ended.
    [[nodiscard]] const Previous& previous() const;
    void set_previous(Previous previous);

    void add(Holder holder);
    // Called for each hold before it ends: returns whether it still blocks the name after that.
    using Keeps = std::function<bool(const Holder&, Predecessor how)>;
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

    std::uint64_t swept_at = 0;  // no traces are left of the sessions up to this count of endings
    Turn turn = Turn::writers;

private:
    struct Rare {
        std::vector<Holder> holders;                   // if there are several
        std::array<std::uint32_t, lock_modes> held{};  // the number of those in each mode
        Previous previous;
        std::unique_ptr<Semaphore> semaphore;
    };

    [[nodiscard]] bool has_disjoint_slots() const;
    [[nodiscard]] bool has_several() const { return rare_ && !rare_->holders.empty(); }
    [[nodiscard]] std::span<Holder> present();
    [[nodiscard]] std::uint32_t held_in(LockMode mode) const;
    [[nodiscard]] Holder& holder(OperationId operation);
    Rare& rare();
    bool leaves(Holder& holder, Predecessor how, const Keeps& keeps);
    void erase(const Holder& holder);
    void tidy();

    QueuePolicy policy_;
    LockMode newest_mode_ = LockMode::exclusive;
    FencingToken newest_token_;
    Holder only_;  // its operation is not set if there is none, or if there are several
    std::unique_ptr<Rare> rare_;
};

}  // namespace mortise::core
