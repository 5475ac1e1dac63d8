#include "tools/mortise/demo/stage.hpp"

#include <random>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/terminal.hpp"

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

// The time limit for each expected event. They take a second or two.
constexpr auto patience = 30s;

}  // namespace

Stage::Stage(const DemoOptions& options, const MemberCluster::Plan& plan, Story story)
    : seed_{options.seed != 0 ? options.seed : std::random_device{}()},
      story_{story},
      cluster_{plan,
               [this](std::size_t member, const Json& line) {
                   scene_->take(member, line);
                   take(member, line);
               }},
      log_file_{options.keep_log.empty() ? cluster_.directory() / "fenced.log" : options.keep_log},
      scene_{std::make_unique<Scene>(locks_, log_file_, is_terminal())} {
    scene_->attach(cluster_);
}

Verdict Stage::play() {
    begin();
    happen();
    end();
    auto verdict = judge(scene_->log().records(), story_);
    scene_.reset();  // the output below belongs to the verdict
    return verdict;
}

void Stage::begin() {
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

void Stage::end() {
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
}

void Stage::start(std::size_t member) {
    cluster_.start(member);
    cluster_.say(member, {{"locks", locks_}, {"seed", seed_ + starts_++}});
}

void Stage::make_it_hold(std::size_t member) {
    cluster_.say(member, {{"keep", true}});
    await([&] { return !scene_->held_by(member).empty(); }, "it holds a lock");
    pause(300ms);  // so that the output of the last events appears first
    await([&] { return !scene_->held_by(member).empty(); }, "it holds a lock");
}

void Stage::await(const std::function<bool()>& done, const char* what) {
    if (!cluster_.pump_until(done, patience))
        throw Failure{ExitCode::failed, std::string{"no success in time: "} + what};
}

void Stage::pause(std::chrono::milliseconds time) {
    cluster_.pump_until([] { return false; }, time);
}

std::string Stage::list(const std::set<std::string>& words) {
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace mortise::cli
