// The judge of locks finds what is wrong with permits of semaphores (S15, S34, P3).
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

core::Request permits(core::SessionId session, std::uint64_t seq, std::uint32_t count) {
    auto request = acquire(session, seq);
    auto& body = std::get<core::Acquire>(request.body);
    body.permits = count;
    body.limit = 3;
    return request;
}

struct SemaphoreHistory : LockHistoryTest {
    void ask_for(core::NodeId node, std::uint64_t tag, std::uint32_t count) {
        core::AcquireCall call;
        call.tag = core::CallTag{tag};
        call.request.names.push_back({"name"});
        call.request.permits = count;
        call.request.limit = 3;
        history.asked(node, call);
    }
    void tell(core::NodeId node, std::uint64_t tag, core::OperationId hold, core::Slots slots) {
        auto told = acquired(hold, token_of(hold));
        told.parts.front().slots = std::move(slots);
        history.answered(node, {core::CallTag{tag}, std::move(told)}, last);
    }
};

TEST_F(SemaphoreHistory, HoldersOfDifferentSlotsMayBothBelieveInThem) {
    ask_for(a, 1, 2);
    ask_for(b, 1, 1);
    apply({permits(of_a, 1, 2), permits(of_b, 1, 1)});
    tell(a, 1, operation(of_a, 1), {0, 1});
    tell(b, 1, operation(of_b, 1), {2});
    EXPECT_EQ(found(), "");
}

TEST_F(SemaphoreHistory, OtherSlotsThanGrantedAreNoticed) {
    ask_for(a, 1, 1);
    apply({permits(of_a, 1, 1)});
    tell(a, 1, operation(of_a, 1), {1});
    EXPECT_NE(found().find("a grant that the log does not have"), std::string::npos) << found();
}

TEST_F(SemaphoreHistory, OneSlotOfTwoHoldersIsNoticed) {  // P2
    Beliefs beliefs{
        violations,
        tally,
        {[](core::NodeId) { return core::Instant{}; }, [](core::NodeId) { return false; }}};
    beliefs.lease_changed(a, {of_a, {1'000}});
    beliefs.lease_changed(b, {of_b, {1'000}});
    const std::vector<core::NamedMode> name{{"name"}};
    beliefs.begins(a, operation(of_a, 1), name, core::Instant::never(), {0, 1});
    beliefs.begins(b, operation(of_b, 1), name, core::Instant::never(), {2});
    EXPECT_EQ(found(), "");
    beliefs.begins(b, operation(of_b, 2), name, core::Instant::never(), {1});
    EXPECT_NE(found().find("local validity"), std::string::npos) << found();
}

// What the log says about two grants, of which the second is changed.
struct SemaphoreBook : SemaphoreHistory {
    LogBook book{violations, tally};

    void read(core::Applied applied, const std::vector<core::Command>& batch) {
        book.read(applied.entry.id, batch, applied.outcomes);
    }
    void grant_with(std::uint64_t seq, core::Slots slots, core::FencingToken token) {
        const std::vector<core::Command> batch{permits(of_a, seq, 1)};
        auto applied = entry(batch);
        auto& given = granted(applied).answer.names.front();
        given.slots = std::move(slots);
        given.token = token;
        read(std::move(applied), batch);
    }
};

TEST_F(SemaphoreBook, ASlotAboveTheLimitIsNoticed) {
    grant_with(1, {2}, core::FencingToken{1});
    EXPECT_EQ(found(), "");
    grant_with(2, {3}, core::FencingToken{2});
    EXPECT_NE(found().find("above every limit"), std::string::npos) << found();
}

TEST_F(SemaphoreBook, ATokenThatDoesNotRiseIsNoticed) {  // P1
    grant_with(1, {0}, core::FencingToken{5});
    EXPECT_EQ(found(), "");
    grant_with(2, {0}, core::FencingToken{5});
    EXPECT_NE(found().find("token order"), std::string::npos) << found();
}

}  // namespace
}  // namespace mortise::sim::test
