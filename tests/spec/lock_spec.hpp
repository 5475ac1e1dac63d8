// The executable specification of the lock machine: the rules as written, over lists that are
// searched from the front. The random tests compare the machine with it. It was written from the
// rules, not from core/locks, of which it uses only the vocabulary.
//
// What the rules leave open is decided here, so that histories can be compared:
// - a command is answered first, then the requests that it lets in are granted (see same());
// - the dead holders of a name leave in the order in which they had been granted;
// - a Sweep visits the names with waiters in byte order, from the beginning after each ending; then
//   the names of what the ended sessions still have, by session and number;
// - it ends in the middle of a name when it has removed enough: waiters first, then holders, and
//   nothing is granted before all dead sessions of the name are removed.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::spec {

// Equal as far as the rules order them: the order of grants among each other and of the other
// outcomes among each other; no rule orders the ends of quorum timers.
[[nodiscard]] bool same(const core::Outcomes& a, const core::Outcomes& b);

class LockSpec {
public:
    core::Outcomes apply(core::LogIndex index, const std::vector<core::Command>& batch);
    core::Outcomes begin_era(core::LogIndex index);

    // As in LockMachine.
    [[nodiscard]] bool needs_sweep() const { return has_dead_ && first_dead().seq.is_set(); }
    [[nodiscard]] bool would_grant(std::string_view name, core::LockMode mode,
                                   core::Priority priority = 0) const;
    [[nodiscard]] bool would_grant_permits(const core::Acquire& request) const;
    [[nodiscard]] core::LockView inspect(std::string_view name) const;
    [[nodiscard]] std::vector<core::LockView> list(std::string_view prefix, std::string_view after,
                                                   std::size_t limit) const;
    [[nodiscard]] core::NodeId node_of(core::SessionId session) const;
    // The policy of a name with holders or waiters.
    [[nodiscard]] core::QueuePolicy policy_of(std::string_view name) const;
    // The number of places in all queues.
    [[nodiscard]] std::size_t waiters() const;

    [[nodiscard]] core::FencingToken newest_token() const { return newest_token_; }
    [[nodiscard]] core::ClosureId newest_closure() const { return newest_closure_; }
    // The quorum timer that keeps the cluster closed; not set if none does.
    [[nodiscard]] core::ClosureId era_closure() const { return era_closure_; }
    [[nodiscard]] std::uint64_t eras() const { return eras_; }
    [[nodiscard]] core::FencingToken token_ceiling() const { return token_ceiling_; }
    [[nodiscard]] std::vector<core::SessionId> live_sessions() const;
    // For a live session.
    [[nodiscard]] core::LogIndex renewed_at(core::SessionId session) const;
    [[nodiscard]] std::uint64_t renewal_number(core::SessionId session) const;
    // The newest request that was applied.
    [[nodiscard]] core::Seq applied(core::SessionId session) const;

private:
    struct KeptAnswer {
        core::LogIndex at;
        core::Seq seq;
        core::Answer answer;
    };
    struct Session {
        core::SessionId id;
        core::OpenSession opened;
        core::LogIndex renewed_at;
        std::uint64_t renewal_number = 0;
        core::Seq applied;  // the newest request that was applied
        std::vector<KeptAnswer> answers;
        std::size_t answer_bytes = 0;
        std::optional<core::SessionEnd> ended;
    };
    struct Hold {
        std::string name;
        core::Grant grant;
    };
    using Waiting = core::LockView::Waiting;
    enum class Part : std::uint8_t { alone, one_of, all_of };
    using Names = std::set<std::string>;
    struct Wait {
        std::string name;
        Waiting waiting;
        std::uint64_t number = 0;     // the order of arrival
        std::uint64_t overtaken = 0;  // by requests that count (S29)
        Part part = Part::alone;
        core::HoldTerms terms{};
        std::uint32_t cached_tokens = 0;
    };
    using Places = std::list<Wait>;
    using Queue = std::vector<const Wait*>;
    enum class Turn : std::uint8_t { writers, readers };
    using LockerKey = std::pair<core::SessionId, std::uint64_t>;
    // One of the parties of a barrier that has arrived, now or in an earlier phase.
    struct Party {
        core::SessionId session;
        bool has_arrived = false;
        bool drops = false;
    };
    struct Meeting {
        std::uint32_t parties = 0;
        std::uint64_t phase = 0;
        bool is_broken = false;
        std::vector<Party> known;
    };
    struct Record {
        std::string name;
        core::QueuePolicy policy = core::QueuePolicy::phase_fair;
        Turn turn = Turn::writers;
        core::Previous previous;
        core::FencingToken newest_token;
        core::LockMode newest_mode = core::LockMode::exclusive;
        std::optional<core::LockValue> value;
        std::optional<core::Semaphore::View> limit;  // of a semaphore
        std::optional<core::Latch::View> latch;      // if it is one
        std::optional<Meeting> barrier;              // if it is one
    };
    // A quorum timer.
    struct Closing {
        core::ClosureId id;
        core::Closure::Kind kind = core::Closure::Kind::broken;
        std::string name;
        core::OperationId hold;
    };

