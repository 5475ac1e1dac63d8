// The judge of locks: told of what every node applies and of what its program asks and is told.
//
//   (1) every outcome is what the specification says of the same log, at every node (witness
//   replay); (2) real time: a call takes effect behind everything that was answered before it was
//   asked; (3) no two processes believe in conflicting holds of a name at the same true time (P3),
//   while the
//       clocks keep their bounds;
//   (4) every call is answered at most once, a grant is told to whom it was given and to nobody
//   else; (5) tokens of a name rise with every conflicting grant, for ever (P1).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/node/effects.hpp"
#include "tests/sim/tally.hpp"
#include "tests/sim/violations.hpp"
#include "tests/spec/lock_spec.hpp"

namespace mortise::sim {

class LockHistory {
public:
    struct Clocks {
        // What the boot clock of a node shows now.
        std::function<core::Instant(core::NodeId)> boot;
        // Has this holder's clock been slow beyond the bound, or a majority's fast? Then (3) is not
        // promised.
        std::function<bool(core::NodeId)> out_of_bounds;
    };
    LockHistory(Violations& violations, Tally& tally, Clocks clocks);

    void node_lost(core::NodeId node);
    void lost(core::NodeId node, const core::HoldLost& lost);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease);
    void applied(core::NodeId node, const core::Applied& applied);

    void asked(core::NodeId node, const core::AcquireCall& call);
    void inspected(core::NodeId node, const core::InspectCall& call);
    // What is believed ends before the release is sent.
    void releasing(core::NodeId node, core::OperationId hold);
    void answered(core::NodeId node, const core::CallAnswer& answer, core::LogIndex applied);

    [[nodiscard]] const spec::LockSpec& specification() const { return spec_; }
    [[nodiscard]] core::LogIndex last() const { return last_; }
    // Requires that it was granted.
    [[nodiscard]] const std::string& name_of(core::OperationId hold) const {
        return given_.at(hold).name;
    }

private:
    struct Asked {
        core::NodeId node;
        core::Acquire request;  // of an AcquireCall
        core::LogIndex floor;   // everything up to here was answered before this was asked
        bool acquires = false;
    };
    struct Believed {
        core::NodeId node;
        std::string name;
        core::LockMode mode = core::LockMode::exclusive;
    };
    struct Given {
        std::string name;
        core::LockMode mode = core::LockMode::exclusive;
        core::FencingToken token;
        core::LogIndex asked_at;  // where the Acquire stands in the log
        core::LogIndex given_at;
    };
    struct Newest {
        core::FencingToken any;
        core::FencingToken writer;
    };

    void specify(core::NodeId node, const core::Applied& applied);
    void remember(const std::vector<core::Command>& batch, const core::Applied& applied);
    void check_token(const Given& given);
    void acquired(core::NodeId node, const Asked& asked, const core::Acquired& acquired);
    void check_believed(core::OperationId hold);
    [[nodiscard]] bool is_believed(core::OperationId hold, const Believed& believed) const;
    void report(core::NodeId node, std::string what) { violations_.report(node, std::move(what)); }

    Violations& violations_;
    Tally& tally_;
    Clocks clocks_;
    spec::LockSpec spec_;
    core::LogIndex last_;
    std::map<core::LogIndex, std::uint64_t> digests_;  // of the outcomes, by the first to apply
    std::map<core::OperationId, Given> given_;
    std::map<core::OperationId, core::Acquire> requests_;
    std::map<core::OperationId, core::LogIndex> placed_;
    std::map<std::string, Newest> newest_;
    core::LogIndex answered_up_to_;
    std::map<std::pair<core::NodeId, core::CallTag>, Asked> asked_;
    std::map<core::OperationId, Believed> believed_;
    std::map<core::SessionId, core::Instant> valid_until_;
};

}  // namespace mortise::sim
