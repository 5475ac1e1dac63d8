// A nightly job on three nodes that must run once. A timer on each node starts it, and their clocks
// differ a little. A lock alone is not enough: the job takes a moment, so a node whose clock is
// late finds the lock free again. min_hold keeps the name closed for longer than the clocks differ.
//
// When a node dies in the middle, previous() says so to the next one, which begins again. The
// cluster knows that as long as the name is in use; here the next one waits for it. If hours may
// pass until the next run, store a value with the lock: it stays, and is dirty after a loss.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>
#include <mortise/testkit/local_cluster.hpp>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t nodes = 3;
constexpr int lines = 4;  // of a whole report

// What the job writes; each line says which node wrote it.
class Report {
public:
    void clear() {
        const std::scoped_lock lock{mutex_};
        lines_.clear();
    }
    void write(const std::string& who) {
        const std::scoped_lock lock{mutex_};
        lines_.push_back(who);
    }
    [[nodiscard]] int size() const {
        const std::scoped_lock lock{mutex_};
        return static_cast<int>(lines_.size());
    }
    [[nodiscard]] std::string last() const {
        const std::scoped_lock lock{mutex_};
        return lines_.empty() ? "" : lines_.back();
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

// The job, under the lock that was just granted. A story may stop it in the middle.
void run(const mortise::Hold& hold, const std::string& who, Report& report,
         int stop_after = lines) {
    const auto previous = hold.previous();
    if (previous.how == mortise::Predecessor::expired) {
        std::printf("%s: %s did not finish, so its lines go\n", who.c_str(),
                    previous.label.c_str());
        report.clear();
    }
    for (int i = 0; i < stop_after; ++i)
        report.write(who);
}

std::string name_of(std::size_t node) {
    return "node " + std::to_string(node + 1);
}

// How many lines there are after one night; the clock of each node is 200 ms behind the last one.
int one_night(mortise::testkit::LocalCluster& cluster, mortise::Duration min_hold) {
    Report report;
    std::vector<std::jthread> timers;
    for (std::size_t i = 0; i < nodes; ++i)
        timers.emplace_back([&node = cluster.node(i), &report, min_hold, i] {
            std::this_thread::sleep_for(i * 200ms);
            const auto who = name_of(i);
            const mortise::AcquireOptions options{.label = who, .min_hold = min_hold};
            // Empty if another node runs the job, or did so a moment ago.
            if (const auto hold = node.try_acquire("cron/report", options)) run(*hold, who, report);
        });
    timers.clear();  // waits for them
    return report.size();
}

// A node that is to take over does not try: it waits, also while there is no leader.
mortise::Hold wait_for(mortise::Node& node, const std::string& who) {
    while (true) {
        std::error_code ec;
        auto hold = node.acquire("cron/report", {.label = who}, ec);
        if (hold) return hold;
        if (!mortise::is_retryable(ec)) throw mortise::LockError{ec};
        std::this_thread::sleep_for(20ms);
    }
}

}  // namespace

int main() {
    mortise::testkit::LocalCluster cluster{nodes, mortise::testkit::quick_timing()};
    const int without = one_night(cluster, mortise::Duration::zero());
    std::printf("with the lock alone the report has %d lines instead of %d\n", without, lines);
    const int with = one_night(cluster, 1s);
    std::printf("with min_hold it has %d\n", with);

    Report report;  // of another night, in which node 1 dies
    const auto dying = wait_for(cluster.node(0), name_of(0));
    run(dying, name_of(0), report, 2);
    std::jthread standby{[&node = cluster.node(1), &report] {
        run(wait_for(node, name_of(1)), name_of(1), report);
    }};
    while (cluster.node(2).inspect("cron/report").waiters.empty())
        std::this_thread::sleep_for(10ms);
    std::printf("node 1 dies after %d of %d lines\n", report.size(), lines);
    cluster.kill(0);
    standby.join();
    std::printf("the report has %d lines, of %s\n", report.size(), report.last().c_str());
    return with == lines && report.size() == lines && report.last() == name_of(1) ? 0 : 1;
}
