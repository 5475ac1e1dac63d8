// What distance costs, on simulated time: voters in three zones, two of which are near each other.
// It prints the tables of docs/scale.md.
//
//   scale_zones [RUNS]
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {
namespace {

constexpr std::size_t zones = 3;
// One way, in addition to what a message takes within a zone.
constexpr SimTime near_by = 1 * sim_millisecond;
constexpr SimTime far_away = 15 * sim_millisecond;

std::size_t zone_of(core::NodeId node) {
    return (node.raw() - 1) % zones;
}

SimTime distance(core::NodeId a, core::NodeId b) {
    if (zone_of(a) == zone_of(b)) return 0;
    const bool is_near = zone_of(a) != 2 && zone_of(b) != 2;
    return is_near ? near_by : far_away;
}

// The default times of a configuration, a disk and a network like those of docs/performance.md.
Swarm quiet(std::size_t voters) {
    Swarm swarm;
    swarm.nodes = voters;
    swarm.election_timeout = std::chrono::seconds{1};
    swarm.heartbeat = std::chrono::milliseconds{100};
    swarm.call_timeout = std::chrono::seconds{10};
    swarm.network.delay_min = swarm.network.delay_max = 25 * sim_microsecond;
    swarm.disk.latency_min = swarm.disk.latency_max = 150 * sim_microsecond;
    swarm.flush_pace = swarm.state_interval = sim_second;
    swarm.restart_after = sim_millisecond;
    return swarm;
}

// The programs: each call is answered once.
class Callers final : public Workload {
public:
    using Answered = std::function<void(const core::CallAnswer&)>;

    core::CallTag expect(Answered answered) {
        const core::CallTag tag{++newest_};
        waiting_.emplace(tag, std::move(answered));
        return tag;
    }
    [[nodiscard]] bool has_session(core::NodeId node) const { return sessions_.contains(node); }

    void start() override {}
    void stop() override {}
    void node_started(core::NodeId /*node*/) override {}
    void node_lost(core::NodeId node) override { sessions_.erase(node); }
    void lost(core::NodeId /*node*/, const core::HoldLost& /*lost*/) override {}
    void suspended(core::NodeId /*node*/, core::OperationId /*hold*/) override {}
    void contended(core::NodeId /*node*/, const core::Contended& /*contended*/) override {}
    void lease_changed(core::NodeId node, const core::LeaseChanged& /*lease*/) override {
        sessions_.insert(node);
    }
    void answered(core::NodeId /*node*/, const core::CallAnswer& answer) override {
        const auto waiting = waiting_.extract(answer.tag);
        if (!waiting.empty()) waiting.mapped()(answer);
    }
    void applied(core::NodeId /*node*/, const core::Applied& /*applied*/) override {}
    void notified(core::NodeId /*node*/, core::ClientId /*client*/,
                  core::ClientNotice&& /*notice*/) override {}
    void hung_up(core::NodeId /*node*/, core::ClientId /*client*/) override {}
    void stepped(core::NodeId /*node*/, core::Instant /*now*/, core::Instant /*next*/) override {}
    void struck(core::NodeId /*node*/, Fault /*fault*/) override {}
    void wakes(core::NodeId /*node*/) override {}
    [[nodiscard]] core::NodeId holder(core::NodeId /*other_than*/) const override { return {}; }
    void contest(core::NodeId /*holder*/, SimTime /*length*/) override {}
    void begin_liveness(const std::vector<core::NodeId>& /*core*/) override {}
    [[nodiscard]] std::string still_owed() const override { return {}; }
    void end() override {}

private:
    std::uint64_t newest_ = 0;
    std::map<core::CallTag, Answered> waiting_;
    std::set<core::NodeId> sessions_;
};

class Zones {
public:
    Zones(std::size_t voters, std::uint64_t seed) : world_{seed, quiet(voters)} {
        world_.workload = &callers_;
        cluster_.restart_crashed(false);
        for (const auto a : cluster_.ids())
            for (const auto b : cluster_.ids())
                cluster_.network().slow_down(a, b, distance(a, b));
        cluster_.start_all();
        run_until([this] {
            return cluster_.leader().is_set() &&
                   std::ranges::all_of(cluster_.ids(),
                                       [this](auto id) { return callers_.has_session(id); });
        });
        run_for(5 * sim_second);  // followers have learned when to expect the leader
    }

    void lead_from(std::size_t zone) {
        const core::NodeId target{zone + 1};
        if (cluster_.leader() != target)
            cluster_.call(cluster_.leader(), core::TransferLeadership{target});
        run_until([&] { return cluster_.leader() == target; });
        run_for(sim_second);
    }

    // From the call to the grant, of a name that nobody holds.
    SimTime acquire(core::NodeId at) {
        const auto began = world_.heap.now();
        auto took = sim_never;
        call(at, began, took);
        run_until([&] { return took != sim_never; });
        return took;
    }

    // Until every other node has a lock that it asked for when the leader was gone.
    SimTime fail_over(bool is_frozen) {
        const auto former = cluster_.leader();
        const auto began = world_.heap.now();
        is_frozen ? cluster_.pause(former) : cluster_.crash(former);
        std::vector<SimTime> took(cluster_.size(), sim_never);
        took.at(former.raw() - 1) = 0;
        for (const auto id : cluster_.ids())
            if (id != former) call(id, began, took.at(id.raw() - 1));
        run_until([&] { return std::ranges::find(took, sim_never) == took.end(); });
        return *std::ranges::max_element(took);
    }

    [[nodiscard]] core::NodeId leader() const { return cluster_.leader(); }
    void run_for(SimTime time) {
        const auto end = world_.heap.now() + time;
        while (world_.heap.next_time() < end && !world_.violations.first())
            world_.heap.run_next();
    }

private:
    void call(core::NodeId at, SimTime began, SimTime& took) {
        core::AcquireCall acquire;
        acquire.request.names.push_back({"name-" + std::to_string(++names_)});
        acquire.tag = callers_.expect([this, began, &took](const core::CallAnswer& answer) {
            if (!std::holds_alternative<core::Acquired>(answer.result))
                throw std::runtime_error{"an acquire failed"};
            took = world_.heap.now() - began;
        });
        cluster_.call(at, core::Calls{{std::move(acquire)}});
    }

    template <class Condition>
    void run_until(Condition holds) {
        const auto end = world_.heap.now() + 60 * sim_second;
        while (!holds()) {
            if (world_.violations.first())
                throw std::runtime_error{world_.violations.first()->what};
            if (world_.heap.now() > end || !world_.heap.run_next())
                throw std::runtime_error{"waited in vain"};
        }
    }

    World world_;
    Callers callers_;
    Cluster cluster_{world_};
    std::uint64_t names_ = 0;
};

double in_ms(SimTime time) {
    return static_cast<double>(time) / static_cast<double>(sim_millisecond);
}

SimTime median(std::vector<SimTime> times) {
    std::ranges::sort(times);
    return times.at(times.size() / 2);
}

void print_acquires(std::size_t voters) {
    for (const std::size_t leads : {0U, 2U}) {
        Zones zones_of{voters, 1};
        zones_of.lead_from(leads);
        std::printf("| %zu | %c |", voters, static_cast<char>('A' + leads));
        for (std::size_t zone = 0; zone < zones; ++zone) {
            std::vector<SimTime> times;
            for (int i = 0; i < 20; ++i) {
                times.push_back(zones_of.acquire(core::NodeId{zone + 1}));
                zones_of.run_for(10 * sim_millisecond);
            }
            std::printf(" %.1f ms |", in_ms(median(times)));
        }
        std::printf("\n");
    }
}

void print_failovers(std::size_t voters, std::uint64_t runs) {
    for (const bool is_frozen : {false, true}) {
        std::vector<SimTime> times;
        std::size_t of_zone[zones] = {};
        for (std::uint64_t seed = 1; seed <= runs; ++seed) {
            Zones zones_of{voters, seed};
            zones_of.lead_from(0);
            times.push_back(zones_of.fail_over(is_frozen));
            ++of_zone[zone_of(zones_of.leader())];
        }
        std::printf("| %zu | %s | %.0f ms | %.0f ms | %zu, %zu, %zu |\n", voters,
                    is_frozen ? "frozen" : "killed", in_ms(median(times)),
                    in_ms(*std::ranges::max_element(times)), of_zone[0], of_zone[1], of_zone[2]);
    }
}

void print_all(std::uint64_t runs) {
    std::printf("| voters | leader in | acquire in A | in B | in C |\n");
    for (const std::size_t voters : {3U, 5U, 7U})
        print_acquires(voters);
    std::printf("| voters | the leader is | median | longest | next leader in A, B, C |\n");
    for (const std::size_t voters : {3U, 5U, 7U})
        print_failovers(voters, runs);
}

}  // namespace
}  // namespace mortise::sim

int main(int argc, char** argv) {
    std::uint64_t runs = 40;
    const std::string_view text = argc > 1 ? argv[1] : "40";
    std::from_chars(text.data(), text.data() + text.size(), runs);
    try {
        mortise::sim::print_all(runs);
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "scale_zones: %s\n", failed.what());
        return 1;
    }
    return 0;
}
