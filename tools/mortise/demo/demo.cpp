// The scenes of the demonstration, in order.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/demo/scene.hpp"
#include "tools/mortise/demo/verdict.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/boot_clock.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise::cli {

namespace {

struct DemoCommand {
    std::uint64_t seed = 0;          // 0: random
    std::filesystem::path keep_log;  // where to keep the fenced log; empty: it is removed
};

using namespace std::chrono_literals;

// The time limit for each expected event. They take a second or two.
constexpr auto patience = 30s;

std::string names(const std::set<std::string>& locks) {
    std::string text;
    for (const auto& lock : locks)
        text += (text.empty() ? "" : ", ") + lock;
    return text;
}

class Demo {
public:
    explicit Demo(const DemoCommand& command)
        : seed_{command.seed != 0 ? command.seed : std::random_device{}()},
          cluster_{{.name = "demo",
                    .links = MemberCluster::Links::proxied,
                    .timing = testkit::quick_timing(),
                    .parent_directory = {}},
                   [this](std::size_t member, const Json& line) { scene_->take(member, line); }},
          log_file_{command.keep_log.empty() ? cluster_.directory() / "fenced.log"
                                             : command.keep_log},
          scene_{std::make_unique<Scene>(locks_, log_file_, is_terminal())} {
        scene_->attach(cluster_);
    }

    Verdict play() {
        begin();
        kill_the_leader();
        cut_off_a_holder();
        end();
        scene_.reset();  // the output below belongs to the verdict
        return std::move(verdict_);
    }

private:
    void begin() {
        for (std::size_t i = 0; i < cluster_.size(); ++i) {
            start(i);
            scene_->say(name(i) + " is process " + std::to_string(cluster_.pid(i)));
        }
        await([this] { return cluster_.all_ready() && cluster_.leader(); }, "the cluster forms");
        cluster_.set_idle([this] { scene_->refresh(); });
        scene_->say(name(*cluster_.leader()) + " leads; six workers fight for " +
                    std::to_string(locks_.size()) + " locks (seed " + std::to_string(seed_) + ")");
        pause(5s);
    }

    void kill_the_leader() {
        await([this] { return cluster_.leader().has_value(); }, "there is a leader");
        const auto victim = *cluster_.leader();
        make_it_hold(victim);
        scene_->watch(victim);
        const auto held = scene_->held_by(victim);
        cluster_.kill(victim);
        scene_->note(LogRecord::Kind::kill, victim,
                     "kill -9 of " + name(victim) + ", which leads and holds " + names(held));
        await([&] { return scene_->passed_on().size() >= held.size(); },
              "its locks go to somebody else");
        scene_->watch_nobody();
        scene_->say("the others go on without it");
        pause(2s);

        const auto before = scene_->grants_of(victim);
        start(victim);
        scene_->note(LogRecord::Kind::restart, victim, name(victim) + " starts again");
        await([&] { return scene_->grants_of(victim) > before; }, "it works again");
        scene_->say(name(victim) + " works again");
        pause(2s);
    }

    void cut_off_a_holder() {
        await([this] { return cluster_.leader().has_value(); }, "there is a leader");
        const auto victim = (*cluster_.leader() + 1) % cluster_.size();
        make_it_hold(victim);
        scene_->watch(victim);
        scene_->note(LogRecord::Kind::partition, victim,
                     "every link of " + name(victim) +
                         " now drops its bytes; it lives, and holds " +
                         names(scene_->held_by(victim)));
        cluster_.set_links(victim, testkit::LinkMode::drop);
        await([this] { return !scene_->lost().empty(); }, "its lost() fires");
        await([this] { return scene_->passed_on().size() >= scene_->lost().size(); },
              "its locks go to somebody else");
        cluster_.say(victim, {{"keep", false}});
        scene_->say("both sides live: " + name(victim) + " as process " +
                    std::to_string(cluster_.pid(victim)) +
                    " without a quorum, the others with one");
        pause(2s);

        const auto before = scene_->grants_of(victim);
        scene_->watch_nobody();
        cluster_.set_links(victim, testkit::LinkMode::pass);
        scene_->note(LogRecord::Kind::heal, victim, "the links of " + name(victim) + " are whole");
        await([&] { return scene_->grants_of(victim) > before; }, "it works again");
        scene_->say(name(victim) + " works again");
        pause(2s);
    }

    void end() {
        cluster_.let_end();
        cluster_.say_to_all({{"stop", true}});
        await(
            [this] {
                for (std::size_t i = 0; i < cluster_.size(); ++i)
                    if (!scene_->is_done(i)) return false;
                return true;
            },
            "the workers stop");
        cluster_.set_idle({});
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            cluster_.kill(i);
        verdict_ = judge(scene_->log().records());
    }

    void start(std::size_t member) {
        cluster_.start(member);
        cluster_.say(member, {{"locks", locks_}, {"seed", seed_ + starts_++}});
    }
    // The member keeps the next lock until it gets another order, or loses the lock.
    void make_it_hold(std::size_t member) {
        cluster_.say(member, {{"keep", true}});
        await([&] { return !scene_->held_by(member).empty(); }, "it holds a lock");
        pause(300ms);  // so that the output of the last events appears first
        await([&] { return !scene_->held_by(member).empty(); }, "it holds a lock");
    }
    void await(const std::function<bool()>& done, const char* what) {
        if (!cluster_.pump_until(done, patience))
            throw Failure{ExitCode::failed, std::string{"no success in time: "} + what};
    }
    void pause(std::chrono::milliseconds time) {
        cluster_.pump_until([] { return false; }, time);
    }
    static std::string name(std::size_t member) { return "node " + std::to_string(member + 1); }

    std::vector<std::string> locks_{"orders/1", "orders/2", "orders/3"};
    const std::uint64_t seed_;
    std::uint64_t starts_ = 0;  // makes each start draw other choices
    MemberCluster cluster_;
    std::filesystem::path log_file_;
    std::unique_ptr<Scene> scene_;
    Verdict verdict_;
};

void print(const Verdict& verdict) {
    std::cout << "\nfrom the workers' fenced log: grants " << verdict.grants << ", writes accepted "
              << verdict.accepted << ", late writes refused " << verdict.refused << ", holds lost "
              << verdict.losses << ", nodes killed " << verdict.kills << ", cut off "
              << verdict.partitions << '\n';
    for (const auto& violation : verdict.violations)
        std::cout << "BROKEN: " << violation << '\n';
    if (verdict.holds())
        std::cout << "verdict: no two held a lock at once, and its tokens only rose\n";
    else
        std::cout << "verdict: a promise was broken\n";
}

ExitCode run(const DemoCommand& command) {
    const auto verdict = Demo{command}.play();
    print(verdict);
    return verdict.holds() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

Command demo_command() {
    const auto self = std::make_shared<DemoCommand>();
    return {.name = "mortise demo",
            .purpose = "Three nodes on this machine, a kill and a partition, a verdict",
            .options = {option("--seed NUMBER", number(self->seed, 0, UINT64_MAX),
                               "The seed of the workers' choices"),
                        option("--keep-log FILE", value(self->keep_log, Kind::file),
                               "Keep the workers' fenced log in this file")},
            .notes = "It takes about half a minute and leaves nothing behind.",
            .examples = {{"mortise demo", "Shows a kill and a partition, and gives a verdict."},
                         {"mortise demo --seed 7 --keep-log demo.jsonl",
                          "Repeats the choices of seed 7, and keeps what the workers wrote."}},
            .exit_codes = exits({64, 74, 130},
                                {{0, "every promise held"},
                                 {1, "a promise was broken, or an expected event did not happen"}}),
            .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
