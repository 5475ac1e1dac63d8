// What a node says of the members of its cluster.
#include "embed/runtime/membership_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using ::testing::ElementsAre;

core::Configuration cluster_of(std::vector<std::uint64_t> voters) {
    core::Configuration configuration;
    configuration.cluster = {1, 2};
    for (const auto id : voters)
        configuration.voters.push_back({core::NodeId{id}, {}, "host:" + std::to_string(id)});
    return configuration;
}

class MembershipReportTest : public ::testing::Test {
protected:
    MembershipReportTest() {
        config_.node_id = 1;
        config_.listen = "127.0.0.1:1";
        config_.peers = {{1, "host:1"}, {2, "host:2"}};
        config_.log.level = LogLevel::info;
        config_.log.record_sink = [this](const LogRecord& record) {
            lines_.push_back(std::string{record.level == LogLevel::warn ? "warn " : ""} +
                             std::string{record.key});
        };
    }
    // Ends the notifier, which delivers the events.
    void run(const std::function<void(MembershipReport&)>& part) {
        Notifier notifier{"test"};
        EventHub events{notifier};
        NodeLog log{config_.log, 1};
        const auto subscription = events.subscribe([this](const NodeEvent& event) {
            using Kind = NodeEvent::Kind;
            if (event.kind == Kind::members_changed) told_.push_back(event.text);
            if (event.kind == Kind::member_added)
                told_.push_back("+" + std::to_string(event.peer) + " " + event.text);
            if (event.kind == Kind::member_removed)
                told_.push_back("-" + std::to_string(event.peer));
        });
        MembershipReport report{config_, log, events};
        part(report);
        notifier.stop();
    }

    Config config_;
    std::vector<std::string> lines_;
    std::vector<std::string> told_;
};

TEST_F(MembershipReportTest, TellsWhoCameAndWhoLeft) {
    run([](MembershipReport& report) {
        report.begin_with(cluster_of({1, 2}));
        report.changed(cluster_of({1, 3}));
    });
    EXPECT_THAT(told_, ElementsAre("voters 1, 3", "+3 host:3", "-2"));
    EXPECT_THAT(lines_, ElementsAre("members_changed"));
}

TEST_F(MembershipReportTest, NamesLearnersAndAChangeInProgress) {
    auto changing = cluster_of({1, 2});
    changing.outgoing = {changing.voters.front()};
    changing.learners = {{core::NodeId{4}, {}, "host:4"}};
    run([&](MembershipReport& report) {
        report.begin_with(changing);
        report.changed(changing);
    });
    EXPECT_THAT(told_, ElementsAre("voters 1, 2; learners 4; a change is in progress"));
}

TEST_F(MembershipReportTest, DoesNotTellTheFoundersAsNewMembers) {
    run([](MembershipReport& report) {
        report.begin_with({});
        report.formed();
        report.changed(cluster_of({1, 2}));
    });
    EXPECT_THAT(told_, ElementsAre("voters 1, 2"));
    EXPECT_THAT(lines_, ElementsAre("cluster_formed", "members_changed"));
}

TEST_F(MembershipReportTest, TellsTheDurabilityWhenItChanges) {
    auto in_memory = cluster_of({1, 2});
    in_memory.durability = core::Durability::replicated;
    run([&](MembershipReport& report) {
        report.begin_with(cluster_of({1, 2}));
        report.changed(in_memory);  // the members are the same
        in_memory.voters = cluster_of({1, 3}).voters;
        report.changed(in_memory);
        report.changed(cluster_of({1, 2}));  // in one step, for a node that was away
    });
    EXPECT_THAT(lines_, ElementsAre("durability_changed", "members_changed", "durability_changed",
                                    "members_changed"));
    EXPECT_THAT(told_,
                ElementsAre("voters 1, 3", "+3 host:3", "-2", "voters 1, 2", "+2 host:2", "-3"));
}

TEST_F(MembershipReportTest, DoesNotTellTheDurabilityThatItBeginsWith) {
    auto in_memory = cluster_of({1});
    in_memory.durability = core::Durability::replicated;
    run([&](MembershipReport& report) {
        report.begin_with(in_memory);
        report.changed(in_memory);
    });
    EXPECT_THAT(lines_, ElementsAre("members_changed"));
}

TEST_F(MembershipReportTest, WarnsANodeThatListensAndIsAlone) {
    config_.peers.clear();
    run([](MembershipReport& report) { report.formed(); });
    EXPECT_THAT(lines_, ElementsAre("warn cluster_formed"));
}

TEST_F(MembershipReportTest, WarnsAMemberWhoseFileListsNoOther) {
    config_.peers = {{1, "host:1"}};
    run([](MembershipReport& report) {
        report.begin_with(cluster_of({1}));
        report.warn_of_missing_peers();  // it is the only member
        report.changed(cluster_of({1, 2}));
    });
    EXPECT_THAT(lines_, ElementsAre("members_changed", "warn peers_missing"));
}

}  // namespace
}  // namespace mortise::detail
