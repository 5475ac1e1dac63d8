// Which holds of its clients a member watches (S24).
#include "core/node/attached_clients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"

namespace mortise::core {
namespace {

using namespace std::chrono_literals;

class AttachedClientsTest : public testing::Test {
protected:
    AttachedClientsTest() {
        say(client_, Attach{7, {}});
        say(client_, forward(opening(7)));
        apply(opening(7));
        apply(opening(8));
    }
    static OpenSession opening(std::uint64_t nonce) {
        OpenSession opening;
        opening.nonce = nonce;
        opening.ttl_ms = 10'000;
        opening.rho_ppm = 10'000;
        return opening;
    }
    static Forward forward(const Command& command) {
        BatchBuilder batch;
        batch.add(command);
        return {batch.take(), {}};
    }
    void say(ClientId from, ClientMessage message) {
        clients_.said({from, {std::move(message)}, Access::all(), {}}, Instant{});
        collect();
    }
    void apply(const Command& command) {
        index_ = index_.next();
        Outcomes outcomes;
        machine_.apply(index_, {command}, outcomes);
        for (const auto& outcome : outcomes)
            clients_.on_outcome(outcome, index_);
        for (const auto& outcome : outcomes) {
            if (const auto* queued = std::get_if<Queued>(&outcome); queued != nullptr)
                contentions_.somebody_waits(name_of_waiter_);
        }
        collect();
    }
    // Whether the request with that number is passed on to the leader.
    bool is_passed_on(std::uint64_t seq) {
        (void)clients_.take_forwards();
        say(client_, forward(Request{session_, Seq{seq}, acquire("a")}));
        return !clients_.take_forwards().empty();
    }
    // A hundred others have something under way.
    void crowd_asks(Seq seq) {
        for (std::uint64_t i = 1; i <= 100; ++i) {
            const ClientId other{100 + i};
            const SessionId session{2 + i};
            if (machine_.sessions().find(session) == nullptr) {
                say(other, Attach{1'000 + i, {}});
                say(other, forward(opening(1'000 + i)));
                apply(opening(1'000 + i));
            }
            say(other, forward(Request{session, seq, acquire("a")}));
        }
    }
    // Does what a node does at the end of a step. `contended_` has the holds of clients as well,
    // before they are taken out.
    void collect() {
        clients_.tell_states(index_);
        contended_ = contentions_.take(machine_);
        auto contended = contended_;
        clients_.take_theirs(contended);
        auto told = clients_.collect(index_);
        notices_ = std::move(told.notices);
        unfit_ = std::move(told.unfit);
        flow_ = std::move(told.flow);
    }
    // The client's next request comes by way of this member, or of another one.
    enum class Way : std::uint8_t { here, elsewhere };
    Seq ask(RequestBody body, Way way = Way::here) {
        const Request request{session_, seq_ = seq_.next(), std::move(body)};
        if (way == Way::here) say(client_, forward(request));
        apply(request);
        return request.seq;
    }
    static Acquire acquire(std::string name, LockMode mode = LockMode::exclusive) {
        Acquire request;
        request.names.push_back({std::move(name), mode});
        request.wait = true;
        return request;
    }
    Seq hold(const std::string& name, LockMode mode = LockMode::exclusive) {
        const auto seq = ask(acquire(name, mode));
        say(client_, WatchHold{seq});
        return seq;
    }
    void let_another_wait_for(const std::string& name) {
        name_of_waiter_ = name;
        apply(Request{SessionId{2}, others_seq_ = others_seq_.next(), acquire(name)});
    }
    std::vector<OperationId> contended_holds() const {
        std::vector<OperationId> holds;
        for (const auto& one : contended_)
            holds.push_back(one.hold);
        return holds;
    }

    NodeOptions options_;
    LockMachine machine_;
    ContentionWatch contentions_;
    AttachedClients clients_{options_, machine_, contentions_};
    const ClientId client_{1};
    const SessionId session_{1};
    LogIndex index_;
    Seq seq_;
    Seq others_seq_;
    std::string name_of_waiter_;
    std::vector<Contended> contended_;
    std::vector<std::pair<ClientId, ClientNotice>> notices_;
    std::vector<ClientId> unfit_;
    std::vector<ClientFlow::Change> flow_;
};

TEST_F(AttachedClientsTest, NobodyHasMoreWaitingThanItsShare) {
    EXPECT_TRUE(is_passed_on(client_requests_max));
    EXPECT_FALSE(is_passed_on(client_requests_max + 1));
    EXPECT_THAT(unfit_, testing::IsEmpty());
    ask(acquire("b"));  // is applied
    EXPECT_TRUE(is_passed_on(client_requests_max + 1));
    EXPECT_FALSE(is_passed_on(client_requests_max + 2));
}

// P10: otherwise a hundred clients fill the queues of everybody, each within its window.
TEST_F(AttachedClientsTest, WhoHasMuchUnderWayWaitsUntilItIsApplied) {
    crowd_asks(Seq{1});
    ASSERT_TRUE(is_passed_on(64));
    EXPECT_THAT(flow_, testing::IsEmpty());
    ASSERT_TRUE(is_passed_on(65));
    EXPECT_THAT(flow_, testing::ElementsAre(ClientFlow::Change{client_, 500ms}));
    apply(Request{session_, Seq{1}, acquire("b")});
    EXPECT_THAT(flow_, testing::ElementsAre(ClientFlow::Change{client_, {}}));
    ASSERT_TRUE(is_passed_on(66));
    apply(Request{session_, Seq{2}, acquire("b")});  // waits in the queue
    EXPECT_THAT(flow_, testing::ElementsAre(ClientFlow::Change{client_, {}}));
}

// It must be able to say again at once what the former leader did not do.
TEST_F(AttachedClientsTest, NobodyWaitsForWhatIsNotAppliedAnyMore) {
    crowd_asks(Seq{1});
    ASSERT_TRUE(is_passed_on(65));
    clients_.on_leader(false);
    collect();
    EXPECT_THAT(flow_, testing::ElementsAre(ClientFlow::Change{client_, {}}));
    crowd_asks(Seq{2});
    ASSERT_TRUE(is_passed_on(65));
    apply(Request{session_, Seq{1}, CloseSession{}});
    EXPECT_THAT(flow_, testing::ElementsAre(ClientFlow::Change{client_, {}}));
}

// The requests are dropped: the client is heard less often, instead of being read in vain.
TEST_F(AttachedClientsTest, WhoAsksForTooMuchWaits) {
    ASSERT_FALSE(is_passed_on(client_requests_max + 1));
    EXPECT_THAT(flow_, testing::ElementsAre(ClientFlow::Change{client_, 500ms}));
}

// Otherwise the session would be lost because of them.
TEST_F(AttachedClientsTest, ARenewalIsPassedOnWithoutTheRequestsThatAreTooMany) {
    auto message = forward(Request{session_, Seq{client_requests_max + 1}, acquire("a")});
    message.renewal = Renewal{session_, 1};
    (void)clients_.take_forwards();
    say(client_, message);
    const auto passed_on = clients_.take_forwards();
    ASSERT_EQ(passed_on.size(), 1U);
    EXPECT_TRUE(passed_on[0].batch.empty());
    EXPECT_EQ(passed_on[0].renewal, message.renewal);
}

// Its member would write all the answers to disk again and again.
TEST_F(AttachedClientsTest, AClientAcknowledgesWhatItWasTold) {
    for (std::uint64_t i = 0; i < 2 * client_requests_max; ++i)
        apply(Request{session_, seq_ = seq_.next(), acquire("a" + std::to_string(i))});
    EXPECT_FALSE(is_passed_on(seq_.raw() + 1));
    const auto oldest = machine_.sessions().find(session_)->answers.oldest();
    const auto acknowledge = [&](LogIndex received) {
        BatchBuilder batch;
        batch.add(Acknowledge{session_, received});
        batch.add(Request{session_, seq_.next(), acquire("a")});
        say(client_, Forward{batch.take(), {}});
        return !clients_.take_forwards().empty();
    };
    EXPECT_FALSE(acknowledge(oldest.previous())) << "it forgets nothing";
    EXPECT_TRUE(acknowledge(oldest));
    EXPECT_TRUE(is_passed_on(seq_.raw() + 1)) << "the acknowledgement is on its way";
    EXPECT_TRUE(acknowledge(LogIndex{1'000'000'000}));
    apply(Acknowledge{session_, LogIndex{1'000'000'000}});
    for (std::uint64_t i = 0; i < 2 * client_requests_max; ++i)
        apply(Request{session_, seq_ = seq_.next(), acquire("b" + std::to_string(i))});
    EXPECT_FALSE(is_passed_on(seq_.raw() + 1)) << "it was not told of these";
}

// The client is told in the form of an answer to a renewal that lists what is lost, because every
// version of a client understands that.
TEST_F(AttachedClientsTest, AnEvictedClientIsToldOfAllThatItHolds) {  // S24
    const auto a = ask(acquire("a"));
    let_another_wait_for("b");
    ask(acquire("b"));  // waits
    const auto c = ask(acquire("c"));
    apply(Request{SessionId{2}, others_seq_ = others_seq_.next(), EvictSession{session_, "stuck"}});
    ASSERT_EQ(notices_.size(), 1U);
    ASSERT_EQ(notices_[0].second.outcomes.size(), 1U);
    const Outcome last = SessionRenewed{session_, last_renewal, {a, c}};
    EXPECT_EQ(notices_[0].second.outcomes[0].outcome, last);
}

TEST_F(AttachedClientsTest, AHoldIsWatchedUntilItIsReleased) {
    const auto a = hold("a");
    const auto b = hold("b");
    EXPECT_FALSE(contentions_.is_empty());
    ask(Release{a});
    EXPECT_FALSE(contentions_.is_empty());
    ask(Release{b});
    EXPECT_TRUE(contentions_.is_empty());
}

TEST_F(AttachedClientsTest, AHoldThatIsCancelledIsNotWatched) {
    ask(Cancel{hold("a")});
    EXPECT_TRUE(contentions_.is_empty());
}

TEST_F(AttachedClientsTest, AHoldThatIsReleasedByWayOfAnotherMemberIsWatchedUntilTheNextRenewal) {
    ask(Release{hold("a")}, Way::elsewhere);
    EXPECT_FALSE(contentions_.is_empty());
    apply(Renew{{{session_, 1}}});
    EXPECT_TRUE(contentions_.is_empty());
}

// Two renewals, because each examines a thousand.
TEST_F(AttachedClientsTest, ManyAreExaminedInSeveralRenewals) {
    std::vector<Seq> holds;
    for (int i = 0; i < 1'500; ++i)
        holds.push_back(hold("a" + std::to_string(i)));
    for (const auto one : holds)
        ask(Release{one}, Way::elsewhere);
    apply(Renew{{{session_, 1}}});
    EXPECT_FALSE(contentions_.is_empty());
    apply(Renew{{{session_, 2}}});
    EXPECT_TRUE(contentions_.is_empty());
}

// The owner of a hold that was not converted has nothing new to hear.
TEST_F(AttachedClientsTest, AConversionConcernsOneHold) {
    const auto a = hold("a");
    const auto b = hold("b");
    let_another_wait_for("a");
    EXPECT_THAT(contended_holds(), testing::ElementsAre(OperationId{session_, a}));
    let_another_wait_for("b");
    EXPECT_THAT(contended_holds(), testing::ElementsAre(OperationId{session_, b}));
    ask(Downgrade{a, LockMode::shared});
    EXPECT_THAT(contended_holds(), testing::ElementsAre(OperationId{session_, a}));
}

TEST_F(AttachedClientsTest, AConversionByWayOfAnotherMemberIsNoticed) {
    const auto a = hold("a");
    let_another_wait_for("a");
    ask(Downgrade{a, LockMode::shared}, Way::elsewhere);
    EXPECT_THAT(contended_holds(), testing::ElementsAre(OperationId{session_, a}));
}

// A request may be sent again, and a hold may have several.
TEST_F(AttachedClientsTest, TheNewestRequestOfAHoldCounts) {
    const auto a = hold("a");
    const Request downgrade{session_, seq_.next(), Downgrade{a, LockMode::shared}};
    const Request release{session_, seq_.next().next(), Release{a}};
    say(client_, forward(downgrade));
    say(client_, forward(release));
    say(client_, forward(downgrade));
    say(client_, forward(release));
    apply(downgrade);
    EXPECT_FALSE(contentions_.is_empty());
    apply(release);
    EXPECT_TRUE(contentions_.is_empty());
    EXPECT_THAT(unfit_, testing::IsEmpty());
}

// --- places (docs/decisions/0066)

class FullMember : public testing::Test {
protected:
    static NodeOptions small() {
        NodeOptions options;
        options.client_places = 2;
        return options;
    }
    void say(std::uint64_t client, ClientMessage message, Access access = Access::all()) {
        clients_.said({ClientId{client}, {std::move(message)}, std::move(access), {}}, Instant{});
        clients_.tell_states(LogIndex{});
        for (auto& [to, notice] : clients_.collect(LogIndex{}).notices)
            told_[to.raw()] = notice;
    }
    [[nodiscard]] bool has_place(std::uint64_t client) const {
        return clients_.places().has(ClientId{client});
    }

    NodeOptions options_ = small();
    LockMachine machine_;
    ContentionWatch contentions_;
    AttachedClients clients_{options_, machine_, contentions_};
    std::map<std::uint64_t, ClientNotice> told_;
};

TEST_F(FullMember, HasPlacesOnlyForThoseThatMayHaveASession) {
    say(1, Ping{});
    say(2, Attach{7, {}}, Access{{AccessRole::observer}, {}});
    EXPECT_THAT(told_[2].refused, testing::HasSubstr("needs the role client"));
    EXPECT_EQ(clients_.places().size(), 0U);
    say(3, Attach{8, {}});
    EXPECT_TRUE(has_place(3));
}

TEST_F(FullMember, TakesNoPlaceForOneThatMayNotHaveASession) {
    say(1, Attach{7, {}});
    say(2, Attach{8, {}});
    say(3, Attach{9, {}}, Access{{AccessRole::observer}, {}});
    EXPECT_TRUE(has_place(1));
    EXPECT_TRUE(has_place(2));
    // Its certificate was replaced by one that allows less.
    say(1, Attach{10, {}}, Access{{AccessRole::observer}, {}});
    EXPECT_FALSE(has_place(1));
}

TEST_F(FullMember, TellsWhoLosesItsPlaceAndServesItNoMore) {
    say(1, Attach{7, {}});
    say(2, Attach{8, {}});
    ASSERT_TRUE(told_[1].state);
    say(3, Attach{9, {}});
    EXPECT_THAT(told_[1].refused, testing::HasSubstr("another client needed its place"));
    EXPECT_FALSE(has_place(1));
    EXPECT_TRUE(has_place(3));
    BatchBuilder batch;
    OpenSession opening;
    opening.nonce = 7;
    batch.add(Command{opening});
    say(1, Forward{batch.take(), {}});
    EXPECT_TRUE(clients_.take_forwards().empty());
}

// It goes to another member.
TEST_F(FullMember, LooksForAPlaceOnceForEachConnection) {  // P10
    say(1, Attach{7, {}});
    say(2, Attach{8, {}});
    say(3, Attach{9, {}});
    ASSERT_FALSE(has_place(1));
    clients_.gone(ClientId{2});
    say(1, Attach{10, {}});
    EXPECT_FALSE(has_place(1));
}

TEST_F(FullMember, HasAPlaceAgainWhenAConnectionEnds) {
    say(1, Attach{7, {}});
    clients_.gone(ClientId{1});
    EXPECT_EQ(clients_.places().size(), 0U);
}

// Its former connection is not closed yet.
TEST_F(FullMember, KeepsThePlaceOfWhoComesBackByAnotherConnection) {
    say(1, Attach{7, {}});
    say(2, Attach{8, {}});
    say(3, Attach{8, {}});
    EXPECT_TRUE(has_place(1));
    EXPECT_FALSE(has_place(2));
    EXPECT_TRUE(has_place(3));
}

// S40: a client whose lease was extended has been told of every recall before.
TEST_F(AttachedClientsTest, ARecallIsToldNoLaterThanTheRenewalsBehindIt) {
    auto request = acquire("a");
    request.cached_tokens = 8;
    const OperationId grant{session_, ask(request)};
    EXPECT_THAT(contended_holds(), testing::IsEmpty());
    let_another_wait_for("a");
    ASSERT_EQ(notices_.size(), 1U);
    ASSERT_EQ(notices_[0].second.contended.size(), 1U);
    EXPECT_EQ(notices_[0].second.contended[0].hold, grant);
    EXPECT_EQ(notices_[0].second.applied, index_);
}

TEST_F(AttachedClientsTest, TheStateOfASessionComesWithTheRecallsThatAreOpen) {
    auto request = acquire("a");
    request.cached_tokens = 8;
    const OperationId grant{session_, ask(request)};
    let_another_wait_for("a");
    const ClientId another{2};
    say(another, Attach{7, index_});
    ASSERT_EQ(notices_.size(), 1U);
    EXPECT_EQ(notices_[0].first, another);
    EXPECT_TRUE(notices_[0].second.state);
    ASSERT_EQ(notices_[0].second.contended.size(), 1U);
    EXPECT_EQ(notices_[0].second.contended[0].hold, grant);
    // Also when this member has received the state of another one.
    clients_.on_state_replaced();
    collect();
    ASSERT_EQ(notices_.size(), 1U);
    EXPECT_TRUE(notices_[0].second.state);
    EXPECT_EQ(notices_[0].second.contended.size(), 1U);
}

// It would keep others waiting for as long as its client uses it.
TEST_F(AttachedClientsTest, ACachedGrantIsWatchedHoweverManyHoldsAre) {
    constexpr std::size_t holds_watched_max = 65'536;
    for (std::size_t i = 0; i < holds_watched_max; ++i) {
        const Request request{session_, seq_ = seq_.next(), acquire("b" + std::to_string(i))};
        Outcomes outcomes;
        machine_.apply(index_ = index_.next(), {request}, outcomes);
        clients_.said({client_, {WatchHold{seq_}}, Access::all(), {}}, Instant{});
    }
    collect();
    hold("c");
    let_another_wait_for("c");
    EXPECT_THAT(contended_holds(), testing::IsEmpty());
    auto request = acquire("a");
    request.cached_tokens = 8;
    const OperationId grant{session_, ask(request)};
    let_another_wait_for("a");
    EXPECT_THAT(contended_holds(), testing::ElementsAre(grant));
}

class EarlierMember : public AttachedClientsTest {
protected:
    EarlierMember() { options_.command_format = command_format_oldest; }
};

TEST_F(EarlierMember, ReportsNoRecall) {
    auto request = acquire("a");
    request.cached_tokens = 8;
    ask(request);
    let_another_wait_for("a");
    EXPECT_THAT(contended_holds(), testing::IsEmpty());
}

}  // namespace
}  // namespace mortise::core
