// Proposals that are told apart by a number of their own, linearizable reads and leadership
// transfers, at random nodes. The history it judges:
//
//   - a proposal is committed where it was said to stand, at most once, and never after a refusal;
//   - a read asked for after something was known to be committed, or was read, is not behind it.
#pragma once

#include <map>
#include <set>

#include "tests/sim/cluster.hpp"
#include "tests/sim/workload.hpp"

namespace mortise::sim {

class AppendWorkload final : public Workload {
public:
    // References outlive the workload.
    AppendWorkload(World& world, Cluster& cluster);

    void start() override;
    void stop() override { stopped_ = true; }
    void committed(core::NodeId node, const core::Entry& entry) override;
    void proposed(core::NodeId node, const core::Proposed& proposed) override;
    void read_ready(core::NodeId node, const core::ReadReady& ready) override;
    void node_lost(core::NodeId node) override;
    void begin_liveness(const std::vector<core::NodeId>& core) override;
    [[nodiscard]] std::string still_owed() const override;

    // The calls, also for tests. Each answers its tag.
    std::uint64_t propose(core::NodeId node);
    std::uint64_t read(core::NodeId node);

private:
    struct Placed {
        std::uint64_t tag = 0;
        core::Term term;
    };
    struct Asked {
        core::NodeId node;
        core::LogIndex floor;  // known to be committed when it was asked for
    };
    enum class Fate : std::uint8_t { open, refused, placed, committed };
    struct Proposal {
        Fate fate = Fate::open;
        core::LogIndex index;
    };

    void call_later();
    void call_something();
    void ask_what_is_owed();
    void transfer();
    void judge_commit(core::NodeId node, const core::Entry& entry);
    [[nodiscard]] core::Bytes draw_payload(std::uint64_t tag);
    [[nodiscard]] core::NodeId draw_target();
    [[nodiscard]] core::LogIndex known_committed() const;
    [[nodiscard]] std::map<core::LogIndex, Placed>& waiting(core::NodeId node) {
        return waiting_[static_cast<std::size_t>(node.raw() - 1)];
    }

    World& world_;
    Cluster& cluster_;
    core::Prng prng_;
    std::vector<Proposal> proposals_;                        // by tag
    std::vector<std::map<core::LogIndex, Placed>> waiting_;  // by node: what it has in its log
    std::map<std::uint64_t, Asked> reads_;                   // by tag
    std::uint64_t reads_asked_ = 0;
    core::LogIndex read_to_;    // the highest index a read was answered with
    core::LogIndex judged_to_;  // commits are judged once, when first heard of
    bool stopped_ = false;

    bool in_liveness_ = false;
    bool owes_commit_ = false;
    std::set<core::NodeId> owes_read_;
};

}  // namespace mortise::sim
