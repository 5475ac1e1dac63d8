// Checks every history of a lock machine from outside: from the commands, their outcomes and the
// listings. It shares no rule with core/locks or with LockSpec, and watches both. Requires that an
// operation number identifies one request, among those that are applied.
//
//   P1, S12, S13  tokens rise as they must, and only compatible joiners share one
//   P2            the holders of a name are compatible, and are those that the outcomes report
//   S1-S4         session ids are new, renewal numbers rise, what ended stays ended
//   S11           nothing is granted to a session that ended
//   S17           the requests of a session are applied in the order of their numbers, and a
//   request
//                 ahead of a missing one has no effect; an operation has one answer, which is
//                 repeated until it is acknowledged
//   S18, S19      a cancelled or released operation holds nothing; not_held only if it held nothing
//   S27, S28      conversions: from which mode, to which token; no grant while one waits
//   S29, S31, P9  writers first in, first out; no request is overtaken more often than allowed
//   S32           a request for all gets all, a request for any gets one; none passes a barrier
//   S24           a name is not granted while its former holder may not know of its loss
//   S8, S9        nor before its min_hold is over, nor without a lock_delay after a loss; a
//   max_hold
//                 counts from when its node knew of the hold
//   S36           a value is written by a holder
//   S30           a request that conflicts with none does not wait
//   S15, S34      a slot of a semaphore has one holder, and its tokens rise; no permit is granted
//                 above the limit; the first waiter for permits gets them first
//   S35           each count of a latch counts once; nobody passes above zero, and who waits passes
//                 at zero
//   S35           nobody passes a barrier before all have arrived; it breaks when a session ends
//   that
//                 has arrived and not dropped, or gives up
//   S50           a session holds or waits for nothing that its access does not allow, and what is
//                 refused is not allowed
//   eras          end all sessions, no other one opens for a time, and later tokens are above the
//                 ceiling
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/outcome.hpp"
#include "tests/spec/overtaken.hpp"

namespace mortise::spec {

class History {
public:
    // The next entry begins an era.
    void begin_era() { begins_era_ = true; }
    // One entry. `listing` has all names afterwards; `is_swept`: no traces of ended sessions.
    void step(core::LogIndex index, const std::vector<core::Command>& batch,
              const core::Outcomes& outcomes, const std::vector<core::LockView>& listing,
              bool is_swept);

    // The first violation; empty if there is none.
    [[nodiscard]] const std::string& violation() const { return violation_; }

private:
    struct SessionLife {
        std::uint64_t nonce = 0;
        std::uint64_t renewal = 0;
        core::LogIndex received;
        core::Seq applied;   // the newest request that was applied
        core::Seq answered;  // the newest request that was answered at once
        bool has_ended = false;
        core::Access access{};
    };
    struct GivenAnswer {
        core::LogIndex at;
        core::Answer answer;
    };
    // What an acquire requests of one of its names.
    struct Wanted {
        std::string name;
        core::LockMode mode = core::LockMode::exclusive;
        bool wait = true;
        bool policy_given = false;
        std::string label;
        core::Priority priority = 0;
        core::LockerTag locker;
        std::uint32_t cached_tokens = 0;
        core::QueuePolicy policy = core::QueuePolicy::phase_fair;
        std::uint32_t permits = 0;
        std::uint32_t limit = 0;
    };
    struct Waiter {
        core::OperationId operation;
        Wanted wanted;
        core::LogIndex since;
        Overtaken overtaken;
        bool is_barrier = false;
    };
    struct Upgrading {
        core::OperationId operation;
        core::OperationId hold;
        core::LogIndex since;
    };
    struct Name {
        std::vector<core::Grant> holders;
        std::vector<core::Grant> closed;  // former holds that keep the name closed
        std::optional<Upgrading> upgrade;
        std::vector<Waiter> queue;
        bool has_priorities = false;  // a request ever had a priority
        // The newest of all times.
        core::FencingToken newest;
        core::LockMode newest_mode = core::LockMode::exclusive;
        std::array<core::FencingToken, 6> newest_in_mode{};
        // Of a semaphore: the largest limit in this entry, and the newest token of each slot.
        std::uint32_t limit = 0;
        std::map<std::uint32_t, core::FencingToken> newest_of_slot;
        // Of a latch: what remains, by the counts that were answered. It may be gone by now.
        std::optional<std::uint32_t> remaining;
        // Of a barrier: how many must arrive, and who has, in the present phase.
        std::optional<std::uint32_t> parties;
        std::set<core::OperationId> arrived;
        std::set<core::OperationId> dropped;  // of these
        std::set<core::OperationId> to_pass;  // the phase ended, and they were not answered yet
        bool is_broken = false;
    };

