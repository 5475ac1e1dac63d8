// The rights of certificates, checked where calls and commands arrive (S50).
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

using Kind = MembershipGoal::Kind;

const Access jobs_only{{AccessRole::voter}, {{Right::acquire, "jobs/"}}};
const Access learner_only{{AccessRole::learner}, {}};

Bytes batch(const Command& command) {
    BatchBuilder builder;
    builder.add(command);
    return builder.take();
}

Request acquire_for(SessionId session, std::string name, std::uint64_t seq = 1) {
    Acquire acquire;
    acquire.names.push_back({std::move(name)});
    return {session, Seq{seq}, std::move(acquire)};
}

// Three voters, led by node 1.
class NodeRights : public testing::Test {
protected:
    explicit NodeRights(const std::function<void(NodeOptions&)>& change)
        : cluster_{{1, 2, 3}, change} {}

    // `is_found_out`: node 2 has a restricted certificate, which it ignores itself.
    void meet(bool is_found_out = false) {
        cluster_.connect_all();
        if (is_found_out) {
            auto hello = cluster_[n2].hello();
            hello.access = jobs_only;
            for (const auto id : {n1, n3})
                cluster_[id].step(PeerUp{hello});
        }
        cluster_.run_for(3 * election_timeout);
        ASSERT_TRUE(cluster_[n1].raft().is_leader());
    }
    [[nodiscard]] const OpenSession& opened_by(NodeId node) {
        const auto session = cluster_[node].core().agent().open_session();
        return cluster_[n1].core().machine().sessions().find(session.value())->opened;
    }
    [[nodiscard]] SessionId session_of(NodeId node) {
        return cluster_[node].core().agent().open_session().value();
    }
    std::string why_denied(NodeId at, std::uint64_t tag) {
        cluster_.run_for(5 * heartbeat);
        for (const auto& answer : cluster_[at].answers) {
            const auto* denied = std::get_if<Denied>(&answer.result);
            if (answer.tag == CallTag{tag} && denied != nullptr) return denied->why;
        }
        return {};
    }
    [[nodiscard]] bool is_free(const std::string& name) {
        return cluster_[n1].core().machine().inspect(name).holders.empty();
    }
    // The leader receives this from node 2, and refuses all of it.
    void expect_refused(Forward forward) {
        auto& leader = cluster_[n1];
        const auto refused = leader.core().refused_messages();
        leader.notes.clear();
        leader.receive(n2, std::move(forward));
        EXPECT_EQ(leader.core().refused_messages(), refused + 1);
        ASSERT_TRUE(leader.noted(Note::Kind::refused_message));
        for (const auto& note : leader.notes) {
            EXPECT_EQ(note.message, "Forward");
            EXPECT_FALSE(note.why.empty());
        }
        cluster_.settle();
    }

    NodeCluster cluster_;
};

// The node with that id has a certificate for jobs only.
auto restricts(NodeId id) {
    return [id](NodeOptions& options) {
        if (options.self == id) options.access = jobs_only;
    };
}

struct NodeCoreRightsRestricted : NodeRights {
    NodeCoreRightsRestricted() : NodeRights{restricts(n2)} {}
};
struct NodeCoreRightsOfALeader : NodeRights {
    NodeCoreRightsOfALeader() : NodeRights{restricts(n1)} {}
};
// Its node ignores the restrictions.
struct NodeCoreRightsOfALiar : NodeRights {
    NodeCoreRightsOfALiar() : NodeRights{[](NodeOptions&) {}} {}
};

TEST_F(NodeCoreRightsRestricted, ANodeRefusesItsProgramAtOnceAndSaysWhatIsMissing) {
    meet();
    auto& node = cluster_[n2];
    node.acquire(1, "orders/42");
    EXPECT_TRUE(node.was_answered<Denied>(1));  // no other node was asked
    EXPECT_EQ(why_denied(n2, 1),
              R"(node 2 may not acquire "orders/42": its certificate allows acquire on "jobs/")");
    AcquireCall several;
    several.request.which = Acquire::Which::all;
    several.tag = CallTag{2};
    several.request.names = {{"jobs/1"}, {"orders/42"}};
    node.call(several);
    EXPECT_NE(why_denied(n2, 2), "");
    node.call(WriteCall{CallTag{3}, {}, BreakLock{"jobs/1", FencingToken{1}, {}}});
    EXPECT_NE(why_denied(n2, 3), "");
    node.call(WriteCall{CallTag{4}, {}, AskRelease{"orders/42", {}}});
    EXPECT_NE(why_denied(n2, 4), "");
    node.inspect(5, "jobs/1");
    EXPECT_NE(why_denied(n2, 5), "");
    node.call(ChangeCall{CallTag{6}, {Kind::gone, n3, {}}, node.now + election_timeout});
    EXPECT_NE(why_denied(n2, 6), "");
}

