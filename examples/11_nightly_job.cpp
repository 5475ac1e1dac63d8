// A job that every node of a cluster tries to run, and one of them runs: no clock needs to be right
// for that. run_once_per() also keeps how the newest run ended.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

namespace {

using namespace std::chrono_literals;

const char* in_words(mortise::RunEnd end) {
    switch (end) {
        case mortise::RunEnd::running: return "runs";
        case mortise::RunEnd::finished: return "finished";
        case mortise::RunEnd::failed: return "failed";
        case mortise::RunEnd::interrupted: return "was interrupted";
    }
    return "?";
}

// What cron starts on every machine at about the same time. The job is due once a day; half a day
// is longer than any two clocks differ, and ends well before the next night.
bool nightly(mortise::Node& node) {
    return mortise::run_once_per(node, "cron/report", 12h, [&](const mortise::JobRun& run) {
        if (run.last) std::printf("the run before %s\n", in_words(run.last->end));
        // ... every write carries run.hold.token(); a long job looks at run.hold.valid()
        return "written by node " + std::to_string(node.id());
    });
}

}  // namespace

int main() {
    mortise::testkit::LocalCluster cluster{3};
    int runs = 0;
    for (std::size_t machine = 0; machine < cluster.size(); ++machine)
        runs += nightly(cluster.node(machine)) ? 1 : 0;  // each a little later than the other

    const auto last = mortise::last_run(cluster.node(2), "cron/report");
    if (!last) return 1;
    std::printf("%d run: it %s, %s\n", runs, in_words(last->end), last->outcome.c_str());
    return runs == 1 && last->end == mortise::RunEnd::finished ? 0 : 1;
}
