// The record of one name: its holders, the turn of readers or writers, and the queue of those that
// wait, which most names never need.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/kinds/kinds.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/table/holder.hpp"
#include "core/locks/table/wait_queue.hpp"

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
        : policy_{policy}, newest_mode_{newest_mode} {
        only_.token = newest;
    }

    [[nodiscard]] QueuePolicy policy() const { return policy_; }
    // Oldest first.
    [[nodiscard]] std::span<const Holder> holders() const {
        if (has_several()) return rare_->holders;
        return {&only_, is_held() ? 1U : 0U};
    }
    [[nodiscard]] const Holder* find(OperationId operation) const;
    // Null if nobody waits. NameTable knows which names have one.
    [[nodiscard]] const WaitQueue* queue() const { return rare_ ? rare_->queue.get() : nullptr; }
    [[nodiscard]] WaitQueue* queue() { return rare_ ? rare_->queue.get() : nullptr; }
    void set_queue(WaitQueue queue);
    void drop_queue() { rare_->queue.reset(); }
    [[nodiscard]] RecordKind kind() const {
        return state() == nullptr ? RecordKind::lock : kind_of(*state());
    }
    // Null if the name is a lock.
    [[nodiscard]] const KindState* state() const { return rare_ ? rare_->state.get() : nullptr; }
    // Null if it is of another kind.
    template <class State>
    [[nodiscard]] const State* as() const {
        return std::get_if<State>(state());
    }
    template <class State>
    [[nodiscard]] State* as() {
        return std::get_if<State>(rare_ ? rare_->state.get() : nullptr);
    }
    // Makes it one of another kind; it must be a lock, and have no holder.
    void become(KindState state);
    // Locks and semaphores have holders. What waits for names of other kinds never holds anything.
    [[nodiscard]] bool may_have_holders() const;
    // It stays without holders and waiters (S37).
    [[nodiscard]] bool stays() const;
    // From now on it stays only as long as it has holders or waiters.
    void stay_no_longer() {
        if (rare_) rare_->state.reset();
    }
    // No holder conflicts with this mode. Of a semaphore: so many permits are free.
    [[nodiscard]] bool admits(LockMode mode, std::uint32_t permits = 0) const;
    [[nodiscard]] bool has_writer() const;
    // The holders are compatible with each other (P2). Of a semaphore: each slot has one holder.
    [[nodiscard]] bool is_compatible() const;
    [[nodiscard]] FencingToken newest_token() const {
        const bool is_here = rare_ && rare_->newest_token.is_set();
        return is_here ? rare_->newest_token : only_.newest_token();
    }
    // The mode in which the newest token was taken.
    [[nodiscard]] LockMode newest_mode() const { return newest_mode_; }
    // How the previous hold ended.
    [[nodiscard]] const Previous& previous() const;
    void set_previous(Previous previous);

    void add(Holder holder);
    // Called for each hold before it ends: returns whether it still blocks the name after that.
    using Keeps = std::function<bool(const Holder&, Predecessor how)>;
    // False if there is no such grant. `is_used_on`: false if nobody will ask this record any more
    // how its last hold ended.
    bool remove(OperationId operation, Predecessor how, const Keeps& keeps, bool is_used_on = true);
    // Removes a former holder.
    void remove_left(OperationId operation);
    // Changes the mode and the token of a holder, which must exist.
    void convert(OperationId operation, LockMode mode, FencingToken token);
    // These two need a holder.
    void mark_broken(OperationId operation);
    void set_label_if_none(OperationId operation, const std::string& label);
    // Ends every hold for which `left` has a result. Calls `left` once for each, oldest first.
    using Left = std::function<const Departure*(OperationId)>;
    void remove_if(const Left& left, const Keeps& keeps);

    // The token of a new grant in `mode`: that of the present holders if the grant joins them
    // (S13), otherwise a new one from the cluster's counter.
    FencingToken take_token(LockMode mode, FencingToken& newest_of_cluster);
    // Takes `more` tokens after the newest one, which was taken just before.
    void reserve_tokens(std::uint32_t more, FencingToken& newest_of_cluster);
    // Makes a cached grant an ordinary one; it must be a holder.
    void publish(OperationId operation, FencingToken token, LockerTag locker, std::string label);

    // No traces are left of the sessions up to this count of endings. Traces are never kept for
    // 2^32 endings.
    [[nodiscard]] bool is_swept_at(std::uint64_t endings) const {
        return swept_at_ == static_cast<std::uint32_t>(endings);
    }
    void set_swept_at(std::uint64_t endings) { swept_at_ = static_cast<std::uint32_t>(endings); }

private:
    struct Rare {
        std::vector<Holder> holders;                   // if there are several
        std::array<std::uint32_t, lock_modes> held{};  // the number of those in each mode
        Previous previous;
        FencingToken newest_token;  // not set if it is only_.newest_token()
        std::unique_ptr<WaitQueue> queue;
        std::unique_ptr<KindState> state;
    };

    [[nodiscard]] bool has_disjoint_slots() const;
    // By the only holder.
    [[nodiscard]] bool is_held() const { return only_.operation.seq.is_set(); }
    [[nodiscard]] bool has_several() const { return rare_ && !rare_->holders.empty(); }
    [[nodiscard]] std::span<Holder> present();
    [[nodiscard]] std::uint32_t held_in(LockMode mode) const;
    [[nodiscard]] Holder& holder(OperationId operation);
    Rare& rare();
    bool leaves(Holder& holder, Predecessor how, const Keeps& keeps, bool is_used_on = true);
    void erase(const Holder& holder);
    void tidy();
    void set_newest(FencingToken token);

    // Its operation is not set if there is no holder, or if there are several. Its token is the
    // newest of the name then.
    [[no_unique_address]] Holder only_;
    std::uint32_t swept_at_ = 0;
    std::unique_ptr<Rare> rare_;
    // The small ones are the last, so that those of NamedRecord take no further space.
    QueuePolicy policy_ : 2;
    LockMode newest_mode_ : 3 = LockMode::exclusive;
    static_assert(lock_modes <= 1U << 3U);

public:
    Turn turn = Turn::writers;
};

}  // namespace mortise::core