TEST_F(NodeCoreRightsRestricted, WhatIsAllowedGoesOn) {
    meet();
    cluster_[n2].acquire(1, "jobs/1");
    cluster_.run_for(5 * heartbeat);
    EXPECT_TRUE(cluster_[n2].was_answered<Acquired>(1));
    EXPECT_FALSE(is_free("jobs/1"));
}

TEST_F(NodeCoreRightsRestricted, ASessionHasTheAccessOfItsNodesCertificate) {
    meet();
    EXPECT_EQ(opened_by(n2).access, jobs_only);
    EXPECT_EQ(opened_by(n1).access, Access::all());
    EXPECT_EQ(opened_by(n3).access, Access::all());
}

TEST_F(NodeCoreRightsOfALeader, RestrictsItsOwnSessionAsWell) {
    meet();
    EXPECT_EQ(opened_by(n1).access, jobs_only);
    EXPECT_EQ(opened_by(n2).access, Access::all());
}

// Every version that knows certificates reads the restrictions of a session, whatever it claims.
TEST_F(NodeCoreRightsRestricted, AMemberThatCallsItselfOldLiftsNoRule) {
    auto claim = cluster_[n3].hello();
    claim.command_format = command_format_oldest;
    cluster_[n1].step(PeerUp{claim});
    meet();
    EXPECT_EQ(opened_by(n2).access, jobs_only);
}

// Its own node does not check, but every replica does.
TEST_F(NodeCoreRightsOfALiar, ApplyRefusesWhatItsNodeLetsThrough) {
    meet(true);
    EXPECT_EQ(opened_by(n2).access, jobs_only);
    cluster_[n2].acquire(1, "orders/42");
    EXPECT_FALSE(cluster_[n2].was_answered<Denied>(1));
    EXPECT_NE(why_denied(n2, 1), "");
    EXPECT_TRUE(is_free("orders/42"));
    cluster_[n2].acquire(2, "jobs/1");
    cluster_.run_for(5 * heartbeat);
    EXPECT_TRUE(cluster_[n2].was_answered<Acquired>(2));
}

TEST_F(NodeCoreRightsOfALiar, WhatAnOpenerClaimsDoesNotCount) {
    meet(true);
    auto opening = opened_by(n2);
    opening.nonce += 2;
    opening.access = {{AccessRole::voter, AccessRole::admin}, {}};
    cluster_[n1].receive(n2, forward_of(batch(opening)));
    cluster_.settle();
    const auto& sessions = cluster_[n1].core().machine().sessions();
    ASSERT_NE(sessions.find_by_nonce(opening.nonce), nullptr);
    EXPECT_EQ(sessions.find_by_nonce(opening.nonce)->opened.access, jobs_only);
}

