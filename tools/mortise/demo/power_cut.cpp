// All machines lose their power at once, and the nodes acknowledge from memory
// (docs/durability.md).
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/mortise/demo/machine.hpp"
#include "tools/mortise/demo/stage.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Rare syncs, so that much is in memory alone.
constexpr auto sync_interval = 10s;
constexpr auto in_memory_for = 2s;
// So long after a sync there is certainly none for that time.
constexpr auto long_before_the_next = 7s;

class PowerCut final : public Stage {
public:
    explicit PowerCut(const DemoOptions& options)
        : Stage{options,
                {.name = "demo",
                 .timing = testkit::quick_timing(),
                 .parent_directory = {},
                 .durability = Durability::replicated,
                 .sync_interval = sync_interval},
                Story::power_cut},
          synced_(cluster().size()) {
        for (std::size_t i = 0; i < cluster().size(); ++i) {
            const auto id = std::to_string(i + 1);
            machines_.emplace_back(cluster().directory() / ("node-" + id),
                                   cluster().directory() / ("boot-" + id));
        }
        cluster().set_runs([this](std::size_t member) { return machines_[member].runs(); });
    }

private:
    // The newest sync of a member.
    struct Synced {
        std::uint64_t count = 0;
        steady_clock::time_point at;
    };

    void happen() override {
        const auto newest = cut_the_power();
        for (std::size_t i = 0; i < cluster().size(); ++i)
            bring_back(i);
        await([this] { return eras_ > 0; }, "an era begins");
        scene().note(LogRecord::Kind::era, 0,
                     "an era begins: all sessions have ended, and none opens until their leases "
                     "are over");
        for (std::size_t i = 0; i < cluster().size(); ++i)
            await([&] { return scene().grants_of(i) > grants_before_[i]; }, "it works again");
        scene().say("all work again; the newest token was " + newest.to_string() + ", and is " +
                    scene().newest_token().to_string());
        pause(3s);
    }

    // Returns the newest token before.
    FencingToken cut_the_power() {
        scene().say("every grant is in the memories of a majority; the disks follow within " +
                    std::to_string(sync_interval.count()) + " s");
        await([this] { return has_worked_in_memory(); }, "nothing is synced for some time");
        for (std::size_t i = 0; i < cluster().size(); ++i)
            grants_before_.push_back(scene().grants_of(i));
        const auto newest = scene().newest_token();
        // At once: otherwise the rest elects a leader, and that is synced.
        for (std::size_t i = 0; i < cluster().size(); ++i)
            if (const auto pid = cluster().pid(i); pid > 0) ::kill(pid, SIGKILL);
        for (std::size_t i = 0; i < cluster().size(); ++i)
            lose_power(i);
        return newest;
    }

    // For some time, in which nothing was synced; nor will anything be soon.
    bool has_worked_in_memory() {
        const auto is_recent = [](const Synced& synced) {
            return steady_clock::now() - synced.at < long_before_the_next;
        };
        if (!std::ranges::all_of(synced_, is_recent)) return false;
        const auto counts = [this] {
            std::vector<std::uint64_t> all;
            for (const auto& synced : synced_)
                all.push_back(synced.count);
            return all;
        };
        const auto before = counts();
        for (auto& machine : machines_)
            machine.note_synced();
        pause(in_memory_for);
        return counts() == before;
    }

    void lose_power(std::size_t member) {
        const auto held = scene().held_by(member);
        cluster().kill(member);
        const auto bytes = machines_[member].lose_power();
        scene().note(LogRecord::Kind::power_cut, member,
                     "the power of the machine of " + name(member) + " is cut; it holds " +
                         (held.empty() ? "nothing" : list(held)) + ", and had " +
                         std::to_string(bytes) + " bytes of its log in memory alone");
    }

    void bring_back(std::size_t member) {
        start(member);
        scene().note(LogRecord::Kind::restart, member, name(member) + " has power again");
    }

    void take(std::size_t member, const Json& line) override {
        if (line.contains("note") && line.at("note") == "era_begun") ++eras_;
        if (!line.contains("syncs")) return;
        auto& synced = synced_[member];
        const std::uint64_t count = line.at("syncs");
        if (count != synced.count) synced = {count, steady_clock::now()};
    }

    std::vector<Machine> machines_;
    std::vector<Synced> synced_;
    std::vector<std::size_t> grants_before_;
    int eras_ = 0;
};

}  // namespace

Verdict play_power_cut(const DemoOptions& options) {
    Machine::check_that_one_can_boot();
    return PowerCut{options}.play();
}

}  // namespace mortise::cli
