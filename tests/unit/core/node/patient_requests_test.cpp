// Which requests a leader lets wait for an entry that is made anyway.
#include "core/node/patient_requests.hpp"

#include <gtest/gtest.h>

#include "tests/support/node_around_part.hpp"

namespace mortise::core::test {
namespace {

struct PatientRequestsTest : testing::Test {
    PatientRequestsTest() {
        holder = node.open(n2);
        other = node.open(n3);
        node.apply(Request{holder, Seq{1}, acquire("held")});
        node.apply(Request{holder, Seq{2}, acquire("held")});  // waits
    }

    static Acquire acquire(const std::string& name, LockMode mode = LockMode::exclusive) {
        Acquire acquire;
        acquire.names.push_back({name, mode});
        return acquire;
    }
    // Whether it takes these requests of the other session.
    bool takes(const std::vector<RequestBody>& bodies, const std::vector<Command>& before = {}) {
        BatchBuilder batch;
        for (const auto& command : before)
            batch.add(command);
        for (const auto& body : bodies)
            batch.add(Request{other, next_ = next_.next(), body});
        return patient.takes(decode(Forward{batch.take(), {}}, command_format_oldest));
    }
    bool are_due(Nanoseconds later = {}) {
        return patient.are_due(node.applied, node.now() + later);
    }

    NodeAroundPart node;
    SessionId holder;
    SessionId other;
    PatientRequests patient{node.machine};

private:
    Seq next_;
};

TEST_F(PatientRequestsTest, ThoseThatCanOnlyQueue) {
    EXPECT_TRUE(takes({acquire("held")}));
    EXPECT_TRUE(takes({acquire("held", LockMode::shared)}, {Acknowledge{other, LogIndex{1}}}));
    EXPECT_FALSE(patient.empty());
}

TEST_F(PatientRequestsTest, NoneThatMayBeGrantedOrAnswered) {
    EXPECT_FALSE(takes({acquire("free")}));
    EXPECT_FALSE(takes({Release{Seq{1}}}));
    EXPECT_FALSE(takes({acquire("held"), Release{Seq{1}}}));
    EXPECT_FALSE(takes({acquire("held"), acquire("free")}));
    EXPECT_FALSE(takes({}, {Acknowledge{other, LogIndex{1}}}));
    auto a_try = acquire("held");
    a_try.wait = false;
    EXPECT_FALSE(takes({a_try}));
    auto several = acquire("held");
    several.names.push_back({"free"});
    EXPECT_FALSE(takes({several}));
    auto permits = acquire("held");
    permits.permits = permits.limit = 1;
    EXPECT_FALSE(takes({permits}));
    EXPECT_TRUE(patient.empty());
}

// The session may have released it just now; and the holder is told of its first waiter (S24, S43).
TEST_F(PatientRequestsTest, NotTheFirstThatWaits) {
    node.apply(Request{holder, Seq{3}, acquire("not waited for")});
    EXPECT_FALSE(takes({acquire("not waited for")}));
}

// P10: each would cost a look at every waiter.
TEST_F(PatientRequestsTest, NoneUntilEndedSessionsAreSwept) {
    ASSERT_TRUE(takes({acquire("held")}));
    EXPECT_FALSE(are_due());
    const auto ending = node.open(n1);
    node.apply(Request{ending, Seq{1}, acquire("theirs")});
    node.apply(Expire{ending, node.machine.sessions().find(ending)->renewed_at});
    ASSERT_TRUE(node.machine.needs_sweep());
    EXPECT_FALSE(takes({acquire("held")}));
    EXPECT_TRUE(are_due());
}

TEST_F(PatientRequestsTest, AFewOnly) {
    int taken = 0;
    while (taken < 1000 && takes({acquire("held")}))
        ++taken;
    EXPECT_EQ(taken, 32);
}

TEST_F(PatientRequestsTest, TheyAreDueAfterAMoment) {
    EXPECT_EQ(patient.deadline(), Instant::never());
    ASSERT_TRUE(takes({acquire("held")}));
    EXPECT_FALSE(are_due());
    EXPECT_EQ(patient.deadline(), node.now() + 3ms);
    EXPECT_FALSE(are_due(2ms));
    EXPECT_TRUE(are_due(3ms));
    patient.clear();
    EXPECT_FALSE(are_due(4ms));
    EXPECT_EQ(patient.deadline(), Instant::never());
}

TEST_F(PatientRequestsTest, TheyAreDueWhenOneOfThemMayBeGranted) {
    ASSERT_TRUE(takes({acquire("held")}));
    EXPECT_FALSE(are_due());
    node.apply(Request{holder, Seq{3}, Cancel{Seq{2}}});
    EXPECT_TRUE(are_due());
}

}  // namespace
}  // namespace mortise::core::test
