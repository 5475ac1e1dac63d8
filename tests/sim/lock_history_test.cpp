// The judge of locks is only worth something if it bites: each of its verdicts gets a history.
#include "tests/sim/lock_history.hpp"

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/sim/expect_violation.hpp"

namespace mortise::sim {
namespace {

constexpr core::NodeId a{1};
constexpr core::NodeId b{2};
constexpr core::SessionId of_a{1};
constexpr core::SessionId of_b{2};

core::Request acquire(core::SessionId session, std::uint64_t seq, bool wait = true) {
    core::Acquire body;
    body.name = "name";
    body.wait = wait;
    return {session, core::Seq{seq}, {}, body};
}

core::Request release(core::SessionId session, std::uint64_t seq, std::uint64_t operation) {
    return {session, core::Seq{seq}, {}, core::Release{core::Seq{operation}}};
}

core::OpenSession opening(core::NodeId node) {
    core::OpenSession open;
    open.nonce = 10 + node.raw();
    open.node = node;
    open.incarnation = core::Incarnation{20 + node.raw()};
    open.boot_epoch = core::BootEpoch{1};
    open.ttl_ms = 1'000;
    return open;
}

core::OperationId operation(core::SessionId session, std::uint64_t seq) {
    return {session, core::Seq{seq}};
}

// The log of two nodes with a session each. What happens is true until a test changes it.
struct LockHistoryTest : testing::Test {
    LockHistoryTest() {
        history.applied(a, entry({opening(a), opening(b)}));
        lease(a, of_a, 1'000);
        lease(b, of_b, 1'000);
    }

    // The next entry, as the machine applies it.
    core::Applied entry(const std::vector<core::Command>& commands) {
        core::BatchBuilder batch;
        for (const auto& command : commands)
            batch.add(command);
        last = last.next();
        core::Applied applied{
            core::make_entry({core::Term{1}, last}, core::EntryKind::commands, batch.take()), {}};
        machine.apply(last, commands, applied.outcomes);
        return applied;
    }
    void apply(const std::vector<core::Command>& commands) { history.applied(a, entry(commands)); }
    void lease(core::NodeId node, core::SessionId session, std::int64_t until) {
        history.lease_changed(node, {session, {until}});
    }
    void ask(core::NodeId node, std::uint64_t tag) {
        core::AcquireCall call;
        call.tag = core::CallTag{tag};
        call.request.name = "name";
        history.asked(node, call);
    }
    void answer(core::NodeId node, std::uint64_t tag, core::OperationId hold,
                core::FencingToken token) {
        history.answered(node, {core::CallTag{tag}, core::Acquired{hold, token, {}}}, last);
    }
    [[nodiscard]] core::FencingToken token_of(core::OperationId hold) const {
        for (const auto& grant : machine.inspect("name").holders) {
            if (grant.operation == hold) return grant.token;
        }
        return {};
    }
    static core::Answered& granted(core::Applied& applied) {
        for (auto& outcome : applied.outcomes) {
            if (auto* answered = std::get_if<core::Answered>(&outcome)) return *answered;
        }
        throw std::logic_error{"nothing was answered"};
    }
    void inspect(core::NodeId node, std::uint64_t tag) {
        core::InspectCall call;
        call.tag = core::CallTag{tag};
        call.name = "name";
        history.inspected(node, call);
    }
    // It was granted, told, and is believed.
    void acquire_and_tell(core::NodeId node, core::SessionId session, std::uint64_t seq) {
        ask(node, seq);
        apply({acquire(session, seq)});
        answer(node, seq, operation(session, seq), token_of(operation(session, seq)));
    }
    [[nodiscard]] std::string found() const {
        return violations.first() ? violations.first()->what : "";
    }

    Violations violations;
    Tally tally;
    std::map<core::NodeId, core::Instant> boot;
    bool out_of_bounds = false;
    LockHistory history{violations,
                        tally,
                        {[this](core::NodeId node) { return boot[node]; },
                         [this](core::NodeId) { return out_of_bounds; }}};
    core::LockMachine machine;
    core::LogIndex last;
};

TEST_F(LockHistoryTest, IsContentWithAnHonestHistory) {
    acquire_and_tell(a, of_a, 1);
    ask(b, 7);
    auto queued = entry({acquire(of_b, 1)});
    history.applied(a, queued);
    history.applied(b, queued);
    history.releasing(a, operation(of_a, 1));
    apply({release(of_a, 2, 1)});
    answer(b, 7, operation(of_b, 1), token_of(operation(of_b, 1)));
    inspect(a, 8);
    history.answered(a, {core::CallTag{8}, core::Viewed{{machine.inspect("name")}}}, last);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(history.last(), last);
}

TEST_F(LockHistoryTest, SeesAnEntryThatDoesNotDecode) {
    auto applied = entry({acquire(of_a, 1)});
    applied.entry.payload = core::Bytes{"nonsense"};
    history.applied(a, applied);
    EXPECT_VIOLATION("an entry that does not decode");
}

TEST_F(LockHistoryTest, SeesAnOutcomeThatTheSpecificationDoesNotHave) {
    auto applied = entry({acquire(of_a, 1)});
    granted(applied).answer.previous.label = "somebody";
    history.applied(a, applied);
    EXPECT_VIOLATION("the specification differs at index 2");
}

TEST_F(LockHistoryTest, SeesTwoNodesThatDiffer) {
    auto applied = entry({acquire(of_a, 1)});
    history.applied(a, applied);
    applied.outcomes.clear();
    history.applied(b, applied);
    EXPECT_VIOLATION("other outcomes at index 2");
}

TEST_F(LockHistoryTest, SeesAGrantThatNobodyAskedFor) {
    auto applied = entry({acquire(of_a, 1)});
    granted(applied).operation = operation(of_b, 9);
    history.applied(a, applied);
    EXPECT_VIOLATION("was granted, not asked for");
}

TEST_F(LockHistoryTest, SeesATokenThatDoesNotRise) {
    apply({acquire(of_a, 1), release(of_a, 2, 1)});
    auto applied = entry({acquire(of_a, 3)});
    granted(applied).answer.token = core::FencingToken{1};
    history.applied(a, applied);
    EXPECT_VIOLATION("token order");
}

TEST_F(LockHistoryTest, SeesAGrantThatIsNotInTheLog) {
    ask(a, 1);
    answer(a, 1, operation(of_a, 1), core::FencingToken{1});
    EXPECT_VIOLATION("a grant that the log does not have");
}

TEST_F(LockHistoryTest, SeesAGrantToldWithAnotherToken) {
    ask(a, 1);
    apply({acquire(of_a, 1)});
    answer(a, 1, operation(of_a, 1), token_of(operation(of_a, 1)).next());
    EXPECT_VIOLATION("a grant that the log does not have");
}

TEST_F(LockHistoryTest, SeesAGrantFromBeforeItWasAskedFor) {
    apply({acquire(of_a, 1)});
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{{machine.inspect("name")}}}, last);
    ask(a, 1);
    answer(a, 1, operation(of_a, 1), token_of(operation(of_a, 1)));
    EXPECT_VIOLATION("took effect before it was asked");
}

TEST_F(LockHistoryTest, SeesAReadOfAStateThatIsTooOld) {
    acquire_and_tell(a, of_a, 1);
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{}}, last.previous());
    EXPECT_VIOLATION("real time: a read as of index 1");
}

