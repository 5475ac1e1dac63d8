// Real processes with directories that were rolled back: undamaged, but too old.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/process/process_cluster.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr TimingConfig quick{.session_ttl = 3s, .election_timeout = 400ms, .heartbeat = 50ms};
constexpr auto patience = 60s;

class RolledBack : public ::testing::Test {
protected:
    RolledBack() : member_{(cluster_.leader_seen_by(0) + 1) % 3}, witness_{(member_ + 1) % 3} {}

    [[nodiscard]] fs::path place() const { return cluster_.data(member_); }
    [[nodiscard]] fs::path image() const { return cluster_.directory() / "image"; }
    void stop() { cluster_.kill_hard(member_); }
    void start() {
        cluster_.start(member_);
        cluster_[member_].expect("ready", patience);
    }
    // The leader is one of the two that have to say that a run is over. It takes long enough for
    // the other one to hear of the run, too: nobody else could say it of a run with the same number
    // (docs/decisions/0061).
    void start_for_all() {
        cluster_.await_connected(witness_, member_, false);
        start();
        cluster_.await_connected(witness_, member_, true);
    }
    // Makes the node acknowledge something.
    void work(const std::string& name) {
        cluster_[member_].tell("acquire " + name);
        cluster_[member_].expect("held " + name, patience);
        cluster_[member_].tell("release " + name);
        cluster_[member_].expect("released " + name, patience);
    }
    void restore() {
        fs::remove_all(place());
        fs::copy(image(), place(), fs::copy_options::recursive);
    }

    ProcessCluster cluster_{quick};
    std::size_t member_;
    std::size_t witness_;  // the other follower
};

// Also if the start from the image has the same number as the known one: with one run in between,
// and with two.
TEST_F(RolledBack, BeginsAnewAndComesBack) {
    for (const int lives : {1, 2}) {
        stop();
        fs::remove_all(image());
        fs::copy(place(), image(), fs::copy_options::recursive);
        for (int life = 0; life < lives; ++life) {
            start_for_all();
            work("in-between");
            stop();
        }
        restore();
        fs::remove_all(place() / "damaged-1");
        start();
        EXPECT_TRUE(fs::exists(place() / "damaged-1")) << lives;
        work("afterwards");
    }
}

TEST_F(RolledBack, AnHonestRestartKeepsWhatItHas) {
    work("before");
    stop();
    start();
    work("afterwards");
    EXPECT_FALSE(fs::exists(place() / "damaged-1"));
}

}  // namespace
}  // namespace mortise::tests
