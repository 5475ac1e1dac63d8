// A leader is killed, and a holder is cut off.
#include "tools/mortise/demo/stage.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

class Faults final : public Stage {
public:
    explicit Faults(const DemoOptions& options)
        : Stage{options,
                {.name = "demo",
                 .links = MemberCluster::Links::proxied,
                 .timing = testkit::quick_timing(),
                 .parent_directory = {}},
                Story::faults} {}

private:
    void happen() override {
        kill_the_leader();
        cut_off_a_holder();
    }

    void kill_the_leader() {
        await([this] { return cluster().leader().has_value(); }, "there is a leader");
        const auto victim = *cluster().leader();
        make_it_hold(victim);
        scene().watch(victim);
        const auto held = scene().held_by(victim);
        cluster().kill(victim);
        scene().note(LogRecord::Kind::kill, victim,
                     "kill -9 of " + name(victim) + ", which leads and holds " + list(held));
        await([&] { return scene().passed_on().size() >= held.size(); },
              "its locks go to somebody else");
        scene().watch_nobody();
        scene().say("the others go on without it");
        pause(2s);

        const auto before = scene().grants_of(victim);
        start(victim);
        scene().note(LogRecord::Kind::restart, victim, name(victim) + " starts again");
        await([&] { return scene().grants_of(victim) > before; }, "it works again");
        scene().say(name(victim) + " works again");
        pause(2s);
    }

    void cut_off_a_holder() {
        await([this] { return cluster().leader().has_value(); }, "there is a leader");
        const auto victim = (*cluster().leader() + 1) % cluster().size();
        make_it_hold(victim);
        scene().watch(victim);
        scene().note(LogRecord::Kind::partition, victim,
                     "every link of " + name(victim) +
                         " now drops its bytes; it lives, and holds " +
                         list(scene().held_by(victim)));
        cluster().set_links(victim, testkit::LinkMode::drop);
        await([this] { return !scene().lost().empty(); }, "its lost() fires");
        await([this] { return scene().passed_on().size() >= scene().lost().size(); },
              "its locks go to somebody else");
        cluster().say(victim, {{"keep", false}});
        scene().say("both sides live: " + name(victim) + " as process " +
                    std::to_string(cluster().pid(victim)) +
                    " without a quorum, the others with one");
        pause(2s);

        const auto before = scene().grants_of(victim);
        scene().watch_nobody();
        cluster().set_links(victim, testkit::LinkMode::pass);
        scene().note(LogRecord::Kind::heal, victim, "the links of " + name(victim) + " are whole");
        await([&] { return scene().grants_of(victim) > before; }, "it works again");
        scene().say(name(victim) + " works again");
        pause(2s);
    }
};

}  // namespace

Verdict play_faults(const DemoOptions& options) {
    return Faults{options}.play();
}

}  // namespace mortise::cli