    void on(const core::OpenSession& command);
    void on(const core::Renew& command);
    void on(const core::Expire& command);
    void on(const core::Sweep& command);
    void on(const core::Acknowledge& command);
    void on(const core::Request& command);
    void on(const core::EndClosure& command);
    void on(const core::Clock& /*command*/) {}  // time decides nothing
    void on(const core::RaiseCeiling& command);
    void on(core::OperationId operation, const core::Release& release);
    void on(core::OperationId operation, const core::Cancel& cancel);
    void on(core::OperationId operation, const core::Downgrade& downgrade);
    void on(core::OperationId operation, const core::Upgrade& upgrade);
    void on(core::OperationId operation, const core::Acquire& request);
    void on(core::OperationId operation, const core::SetValue& request);
    void on(core::OperationId operation, const core::MarkConsistent& request);
    void on(core::OperationId operation, const core::BreakLock& request);
    void on(core::OperationId operation, const core::EvictSession& request);
    void on(core::OperationId operation, const core::AskRelease& request);
    void on(core::OperationId operation, const core::Publish& request);
    void on(core::OperationId operation, const core::Resize& request);
    void on(core::OperationId operation, const core::Remove& request);
    void on(core::OperationId operation, const core::CountDown& request);
    void on(core::OperationId operation, const core::AwaitLatch& request);
    void on(core::OperationId operation, const core::Arrive& request);
    void on(core::OperationId operation, const core::Quit& request);
    void on(core::OperationId operation, const core::Declined& request);
    void on(core::OperationId operation, const core::CloseSession& request);
    void repeat(const Session& session, core::OperationId operation);
    // S50.
    [[nodiscard]] static bool is_allowed(const core::Access& access, const core::RequestBody& body);
    void end_command();

    [[nodiscard]] const Session* find_session(core::SessionId id) const;
    [[nodiscard]] Session* live(core::SessionId id);
    [[nodiscard]] const Session* live(core::SessionId id) const;
    [[nodiscard]] bool is_too_much(const Session& session, const core::RequestBody& body) const;
    [[nodiscard]] std::size_t operations_of(const Session& session) const;
    [[nodiscard]] static std::size_t bytes_of(const core::Answer& answer);
    void end(Session& session, core::SessionEnd how);
    void answer(core::OperationId operation, core::Answer answer);

    [[nodiscard]] Record* find_record(std::string_view name);
    [[nodiscard]] bool create(const Names& names, const core::Acquire& request,
                              const std::map<std::string, core::Previous>& last);
    // Empty if the name is a latch now, or else the refusal.
    std::optional<core::AnswerKind> make_latch(const std::string& name, std::uint32_t expected,
                                               std::uint32_t count);
    bool pass(const std::string& name);
    void answer_waiters(const std::string& name, core::AnswerKind kind);
    void break_barrier(Record& record);
    [[nodiscard]] static bool depends_on(const Record& record, core::SessionId session);
    [[nodiscard]] std::size_t barriers_of(core::SessionId session) const;
    [[nodiscard]] bool is_left_by_too_many(const Names& names, const core::HoldTerms& terms) const;
    [[nodiscard]] bool is_mismatch(const std::string& name, const core::Acquire& request) const;
    [[nodiscard]] Names held_names(core::OperationId operation) const;
    [[nodiscard]] Names waited_names(core::OperationId operation) const;
    void grant_all(core::OperationId operation);
    bool serve_barrier(core::OperationId operation);
    Names step(const std::string& name);
    [[nodiscard]] std::vector<core::Grant> holders(std::string_view name) const;
    [[nodiscard]] bool is_unused(std::string_view name) const;
    [[nodiscard]] const Places& places_on(std::string_view name) const;
    // Without an upgrade, in the order of arrival.
    [[nodiscard]] Queue queue(std::string_view name) const;
    [[nodiscard]] const Wait* front_of(std::string_view name) const;
    [[nodiscard]] static Queue as_served(const Record& record, Queue all);
    // In the order of service.
    [[nodiscard]] Queue ranked(const Record& record) const;
    [[nodiscard]] bool admits(std::string_view name, core::LockMode mode) const;
    [[nodiscard]] core::Slots slots_of(std::string_view name) const;
    [[nodiscard]] bool fits(const Record& record, const Wait& wait) const;
    [[nodiscard]] bool writer_holds(std::string_view name) const;

