// What a leader does by itself: it proposes what has gathered, sweeps, logs the checksum of its
// state, and hands leadership over when its disk does not keep up. All functions but deadline()
// require that the node leads, or led until this step.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "core/node/log_formats.hpp"
#include "core/node/patient_requests.hpp"
#include "core/node/proposer.hpp"
#include "core/node/state_comparison.hpp"
#include "core/node/state_saver.hpp"

namespace mortise::core {

class LeaderDuties {
public:
    LeaderDuties(const NodeOptions& options, const StateSaver& saver, Raft& raft,
                 Proposer& proposer, PatientRequests& patient, LogFormats& formats)
        : options_{options},
          saver_{saver},
          raft_{raft},
          proposer_{proposer},
          patient_{patient},
          formats_{formats},
          gave_way_to_{options.self} {}

    // Leadership began or ended.
    void begin_term();
    // There is something to sweep: adds a command that does, unless one is on its way.
    void sweep(LogIndex applied);
    // Hands leadership over if the disk of this node has lagged for too long.
    void give_way(Instant now);
    void propose_state_sum(StateComparison& comparison, Instant now);
    // Everything up to `applied` was applied here.
    void propose_batches(LogIndex applied, Instant now);
    [[nodiscard]] Instant deadline() const;

private:
    [[nodiscard]] std::optional<NodeId> next_to_lead(Instant now) const;
    bool propose_batch(Instant now);
    [[nodiscard]] bool can_propose() const;
    [[nodiscard]] bool is_worth_an_entry() const;

    const NodeOptions& options_;
    const StateSaver& saver_;
    Raft& raft_;
    Proposer& proposer_;
    PatientRequests& patient_;
    LogFormats& formats_;
    // Entries that were proposed, until they have got somewhere.
    class UnderWay {
    public:
        void add(LogIndex index, std::size_t commands);
        void got_there(LogIndex last);
        [[nodiscard]] std::size_t commands() const { return commands_; }

    private:
        std::deque<std::pair<LogIndex, std::size_t>> entries_;
        std::size_t commands_ = 0;
    };
    UnderWay uncommitted_;
    UnderWay unapplied_;  // here
    Instant renewals_due_ = Instant::never();
    LogIndex sweep_at_;                        // a Sweep is in the log up to here
    Instant gives_way_at_ = Instant::never();  // while the state on disk lags
    NodeId gave_way_to_;                       // the last target
};

}  // namespace mortise::core