TEST_F(LockHistoryTest, LetsALocalReadBeOld) {
    acquire_and_tell(a, of_a, 1);
    core::InspectCall call;
    call.tag = core::CallTag{8};
    call.local = true;
    history.inspected(b, call);
    history.answered(b, {core::CallTag{8}, core::Viewed{}}, last.previous());
    EXPECT_EQ(found(), "");
}

TEST_F(LockHistoryTest, SeesABusyAnswerFromAStateThatIsTooOld) {
    acquire_and_tell(a, of_a, 1);
    ask(b, 8);
    history.answered(b, {core::CallTag{8}, core::Busy{}}, last.previous());
    EXPECT_VIOLATION("real time: a read as of index 1");
}

TEST_F(LockHistoryTest, SeesAViewThatIsNotWhatIsThere) {
    apply({acquire(of_a, 1)});
    auto view = machine.inspect("name");
    view.holders.clear();
    inspect(b, 8);
    history.answered(b, {core::CallTag{8}, core::Viewed{{view}}}, last);
    EXPECT_VIOLATION("name looks other than specified at index 2");
}

// The session of a ends in the cluster while a's lease, as it was told, goes on.
struct TwoBelieve : LockHistoryTest {
    void let_a_hold_beyond_its_session() {
        acquire_and_tell(a, of_a, 1);
        apply({core::CloseSession{of_a}});
    }
};

TEST_F(TwoBelieve, SeesTwoThatBelieveToHoldTheSame) {
    let_a_hold_beyond_its_session();
    acquire_and_tell(b, of_b, 1);
    EXPECT_VIOLATION("local validity: node 2 and node 1 both believe to hold name");
}

TEST_F(TwoBelieve, SeesALeaseThatIsProlongedTooLate) {
    boot[a] = {2'000};  // its lease was over when the other one began
    let_a_hold_beyond_its_session();
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
    lease(a, of_a, 3'000);
    EXPECT_VIOLATION("local validity");
}

TEST_F(TwoBelieve, WhoWasToldOfTheLossBelievesNothing) {
    let_a_hold_beyond_its_session();
    history.lost(a, {operation(of_a, 1), {}});
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
}

TEST_F(TwoBelieve, ANodeThatDiedBelievesNothing) {
    let_a_hold_beyond_its_session();
    history.node_lost(a);
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
}

TEST_F(TwoBelieve, NothingIsPromisedWhileClocksAreOutOfBounds) {
    out_of_bounds = true;
    let_a_hold_beyond_its_session();
    acquire_and_tell(b, of_b, 1);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("two believed it, clocks out of bounds"), 1U);
}

}  // namespace
}  // namespace mortise::sim
