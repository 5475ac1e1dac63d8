// A long job under a lock. How long it takes need not be known in advance: the node renews its
// lease as long as it can reach the cluster. When it cannot, the job is told before anybody else
// can have the lock, and stops.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <mortise/mortise.hpp>
#include <mortise/testkit/local_cluster.hpp>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds longest{10};  // of a cut-off holder that works on

// Works until the end, or until the lock is lost; returns for how long.
std::chrono::duration<double> work(const mortise::Hold& hold, Clock::duration duration) {
    const auto begin = Clock::now();
    const auto lost = hold.lost();
    while (!lost.stop_requested() && Clock::now() < begin + duration)
        std::this_thread::sleep_for(10ms);  // a piece of the work, short enough to stop after it
    return Clock::now() - begin;
}

// Waits for the lock, also while there is no leader.
mortise::Hold acquire(mortise::Node& node, const mortise::AcquireOptions& options) {
    while (true) {
        try {
            return node.acquire("export", options);
        } catch (const mortise::LockError& error) {
            if (!mortise::is_retryable(error.code())) throw;
            std::this_thread::sleep_for(50ms);
        }
    }
}

}  // namespace

int main() {
    mortise::testkit::LocalCluster cluster{3, mortise::testkit::quick_timing()};  // 2 s leases
    const auto hold = acquire(
        cluster.node(0), {.label = "the export of node 1", .on_at_risk = [](mortise::Duration) {
                              std::printf("at risk: a renewal is overdue\n");
                          }});
    work(hold, 3s);
    const bool renewed = hold.valid();
    std::printf("3 s of work with a lease of 2 s: the lock is %s\n", renewed ? "ours" : "lost");

    cluster.isolate(0);  // from here on this node reaches nobody
    const auto worked = work(hold, 1min);
    std::printf("cut off: after %.1f s the job stops, the hold is %s (%s)\n", worked.count(),
                std::string{to_string(hold.state())}.c_str(),
                std::string{to_string(hold.why_lost())}.c_str());

    // The other two are a majority. Whoever is next learns that the job was not finished.
    const auto next = acquire(cluster.node(1), {.label = "the export of node 2"});
    const auto previous = next.previous();
    std::printf("node 2 has the lock; before it: \"%s\", %s\n", previous.label.c_str(),
                std::string{to_string(previous.how)}.c_str());

    const bool in_order = renewed && !hold.valid() && next.valid() && worked < longest &&
                          previous.how == mortise::Predecessor::expired;
    cluster.heal();
    return in_order && next.token() > hold.token() ? 0 : 1;
}
