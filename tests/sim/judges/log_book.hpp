// What the log says about requests: where each was queued, what it was granted and when. It judges
// what is visible in the log alone: the tokens of a name rise with every conflicting grant (P1),
// and no request is overtaken more often than the rules allow (P9).
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/locks/outcome.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/sim/judges/barrier_book.hpp"
#include "tests/sim/judges/fairness.hpp"
#include "tests/sim/judges/latch_book.hpp"
#include "tests/sim/judges/repeats.hpp"

namespace mortise::sim {

class LogBook {
public:
    struct GivenName {
        std::string name;
        core::LockMode mode = core::LockMode::exclusive;
        core::FencingToken token;
        std::uint32_t cached_tokens = 0;  // that it reserves, from `token` on (S39)
        core::Slots slots{};              // of a semaphore

        [[nodiscard]] bool has_token(core::FencingToken other) const {
            return other == token || (other > token && other.raw() - token.raw() < cached_tokens);
        }
    };
    struct Given {
        std::vector<GivenName> names;  // as they are held now
        core::LogIndex asked_at;       // the position of the request in the log
        core::LogIndex given_at;
    };
    struct Conversion {
        core::OperationId hold;
        core::FencingToken token;
        core::LogIndex at;
    };

    LogBook(Violations& violations, Tally& tally)

        : violations_{violations},
          tally_{tally},
          fairness_{violations, tally},
          repeats_{tally},
          latches_{violations, tally},
          barriers_{violations, tally} {}

    // The next entry, and its outcomes.
    void read(core::LogId entry, const std::vector<core::Command>& batch,
              const core::Outcomes& outcomes);
    // An entry that begins an era.
    void begin_era(core::LogId entry, const core::Outcomes& outcomes);
    void learn_policies(const Fairness::PolicyOf& policy_of) {
        fairness_.learn_policies(policy_of);
    }

    // Null if it was never granted.
    [[nodiscard]] const Given* find(core::OperationId hold) const;
    // When that hold last got, or kept, this token by a conversion; not set: never.
    [[nodiscard]] core::LogIndex converted_at(core::OperationId hold,
                                              core::FencingToken token) const;
    // When a hold, or its session, ended; not set: it has not.
    [[nodiscard]] core::LogIndex ended_at(core::OperationId hold) const;
    [[nodiscard]] core::LogIndex ended_at(core::SessionId session) const;
    // Whether its node has closed it.
    [[nodiscard]] bool was_closed(core::SessionId session) const {
        return closed_.contains(session);
    }
    // When a request was last refused for this cycle, which begins with the refused locker; not
    // set: never.
    [[nodiscard]] core::LogIndex refused_at(const std::vector<core::CycleStep>& cycle) const;
    // Identifies this write or break among all others; empty if nothing does.
    [[nodiscard]] static std::string written_by(const core::RequestBody& body);
    // The entry in which it took effect; not set: none.
    [[nodiscard]] core::LogIndex written_at(const std::string& what) const;
    // Names that were taken from holds without waiting for their nodes (S24).
    using Opened = std::set<std::pair<core::OperationId, std::string>>;
    [[nodiscard]] const Opened& opened() const { return opened_; }
    // Whether any request had a locker.
    [[nodiscard]] bool has_lockers() const { return has_lockers_; }
    // The time limits that were requested for a hold; none, if none were.
    [[nodiscard]] core::HoldTerms terms_of(core::OperationId hold) const;
    // Whether its node released it as lost (S6) although it was not broken and has no max_hold.
    [[nodiscard]] bool was_given_up(core::OperationId hold) const {
        return given_up_.contains(hold);
    }
    // Whether its node has released it, in whatever way.
    [[nodiscard]] bool was_released(core::OperationId hold) const { return let_go_.contains(hold); }
    [[nodiscard]] bool takes_any(core::OperationId operation) const;
    [[nodiscard]] LatchBook& latches() { return latches_; }
    // The entry in which a wait or an arrival with this label passed; not set: none.
    [[nodiscard]] core::LogIndex passed_at(const std::string& label) const {
        return std::max(latches_.passed_at(label), barriers_.passed_at(label));
    }

private:
    struct Refused {
        core::LogIndex at;
        std::vector<core::CycleStep> cycle;
    };
    struct Newest {
        core::FencingToken any;
        core::FencingToken writer;
    };

    void on_queued(core::OperationId operation);
    void on_answered(core::OperationId operation, const core::Answer& answer);
    void on_granted(core::OperationId operation, const core::Answer& answer);
    void grant(Given& given, core::OperationId operation, const core::NamedGrant& grant,
               std::uint32_t cached_tokens = 0);
    void on_published(core::OperationId operation, const core::Publish& as);
    void on_converted(core::OperationId operation, const core::Answer& answer);
    void on_passed(core::OperationId operation);
    void on_deadlock(core::OperationId operation, const core::Answer& answer);
    void on_released(core::OperationId operation);
    void on_written(core::OperationId operation);
    void on_broken(const core::LockBroken& broken);
    void probe_end(core::ClosureId closure);
    void on_broken_at_once(const core::BreakLock& request);
    void probe_refusal(core::OperationId operation, core::AnswerKind kind);
    void probe_locker(core::OperationId operation, const Given& given);
    [[nodiscard]] std::uint64_t locker_of(core::OperationId operation) const;
    void read_era(const core::Outcome& outcome);
    void check_token(const GivenName& given);
    void check_slots(const GivenName& given);
    void note_limit(const std::string& name, std::uint32_t limit);
    template <class Body>
    [[nodiscard]] const Body* body_of(core::OperationId operation) const;
    // The names that an acquire of any kind requests.
    [[nodiscard]] std::map<std::string, Fairness::Wish> wishes_of(
        core::OperationId operation) const;
    void report(std::string what) { violations_.report({}, std::move(what)); }

    Violations& violations_;
    Tally& tally_;
    Fairness fairness_;
    Repeats repeats_;
    LatchBook latches_;
    BarrierBook barriers_;
    core::LogIndex index_;
    // the newest request of each session that had its turn
    std::map<core::SessionId, core::Seq> taken_;
    std::map<core::OperationId, core::RequestBody> requests_;  // these requests
    std::map<core::OperationId, core::LogIndex> placed_;       // those that waited
    std::map<core::OperationId, Given> given_;
    std::map<core::OperationId, Conversion> conversions_;
    std::set<core::OperationId> refused_;
    std::set<core::OperationId> removed_;  // removals that took effect
    std::map<core::OperationId, Refused> deadlocks_;
    std::map<core::OperationId, core::LogIndex> released_;
    std::set<core::OperationId> let_go_;
    std::set<core::OperationId> given_up_;
    std::map<core::SessionId, core::LogIndex> ended_;
    std::set<core::SessionId> closed_;
    std::map<std::string, std::pair<core::OperationId, core::LogIndex>> written_;
    Opened opened_;
    std::map<core::ClosureId, core::Closure::Kind> closures_;
    core::FencingToken ceiling_;      // the greatest in the log
    core::FencingToken era_ceiling_;  // the same at the newest era: later tokens are above it
    core::ClosureId era_closure_;     // no session opens
    bool has_lockers_ = false;
    std::map<std::string, Newest> newest_;
    std::map<std::string, std::uint32_t> limits_;  // the largest that was ever asked for
    std::map<std::pair<std::string, std::uint32_t>, core::FencingToken> newest_of_slot_;
};

}  // namespace mortise::sim
