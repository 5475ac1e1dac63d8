#include "tests/bench/core_cluster.hpp"
#include "tests/bench/micro/tasks.hpp"

namespace mortise::bench {

namespace {

// Every step of all nodes that an acquire and its release take.
class StepTask : public Task {
public:
    StepTask(std::size_t nodes, bool at_leader) : cluster_{nodes} {
        asked_ = (cluster_.leader() + (at_leader ? 0 : 1)) % nodes;
    }
    void run() override {
        tag_ += 2;
        cluster_.cycle(asked_, tag_, "jobs/nightly/" + std::to_string(tag_ % 16));
        // The timers: otherwise what was answered would never be acknowledged.
        if (tag_ % 256 == 0) cluster_.run_for(std::chrono::milliseconds{1});
    }

private:
    CoreCluster cluster_;
    std::size_t asked_ = 0;
    std::uint64_t tag_ = 0;
};

}  // namespace

std::vector<NamedTask> core_tasks() {
    return {
        {"steps of one node", 1, [] { return std::make_unique<StepTask>(1, true); }},
        {"steps of three, asked at the leader", 1,
         [] { return std::make_unique<StepTask>(3, true); }},
        {"steps of three, asked at a follower", 1,
         [] { return std::make_unique<StepTask>(3, false); }},
    };
}

}  // namespace mortise::bench
