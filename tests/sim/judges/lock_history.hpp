// The judge of locks: told of what every node applies and of what its program asks and is told.
//
//   (1) every outcome is what the specification says of the same log, at every node (witness
//       replay);
//   (2) real time: a call takes effect behind everything that was answered before it was asked;
//   (3) no two processes believe in conflicting holds of a name at the same true time (beliefs);
//   (4) every call is answered at most once, a grant or a conversion is told to whom it was given
//       and to nobody else;
//   (5) tokens rise, and nobody is passed too often (log_book);
//   (6) what its lease takes along is lost or suspended as was asked for, and a confirmation is
//       true (suspensions);
//   (7) no circle of lockers stands (circles), and who is told of one was refused for it;
//   (8) what was written, or broken, is in the log behind where it was asked for, and what was
//       refused is not;
//   (9) a hold with a max_hold is over so long after it was told, and not believed beyond.
// A name that was broken without waiting for its holder is nobody's in (3): that is what is said of
// such a break (S24).
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
    // A lease lasts for `trust` from when its renewal was sent.
    LockHistory(Violations& violations, Tally& tally, Clocks clocks, core::Nanoseconds trust);

    void node_lost(core::NodeId node);
    void lost(const core::HoldLost& lost);
    void suspended(core::NodeId node, core::OperationId hold);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease);
    void applied(core::NodeId node, const core::Applied& applied);

    void asked(core::NodeId node, const core::AcquireCall& call);
    void asked(core::NodeId node, const core::UpgradeCall& call);
    // From now on it is not used as before (S27).
    void asked(core::NodeId node, const core::DowngradeCall& call);
    void asked(core::NodeId node, const core::ConfirmCall& call);
    void asked(core::NodeId node, const core::WriteCall& call);
    void inspected(core::NodeId node, const core::InspectCall& call);
    // What is believed ends before the release is sent.
    void releasing(core::OperationId hold);
    void answered(core::NodeId node, const core::CallAnswer& answer, core::LogIndex applied);

    // For something that it does not have.
    [[nodiscard]] bool is_asking(core::NodeId node) const;
    [[nodiscard]] const spec::LockSpec& specification() const { return spec_; }
    [[nodiscard]] core::LogIndex last() const { return last_; }
    [[nodiscard]] const LogBook& book() const { return book_; }

private:
    struct Asked {
        core::LogIndex floor;                     // everything up to here was answered before
        core::ShortList<core::NamedMode> wanted;  // of an acquire
        core::OperationId hold;                   // of a conversion
        bool upgrades = false;
        std::optional<core::LockMode> former{};  // before a downgrade, as it was believed
        bool suspends = false;                   // the hold that comes of it
        std::string written{};                   // as LogBook::written_at() has it
        std::uint32_t max_hold_ms = 0;           // of the hold that comes of it; zero: none
    };

    void specify(core::NodeId node, const core::Applied& applied);
    void on(core::NodeId node, const Asked& asked, const core::Acquired& acquired);
    void on(core::NodeId node, const Asked& asked, const core::Converted& converted);
    void on(core::NodeId node, const Asked& asked, core::CallError error);
    void on(core::NodeId node, const Asked& asked, const core::Deadlocked& deadlocked);
    void on(core::NodeId node, const Asked& asked, core::Written);
    void check_circles(core::NodeId node, core::LogIndex index);
    void check_read(core::NodeId node, const Asked& asked, core::LogIndex applied);
    void check_view(core::NodeId node, const core::Viewed& viewed);
    void report(core::NodeId node, std::string what) { violations_.report(node, std::move(what)); }

    Violations& violations_;
    Tally& tally_;
    Clocks clocks_;
    LogBook book_;
    Beliefs beliefs_;
    Suspensions suspensions_;
    spec::LockSpec spec_;
    core::LogIndex last_;
    std::map<core::LogIndex, std::uint64_t> digests_;  // of the outcomes, by the first to apply
    core::LogIndex answered_up_to_;
    std::map<std::pair<core::NodeId, core::CallTag>, Asked> asked_;
};

}  // namespace mortise::sim
