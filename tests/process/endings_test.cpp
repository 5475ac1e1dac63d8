// A process with holds of every kind, and a waiter for each, when its cluster loses the leader,
// when the process is stopped, and when it is cut off (S6, S8, S9, S23, S24, S36).
#include <gtest/gtest.h>

#include "tests/process/process_cluster.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;

const TimingConfig quick{.session_ttl = 3s, .election_timeout = 400ms, .heartbeat = 50ms};
constexpr auto patience = 60s;

class Endings : public ::testing::Test {
protected:
    using Words = std::vector<std::string>;

    // In words: the token, how the previous holder left, and when, on this machine's clock.
    struct Grant {
        explicit Grant(const Words& words)
            : token{std::stoll(words.at(2))}, before{words.at(3)}, at{std::stoll(words.at(4))} {}
        std::int64_t token;
        std::string before;
        std::int64_t at;
    };
    Process& holder() { return cluster_[holder_]; }
    Process& waiter() { return cluster_[waiter_]; }

    void hold(const std::string& name, const std::string& options = "suspend") {
        asked_[name] = boot_nanoseconds();
        holder().tell("acquire " + name + " " + options);
        held_.emplace(name, Grant{holder().await("held " + name + " ", patience)});
    }
    void hold_everything() {
        hold("trusted");  // it is lost when the cluster says so, not earlier
        hold("watched", "watch");
        hold("stuck", "watch");
        hold("closed", "min_hold=6s");
        hold("worked", "progress_timeout=2s");
        holder().tell("work worked");
        hold("written", "watch");
        holder().tell("write written half");
        holder().await("wrote written", patience);
        holder().tell("release closed");
        holder().await("released closed", patience);
        hold("bounded", "max_hold=2s");
        hold("delayed", "max_hold=2s lock_delay=2s");
        for (const auto& [name, grant] : held_)
            if (name != "watched") waiter().tell("acquire " + name);
        for (const auto* told : {"stuck", "written"})
            holder().await(std::string{"contended "} + told + " exclusive 1", patience);
    }
    void ask_and_break() {
        waiter().tell("ask watched please");
        waiter().tell("break stuck " + std::to_string(held_.at("stuck").token));
    }

    std::string why_lost(const std::string& name) {
        return holder().await("lost " + name + " ", patience).at(4);
    }
    // The waiter's grant, which must have the greater token.
    Grant granted(const std::string& name) {
        const Grant next{waiter().await("held " + name + " ", patience)};
        EXPECT_GT(next.token, held_.at(name).token) << name;
        return next;
    }
    // The history checks that the previous holder's hold was not valid any more by then (P3).
    void expect_handed_over(const std::string& name, const std::string& why,
                            const std::string& before) {
        EXPECT_EQ(why_lost(name), why) << name;
        EXPECT_EQ(granted(name).before, before) << name;
    }
    void expect_delayed() {
        using namespace std::chrono;
        EXPECT_EQ(why_lost("delayed"), "expired");
        EXPECT_GE(granted("delayed").at - asked_.at("delayed"), nanoseconds{2s + 2s}.count());
    }
    // Whatever happened to the holder, the name was granted to none earlier.
    void expect_was_closed(std::chrono::nanoseconds min_hold) {
        const auto next = granted("closed");
        EXPECT_GE(next.at - asked_.at("closed"), min_hold.count());
        EXPECT_EQ(next.before, "clean");
    }
    void expect_value(const std::string& bytes, const std::string& dirty) {
        waiter().tell("look written");
        EXPECT_EQ(waiter().await("looks", patience),
                  (Words{"looks", "written", "1", bytes, dirty}));
    }
    void expect_valid(const std::string& name, const std::string& valid) {
        holder().tell("valid " + name);
        EXPECT_EQ(holder().await("valid " + name, patience).at(2), valid) << name;
    }

    ProcessCluster cluster_{quick};
    std::size_t leader_ = cluster_.leader_seen_by(0);
    std::size_t holder_ = (leader_ + 1) % 3;
    std::size_t waiter_ = (leader_ + 2) % 3;
    std::map<std::string, std::int64_t> asked_;
    std::map<std::string, Grant> held_;
};

TEST_F(Endings, GoOnUnderTheNextLeader) {  // P3
    hold_everything();
    cluster_.kill_hard(leader_);
    ask_and_break();
    EXPECT_EQ(holder().await("contended watched exclusive 0", patience).back(), "please");
    expect_handed_over("stuck", "broken", "broken");
    expect_handed_over("bounded", "expired", "expired");
    expect_delayed();
    // By now, longer than it may be without a report.
    expect_valid("worked", "yes");
    holder().tell("rest worked");
    expect_handed_over("worked", "expired", "expired");
    expect_was_closed(6s);

    holder().tell("confirm trusted");
    holder().await("confirmed trusted", patience);
    holder().tell("write written whole");
    holder().await("wrote written", patience);
    holder().tell("release written");
    EXPECT_EQ(granted("written").before, "clean");
    expect_value("whole", "clean");
}

TEST_F(Endings, DoNotFollowAShortStop) {
    hold("watched", "watch");
    hold("trusted");
    holder().pause();
    waiter().tell("ask watched please");
    waiter().await("asked watched", patience);
    holder().resume();
    EXPECT_EQ(holder().await("contended watched", patience).back(), "please");
    for (const auto* name : {"watched", "trusted"}) {
        holder().tell(std::string{"confirm "} + name);
        holder().await(std::string{"confirmed "} + name, patience);
        expect_valid(name, "yes");
    }
}

TEST_F(Endings, OfAHolderThatIsStoppedAreToldWhenItGoesOn) {  // P3
    hold_everything();
    holder().pause();
    const auto stopped = boot_nanoseconds();
    ask_and_break();
    EXPECT_EQ(granted("stuck").before, "broken");
    for (const auto* name : {"bounded", "worked", "written", "trusted"})
        EXPECT_EQ(granted(name).before, "expired") << name;
    EXPECT_GE(granted("delayed").at - stopped, std::chrono::nanoseconds{2s}.count());
    expect_was_closed(6s);
    expect_value("half", "dirty");
    waiter().tell("vouch written");
    waiter().await("vouched written", patience);

    holder().resume();
    for (const auto* name :
         {"trusted", "watched", "stuck", "bounded", "delayed", "worked", "written"}) {
        EXPECT_NE(why_lost(name), "none");
        expect_valid(name, "no");
    }
    holder().tell("write written late");
    holder().await("error written", patience);
    expect_value("half", "clean");
}

TEST_F(Endings, OfAHolderThatIsCutOffComeBeforeTheNextGrant) {  // P3
    hold_everything();
    cluster_.isolate(holder_);
    ask_and_break();
    holder().await("at-risk watched", patience);
    holder().await("suspended trusted", patience);
    expect_handed_over("stuck", "expired", "broken");
    for (const auto* name : {"bounded", "worked", "written"})
        expect_handed_over(name, "expired", "expired");
    expect_delayed();
    expect_was_closed(6s);
    expect_value("half", "dirty");
    holder().tell("write written late");
    holder().await("error written", patience);

    EXPECT_EQ(granted("trusted").before, "expired");
    expect_valid("trusted", "no");
    cluster_.heal(holder_);
    EXPECT_EQ(why_lost("trusted"), "expired");
    waiter().tell("release written");
    waiter().await("released written", patience);
    holder().tell("acquire written watch");
    EXPECT_GT(Grant{holder().await("held written", patience)}.token, held_.at("written").token);
    expect_value("half", "dirty");
}

}  // namespace
}  // namespace mortise::tests