    void need(bool holds, const char* what, const std::string& more);
    void on(const core::SessionOpened& opened);
    void on(const core::OpenRefused& refused);
    void on(const core::SessionRenewed& renewed);
    void on(const core::RenewalLost& lost);
    void on(const core::SessionEnded& ended);
    void on(const core::Queued& queued);
    void on(const core::Answered& answered);
    void on(const core::LockBroken& broken);
    void on(const core::ReleaseAsked& asked);
    void on(const core::SessionEvicted& evicted);
    void on(const core::ClosureBegun& begun);
    void on(const core::ClosureEnded& ended);
    void on_lost(core::OperationId operation);
    void on_stored(core::OperationId operation);
    void on_counted(core::OperationId operation, const core::CountDown& request);
    void on_passed(core::OperationId operation);
    void on_arrived(core::OperationId operation, const core::Arrive& request);
    void on_broken_barrier(core::OperationId operation);
    void forget_barrier(Name& name);
    void judge_barrier(const core::LockView& view, const Name& name);
    void on_repeat(const GivenAnswer& given, const core::Answered& answered);
    void on_granted(core::OperationId operation, const core::Answer& answer);
    void grant_one(core::OperationId operation, const Wanted& wanted, core::FencingToken token,
                   std::uint32_t cached = 0, const core::Slots& slots = {});
    [[nodiscard]] bool recalls(core::OperationId operation, const std::vector<Wanted>& wanted);
    void on_released(core::OperationId operation);
    void on_cancelled(core::OperationId operation);
    void on_not_held(core::OperationId operation);
    void on_busy(core::OperationId operation);
    void on_converted(core::OperationId operation, core::FencingToken token);
    void on_upgraded(core::OperationId operation, core::OperationId hold, core::FencingToken token);
    void on_deadlock(core::OperationId operation, const core::Answer& answer);
    void on_refused(core::OperationId operation, core::AnswerKind kind);
    void on_denied(core::OperationId operation);
    [[nodiscard]] bool may(core::SessionId session, core::Right right, const std::string& name);
    void queue_upgrade(core::OperationId operation);

    void make_way(const std::string& called, Name& name, const core::Grant& grant);
    void judge_closures(const std::string& called, const Name& name, const core::Grant& grant);
    void judge_token(Name& name, const core::Grant& grant);
    void judge_permits(Name& name, const core::Grant& grant, const Wanted& wanted);
    void judge_permits(const std::string& called, const Name& name);
    void judge_overtaking(Name& name, const core::Grant& grant, core::Priority priority);
    void judge_listing(const std::vector<core::LockView>& listing);
    void judge_waiting();
    void take(const core::Request& request);
    void judge_order(core::OperationId operation);
    void judge_answers(const std::vector<core::Command>& batch, const core::Outcomes& outcomes);

    [[nodiscard]] bool is_live(core::SessionId session) const;
    // The names that it requests; none if it is not an acquire.
    [[nodiscard]] std::vector<Wanted> wanted_by(core::OperationId operation) const;
    [[nodiscard]] bool wants_all(core::OperationId operation) const;
    template <class Body>
    [[nodiscard]] const Body* body_of(core::OperationId operation) const;
    // The name that it holds; null if it holds none.
    [[nodiscard]] Name* name_of_hold(core::OperationId hold);
    [[nodiscard]] static core::Grant& grant_on(Name& name, core::OperationId hold);
    [[nodiscard]] core::OperationId target_of(core::OperationId operation) const;
    [[nodiscard]] bool is_held(core::OperationId operation) const;
    [[nodiscard]] bool is_queued(core::OperationId operation) const;
    // False if there was no such holder. `is_lost`: the hold was lost, so a lock_delay begins.
    bool remove_holder(core::OperationId operation, bool is_lost);
    // A holder of that name leaves, by itself or with its session.
    void depart(const std::string& name, Name& state, const core::Grant& grant, bool is_lost);
    bool remove_waiter(core::OperationId operation);

    std::map<core::SessionId, SessionLife> sessions_;
    std::map<std::uint64_t, core::Access> access_by_nonce_;  // of the first opening
    std::map<core::OperationId, core::Request> requests_;
    std::map<core::OperationId, GivenAnswer> answers_;
    std::map<std::string, Name> names_;
    std::map<std::string, core::QueuePolicy> policies_;  // as listed; of a new one, as asked for
    std::set<std::string> semaphores_;                   // as listed
    bool has_kinds_ = false;                             // semaphores or latches, or had
    bool is_one_command_ = true;                         // the entry
    std::set<core::OperationId> cancels_;                // requests that a Cancel names
    // An entry may report the grant before the release that made it possible.
    using HoldOnName = std::pair<std::string, core::OperationId>;
    using Kind = core::Closure::Kind;
    struct Counting {
        Kind kind = Kind::broken;
        HoldOnName who;
    };
    [[nodiscard]] bool is_counted(const HoldOnName& who, const std::set<Kind>& kinds) const;
    [[nodiscard]] core::HoldTerms terms_of(core::OperationId operation) const;
    void end_by_cluster(const HoldOnName& who);
    void note_ending(const core::ClosureEnded& ended);
    std::set<HoldOnName> closing_;      // broken, and reported so far
    std::set<HoldOnName> delays_owed_;  // lost, with a lock_delay that has not begun
    std::map<HoldOnName, core::Grant> departed_;
    std::map<core::ClosureId, Counting> closures_;
    std::set<core::OperationId> unconfirmed_;    // broken, or ended by the cluster
    std::map<core::OperationId, bool> leaving_;  // released in this entry: true if lost
    std::set<core::OperationId> ending_;         // whose max_hold ends in this entry
    std::set<core::OperationId> left_;           // of these, already gone
    core::FencingToken newest_;
    core::FencingToken ceiling_;      // the greatest ever
    core::FencingToken era_ceiling_;  // at the newest era: later tokens are above it
    bool begins_era_ = false;         // the entry
    core::ClosureId era_closure_;     // no session opens
    core::LogIndex index_;
    std::string violation_;
};

}  // namespace mortise::spec
