// The judge of histories: eras.
#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

struct AnEra : LockHistoryTest {
    AnEra() {
        apply({core::RaiseCeiling{core::FencingToken{50}}});
        history.applied(a, era());
    }
    void open_again() { apply({core::EndClosure{machine.eras().closing->id}}); }
    // Nobody has opened it before.
    static core::OpenSession another() {
        auto open = opening(b);
        open.nonce += 100;
        open.generation.boot_epoch = core::BootEpoch{2};
        return open;
    }
};

TEST_F(AnEra, EndsAllSessionsAndGoesOn) {
    EXPECT_TRUE(machine.sessions().all().empty());
    apply({another()});
    open_again();
    apply({another()});
    const auto session = machine.sessions().newest();
    apply({acquire(session, 1)});
    EXPECT_GT(token_of(operation(session, 1)), core::FencingToken{50});
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(AnEra, OpensNoSessionBeforeTheLeasesHaveEnded) {
    auto early = entry({another()});
    early.outcomes = {core::SessionOpened{core::SessionId{3}, another().nonce}};
    history.applied(a, early);
    EXPECT_VIOLATION("era: a session opened while others may be forgotten");
}

TEST_F(AnEra, GivesNoTokenThatMayBeForgotten) {
    open_again();
    apply({another()});
    auto low = entry({acquire(machine.sessions().newest(), 1)});
    for (auto& outcome : low.outcomes) {
        if (auto* answered = std::get_if<core::Answered>(&outcome))
            answered->answer.token = core::FencingToken{50};
    }
    history.applied(a, low);
    EXPECT_VIOLATION("may be forgotten by this era");
}

TEST_F(AnEra, IsAsSpecified) {
    auto other = era();
    other.outcomes = {core::SessionEnded{core::SessionId{1}, core::SessionEnd::expired}};
    history.applied(a, other);
    EXPECT_VIOLATION("the specification differs at an era");
}

}  // namespace
}  // namespace mortise::sim::test
