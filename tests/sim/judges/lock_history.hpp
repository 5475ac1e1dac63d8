// The judge of locks. It is informed of what every node applies, and of the calls and answers of
// its program.
//
//   (1) every outcome is that of the specification for the same log, at every node (witness
//       replay);
//   (2) real time: a call takes effect after everything that was answered before the call;
//   (3) no two processes regard conflicting holds of a name as valid at the same true time
//       (beliefs);
//   (4) every call is answered at most once, and a grant or a conversion is reported only to its
//       own caller;
//   (5) tokens rise, and no request is overtaken too often (log_book);
//   (6) a hold whose lease ends is lost or suspended as requested, and a confirmation is true
//       (suspensions);
//   (7) no wait cycle of lockers persists (wait_cycles), and a reported cycle was the reason of a
//       refusal;
//   (8) what was written, or broken, is in the log after the call, and what was refused is not;
//   (9) a hold with a max_hold ends so long after it was reported, and is not valid beyond.
//
// For (3), a name that was broken without waiting for its holder is free: such a break allows two
// valid holds (S24).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/node/effects.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/sim/judges/beliefs.hpp"
#include "tests/sim/judges/log_book.hpp"
#include "tests/sim/judges/suspensions.hpp"
#include "tests/spec/lock_spec.hpp"

namespace mortise::sim {

class LockHistory {
public:
    using Clocks = Beliefs::Clocks;
    // `trust` is how long a lease lasts from when its renewal was sent.
    LockHistory(Violations& violations, Tally& tally, Clocks clocks, core::Nanoseconds trust);

    void node_lost(core::NodeId node);
    void lost(const core::HoldLost& lost);
    void suspended(core::NodeId node, core::OperationId hold);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease);
    void applied(core::NodeId node, const core::Applied& applied);

    void asked(core::NodeId node, const core::AcquireCall& call);
    void asked(core::NodeId node, const core::UpgradeCall& call);
    // From now on the hold is not used in its former mode (S27).
    void asked(core::NodeId node, const core::DowngradeCall& call);
    void asked(core::NodeId node, const core::ConfirmCall& call);
    void asked(core::NodeId node, const core::WriteCall& call);
    void asked(core::NodeId node, const core::AwaitCall& call);
    void inspected(core::NodeId node, const core::InspectCall& call);
    // A caller of that node uses its cached grant from now on, with that token (S39).
    void took(core::NodeId node, core::OperationId grant, core::FencingToken token);
    // The hold is not valid any more before the release is sent.
    void releasing(core::OperationId hold);
    void answered(core::NodeId node, const core::CallAnswer& answer, core::LogIndex applied);

    // True if the node has a request for a name that it does not hold.
    [[nodiscard]] bool is_asking(core::NodeId node) const;
    [[nodiscard]] const spec::LockSpec& specification() const { return spec_; }
    [[nodiscard]] core::LogIndex last() const { return last_; }
    [[nodiscard]] const LogBook& book() const { return book_; }

private:
    struct Asked {
        core::LogIndex floor;  // everything up to here was answered before the call
        core::ShortList<core::NamedMode> wanted;  // of an acquire
        core::OperationId hold;                   // of a conversion
        bool upgrades = false;
        std::optional<core::LockMode> former{};  // before a downgrade, as its owner had it
        bool suspends = false;                   // the requested hold
        std::string written{};                   // as LogBook::written_at() has it
        std::uint32_t max_hold_ms = 0;           // of the requested hold; zero: none
        std::string label{};                     // of a wait, which it identifies
        std::string counts{};                    // the latch that it counts down
    };

    void specify_era(core::NodeId node, const core::Applied& applied);
    void specify(core::NodeId node, const core::Applied& applied);
    void on(core::NodeId node, const Asked& asked, const core::Acquired& acquired);
    void on(core::NodeId node, const Asked& asked, const core::Converted& converted);
    void on(core::NodeId node, const Asked& asked, core::CallError error);
    void on(core::NodeId node, const Asked& asked, const core::Deadlocked& deadlocked);
    void on(core::NodeId node, const Asked& asked, core::Written);
    void on(core::NodeId node, const Asked& asked, core::Passed);
    void believes(core::NodeId node, core::OperationId hold, std::vector<core::NamedMode> names,
                  core::Instant ends, core::Slots slots = {});
    [[nodiscard]] bool is_as_specified(core::Outcomes expected, core::Outcomes outcomes) const;
    void check_wait_cycles(core::NodeId node, core::LogIndex index);
    void check_read(core::NodeId node, const Asked& asked, core::LogIndex applied);
    void check_view(core::NodeId node, const core::Viewed& viewed);
    void check_origins(core::NodeId node, const core::LockView& seen);
    void report(core::NodeId node, std::string what) { violations_.report(node, std::move(what)); }

    Violations& violations_;
    Tally& tally_;
    Clocks clocks_;
    LogBook book_;
    Beliefs beliefs_;
    Suspensions suspensions_;
    spec::LockSpec spec_;
    core::LogIndex last_;
    // of the outcomes, by the first node that applied them
    std::map<core::LogIndex, std::uint64_t> digests_;
    core::LogIndex answered_up_to_;
    std::map<std::pair<core::NodeId, core::CallTag>, Asked> asked_;
    std::map<core::OperationId, core::FencingToken> taken_;  // of cached grants, the newest
};

}  // namespace mortise::sim
