// Runs of QueueAdmission over the parts of a lock table. The order of waiters is tested with the
// lock machine.
#include "core/locks/table/admission.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using enum LockMode;

class QueueAdmissionTest : public testing::Test {
protected:
    static OperationId operation(std::uint64_t session) { return {SessionId{session}, Seq{1}}; }
    void wait(const std::string& name, std::uint64_t session, LockMode mode,
              Part part = Part::alone) {
        Waiter waiter;
        waiter.ticket = {LogIndex{session}, 0};
        waiter.operation = operation(session);
        waiter.mode = mode;
        waiter.part = part;
        auto record = names_.look_up(name);
        if (!record) record = names_.create(name, QueuePolicy::fifo, 0);
        if (part != Part::alone) groups_.join(name, waiter);
        names_.ensure_queue(record).add(waiter);
    }
    // The sessions that were granted.
    std::vector<std::uint64_t> run(const std::string& name) {
        Grants grants;
        const auto record = names_.record(name);
        QueueAdmission{{names_, holds_, groups_}, traces_, gone_, grants}.run({&record, 1});
        std::vector<std::uint64_t> sessions;
        for (const auto& one : grants)
            sessions.push_back(one.operation.session.raw());
        return sessions;
    }
    using Sessions = std::vector<std::uint64_t>;

    NameTable names_;
    Holds holds_;
    RequestGroups groups_;
    TraceRemover traces_;
    QueueAdmission::Gone gone_;
};

TEST_F(QueueAdmissionTest, LetsInAsManyAsFit) {
    wait("a", 1, shared);
    wait("a", 2, shared);
    wait("a", 3, exclusive);
    EXPECT_EQ(run("a"), (Sessions{1, 2}));
    EXPECT_EQ(run("a"), Sessions{});
    EXPECT_EQ(names_.changes().front()->name(), "a");
    EXPECT_FALSE(would_admit(names_.find("a"), shared, 0));
    EXPECT_TRUE(would_admit(nullptr, exclusive, 0));
}

TEST_F(QueueAdmissionTest, ARequestForAnyNameLeavesTheOthers) {  // S32
    wait("a", 1, exclusive, Part::one_of);
    wait("b", 1, exclusive, Part::one_of);
    wait("b", 2, exclusive);
    EXPECT_EQ(run("a"), (Sessions{1, 2}));  // the request behind it goes on
    EXPECT_TRUE(groups_.all().empty());
}

TEST_F(QueueAdmissionTest, ARequestForAllNamesEntersEverywhereOrNowhere) {  // S32
    wait("b", 1, exclusive);
    wait("a", 2, exclusive, Part::all_of);
    wait("b", 2, exclusive, Part::all_of);
    EXPECT_EQ(run("a"), (Sessions{}));
    EXPECT_EQ(run("b"), (Sessions{1}));
    holds_.release("b", *names_.record("b"), operation(1), Predecessor::clean);
    EXPECT_EQ(run("b"), (Sessions{2}));
    EXPECT_EQ(names_.record("a")->holders().size(), 1U);
}

TEST_F(QueueAdmissionTest, RemovesEndedSessionsBefore) {  // S11
    wait("a", 1, exclusive);
    ASSERT_EQ(run("a"), Sessions{1});
    wait("a", 2, exclusive);
    wait("a", 3, exclusive);
    const Departure expired{Predecessor::expired, {}};
    const TraceRemover::Ended ended = [&](OperationId one) {
        return one.session < SessionId{3} ? &expired : nullptr;
    };
    traces_.begin(2, &ended);
    EXPECT_EQ(run("a"), Sessions{3});
    ASSERT_EQ(gone_.size(), 1U);
    EXPECT_EQ(gone_.front().second, (std::vector{operation(2), operation(1)}));
    EXPECT_EQ(names_.find("a")->previous().how, Predecessor::expired);
}

TEST_F(QueueAdmissionTest, TracesAreRemovedInParts) {  // S11, P10
    wait("a", 1, exclusive);
    run("a");
    wait("a", 2, exclusive, Part::one_of);
    const Departure clean;
    const TraceRemover::Ended ended = [&](OperationId) { return &clean; };
    traces_.begin(2, &ended);
    EXPECT_TRUE(traces_.is_needed());
    const auto first = traces_.remove(names_.record("a"), 1, {names_, holds_, groups_});
    EXPECT_EQ(first.gone, std::vector{operation(2)});
    EXPECT_FALSE(first.is_done);
    EXPECT_TRUE(groups_.all().empty());
    const auto second = traces_.remove(names_.record("a"), 1, {names_, holds_, groups_});
    EXPECT_EQ(second.gone, std::vector{operation(1)});
    EXPECT_TRUE(second.is_done);
    EXPECT_TRUE(traces_.remove(names_.record("a"), 1, {names_, holds_, groups_}).gone.empty());
    traces_.begin(2, nullptr);
    EXPECT_FALSE(traces_.is_needed());
}

}  // namespace
}  // namespace mortise::core