TEST_F(NodeCoreRightsOfALiar, WhatItForwardsForTheSessionOfAnotherIsRefused) {
    meet();
    const auto other = session_of(n3);
    expect_refused(forward_of(batch(acquire_for(other, "jobs/1"))));
    expect_refused(forward_of(batch(Request{other, Seq{1}, CloseSession{}})));
    expect_refused(forward_of(batch(Acknowledge{other, LogIndex{1}})));
    expect_refused(forward_of({}, Renewal{other, 1'000}));
    EXPECT_TRUE(is_free("jobs/1"));
    EXPECT_EQ(session_of(n3), other);
    // Together with requests of its own session.
    BatchBuilder both;
    both.add(Acknowledge{other, LogIndex{1}});
    both.add(acquire_for(session_of(n2), "jobs/1"));
    expect_refused(forward_of(both.take()));
    EXPECT_TRUE(is_free("jobs/1"));
}

TEST_F(NodeCoreRightsOfALiar, WhatOnlyLeadersSayIsRefused) {
    meet();
    const auto own = session_of(n2);
    const auto* session = cluster_[n1].core().machine().sessions().find(own);
    expect_refused(forward_of(batch(Expire{own, session->renewed_at})));
    expect_refused(forward_of(batch(Sweep{})));
    expect_refused(forward_of(batch(Renew{{{own, 1'000}}})));
    expect_refused(forward_of(batch(EndClosure{ClosureId{1}})));
}

// S10: an opening ends the sessions of the directory that it names.
TEST_F(NodeCoreRightsOfALiar, ASessionIsOpenedForItsOwnDirectoryAlone) {
    meet();
    for (int part = 0; part < 3; ++part) {
        auto opening = opened_by(n2);
        opening.nonce += 2;
        opening.former_life_ended = true;
        opening.generation.boot_epoch =
            part == 0 ? opening.generation.boot_epoch.next() : opening.generation.boot_epoch;
        if (part == 1) opening.generation.incarnation = opened_by(n3).generation.incarnation;
        if (part == 2) opening.node = n3;
        expect_refused(forward_of(batch(opening)));
    }
    BatchBuilder two;
    auto opening = opened_by(n2);
    for (int i = 0; i < 2; ++i) {
        opening.nonce += 2;
        two.add(opening);
    }
    expect_refused(forward_of(two.take()));
}

// A follower may have applied more than its leader.
TEST_F(NodeCoreRightsOfALiar, WhatIsForwardedForASessionThatIsNotAppliedHereYetWaits) {
    meet();
    auto& leader = cluster_[n1];
    const auto next = leader.core().machine().sessions().newest().next();
    const auto refused = leader.core().refused_messages();
    leader.receive(n2, forward_of(batch(acquire_for(next, "jobs/1"))));
    cluster_.settle();
    EXPECT_TRUE(is_free("jobs/1"));
    auto opening = opened_by(n2);
    opening.nonce += 2;
    leader.receive(n2, forward_of(batch(opening)));
    cluster_.settle();
    ASSERT_EQ(leader.core().machine().sessions().newest(), next);
    EXPECT_FALSE(is_free("jobs/1"));
    EXPECT_EQ(leader.core().refused_messages(), refused);
}

TEST_F(NodeCoreRightsOfALiar, OneOfAnotherThatWaitedForItsSessionIsRefusedThen) {
    meet();
    auto& leader = cluster_[n1];
    const auto next = leader.core().machine().sessions().newest().next();
    const auto refused = leader.core().refused_messages();
    leader.receive(n2, forward_of(batch(acquire_for(next, "jobs/1"))));
    auto opening = opened_by(n3);
    opening.nonce += 2;
    leader.receive(n3, forward_of(batch(opening)));
    cluster_.settle();
    ASSERT_EQ(leader.core().machine().sessions().newest(), next);
    EXPECT_TRUE(is_free("jobs/1"));
    EXPECT_EQ(leader.core().refused_messages(), refused + 1);
}

// --- the membership -----------------------------------------------------------------------------

class NodeCoreMemberRights : public testing::Test {
protected:
    explicit NodeCoreMemberRights(Access newcomer = learner_only) {
        auto options = node_options(4, {});
        options.access = std::move(newcomer);
        cluster_.add(std::move(options));
        cluster_.connect_all();
        cluster_.run_for(5 * heartbeat);
    }
    std::optional<MembershipRefusal> ask(NodeId at, const MembershipGoal& goal) {
        auto& node = cluster_[at];
        node.answers.clear();
        node.call(ChangeCall{CallTag{50}, goal, node.now + 20 * election_timeout});
        cluster_.run_for(2 * election_timeout);
        for (const auto& answer : node.answers)
            if (const auto* why = std::get_if<MembershipRefusal>(&answer.result)) return *why;
        return std::nullopt;
    }
    const Configuration& members() { return cluster_.leader()->raft().configuration(); }

    NodeCluster cluster_{1, 2, 3};
};

TEST_F(NodeCoreMemberRights, ANodeWithALearnersCertificateIsAddedAndNotPromoted) {
    EXPECT_EQ(ask(n2, {Kind::learner, n4, "host4:1"}), std::nullopt);
    EXPECT_TRUE(members().is_learner(n4));
    EXPECT_EQ(ask(n2, {Kind::voter, n4, {}}), MembershipRefusal::not_a_voters_certificate);
    EXPECT_TRUE(members().is_learner(n4));
}

struct NodeCoreRightsOfNoMember : NodeCoreMemberRights {
    NodeCoreRightsOfNoMember() : NodeCoreMemberRights{{{AccessRole::client}, {}}} {}
};

TEST_F(NodeCoreRightsOfNoMember, IsNotAdded) {
    EXPECT_EQ(ask(n2, {Kind::learner, n4, "host4:1"}),
              MembershipRefusal::not_a_members_certificate);
    EXPECT_EQ(members().find(n4), nullptr);
}

// Its own node would have refused, unless it lies.
TEST_F(NodeCoreMemberRights, TheLeaderLooksAtWhoAsks) {
    auto hello = cluster_[n2].hello();
    hello.access = jobs_only;
    cluster_[n1].step(PeerUp{hello});
    EXPECT_EQ(ask(n2, {Kind::gone, n3, {}}), MembershipRefusal::not_allowed);
    EXPECT_NE(members().find(n3), nullptr);
}

// S47
TEST(NodeCoreFoundingRights, NobodyFoundsAClusterWithALearnersCertificate) {
    NodeCluster cluster{{1, 2, 3}, [](NodeOptions& options) {
                            if (options.self == n2) options.access = learner_only;
                        }};
    cluster.connect_all();
    cluster.run_for(3 * election_timeout);
    EXPECT_FALSE(cluster[n1].is_formed());
}

}  // namespace
}  // namespace mortise::core::test