    [[nodiscard]] core::FencingToken token_for(Record& record, core::LockMode mode);
    core::NamedGrant hold(Record& record, const Wait& wait);
    void refuse_reader_that_upgrades(std::string name);
    void refuse_tries(std::string name);
    [[nodiscard]] bool recalls_others(const Hold& hold) const;
    [[nodiscard]] bool recalls(const std::string& name, core::LockMode mode) const;
    void enter(Record& record, const Wait& wait);
    void count_overtaking(std::string_view name, std::uint64_t number);
    void enter_all(Record& record, const Queue& entering);
    bool take_turn(Record& record, const Queue& waiting);
    bool enter_unhindered(Record& record, const Queue& waiting);
    void set_label_if_none(core::Grant& grant);
    void leave(core::OperationId operation, const std::string& name, core::Predecessor how);
    void stand(Wait wait);
    void go(core::OperationId operation, const std::string& name, core::Predecessor how);
    // In terms_spec.cpp: S8, S9.
    [[nodiscard]] core::HoldTerms counted(core::OperationId operation,
                                          const core::HoldTerms& terms) const;
    void begin_terms(Hold& hold, const core::HoldTerms& terms);
    void begin(const Hold& hold, core::Closure::Kind kind);
    void end(core::ClosureId closure);
    void end_all(core::OperationId hold, const std::string& name,
                 const std::set<core::Closure::Kind>& kinds);
    [[nodiscard]] bool is_kept(core::OperationId hold, std::string_view name) const;
    // Why a former hold keeps the name closed.
    [[nodiscard]] std::set<core::Closure::Kind> closed_by(const core::Grant& grant,
                                                          std::string_view name) const;
    // For a hold of an ended session: whether it will keep the name closed after it is cleared.
    [[nodiscard]] bool is_to_stay(const core::Grant& grant, std::string_view name) const;
    [[nodiscard]] std::optional<Closing> find_closing(core::ClosureId id) const;
    void count_max_holds(const Session& session, core::LogIndex received);
    bool open(const std::string& name, core::FencingToken token);
    void withdraw(core::OperationId operation);
    void withdraw(core::OperationId operation, const std::string& name);
    void settle(Names names);
    core::Previous clear(const std::string& name);
    void remove(const std::vector<core::OperationId>& dead, const std::string& name,
                std::size_t max);
    [[nodiscard]] bool is_dead(core::OperationId operation) const;
    [[nodiscard]] std::vector<core::OperationId> dead_on(std::string_view name) const;
    [[nodiscard]] core::OperationId first_dead() const;
    [[nodiscard]] std::string name_of(core::OperationId operation) const;
    void clear_name_of(core::OperationId operation);
    // A broken hold is not found (S24).
    [[nodiscard]] Hold* find_hold(core::OperationId operation);
    [[nodiscard]] Hold& find_hold(core::OperationId operation, std::string_view name);
    [[nodiscard]] const Wait* upgrade_on(std::string_view name) const;
    [[nodiscard]] std::optional<core::OperationId> upgrade_of(core::OperationId hold) const;
    void give_back(core::OperationId operation, core::OperationId hold, core::AnswerKind kind,
                   core::Predecessor how);
    [[nodiscard]] core::AnswerKind may_write(core::OperationId hold, const std::string& name);
    void cancel_upgrade_of(core::OperationId hold);
    void close(const std::string& name, core::OperationId hold);
    void make_exclusive(Hold& hold);
    bool serve_upgrade(Record& record);
    // S33; in deadlock_spec.cpp.
    void refuse_deadlocks();
    [[nodiscard]] bool is_anybody_tied() const;
    [[nodiscard]] Queue in_order(const Record& record) const;
    [[nodiscard]] core::CycleStep cycle_step(const Waiting& waiting, std::string_view name) const;
    class WaitGraph;

    [[nodiscard]] std::optional<std::string> next_waited(std::string_view after) const;
    [[nodiscard]] LockSpec for_trial() const;

    std::vector<Session> sessions_;  // all of them, including ended ones
    std::vector<Record> records_;
    std::vector<Hold> holds_;  // in the order of their grants
    // an upgrade first, then in the order of arrival
    std::map<std::string, Places, std::less<>> queues_;
    std::map<core::OperationId, Names> waited_;  // the same by operation
    std::uint64_t waits_ever_ = 0;
    bool has_dead_ = false;     // a dead session holds or waits, or did
    bool has_lockers_ = false;  // a request has a locker, or had
    Names moved_;               // by the current step
    core::FencingToken newest_token_;
    std::set<core::OperationId> broken_;  // and not confirmed
    std::vector<Closing> closing_;
    core::ClosureId newest_closure_;
    std::uint64_t eras_ = 0;
    core::FencingToken token_ceiling_;
    core::ClosureId era_closure_;

    bool waited_done_ = true;
    std::string waited_cursor_;

    core::LogIndex index_;
    core::OperationId asked_;  // requested by the command, and waiting
    core::Outcomes outcomes_;
};

}  // namespace mortise::spec
