#include "transport/clients/member_client.hpp"

#include <atomic>
#include <thread>

#include <asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/client_codec.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "transport/clients/blocking_member_client.hpp"
#include "transport/clients/client_service.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/pieces.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using core::NodeId;

struct Service : ClientService {
    MemberStatus status() const override {
        MemberStatus status;
        status.self = NodeId{1};
        status.cluster = {7, 8};
        status.ready = true;
        status.term = core::Term{4};
        status.leader = NodeId{3};
        status.version = "1.2.3";
        status.sessions = 12;
        return status;
    }
    void list(ListRequest request, std::function<void(ListAnswer)> answer) override {
        requests.push_back(request);
        if (hold_answers) {
            held.push_back(std::move(answer));
        } else {
            answer(answer_to_list);
        }
    }
    void change(core::MembershipGoal goal, core::Nanoseconds patience,
                std::function<void(ChangeAnswer)> answer) override {
        goals.push_back(std::move(goal));
        patiences.push_back(patience);
        held_changes.push_back(std::move(answer));
    }
    void break_lock(core::BreakLock request, std::function<void(ChangeAnswer)> answer) override {
        breaks.push_back(std::move(request));
        held_changes.push_back(std::move(answer));
    }
    void evict(core::EvictSession request, std::function<void(ChangeAnswer)> answer) override {
        evictions.push_back(std::move(request));
        held_changes.push_back(std::move(answer));
    }
    core::Result<core::ClientId> admit(std::shared_ptr<ClientConnection> connection) override {
        if (!why_not_admitted.empty())
            return core::Error{std::make_error_code(std::errc::connection_refused),
                               why_not_admitted};
        connections.push_back(std::move(connection));
        return core::ClientId{connections.size()};
    }
    void said(core::ClientId client, std::vector<core::ClientMessage> messages,
              const Speaker& speaker) override {
        EXPECT_EQ(speaker.identity, nullptr);
        EXPECT_EQ(speaker.address, "127.0.0.1");
        ++calls;
        for (auto& message : messages)
            words.emplace_back(client, std::move(message));
    }
    void gone(core::ClientId client) noexcept override { left.push_back(client); }

    int calls = 0;
    std::string why_not_admitted;
    std::vector<std::shared_ptr<ClientConnection>> connections;
    std::vector<std::pair<core::ClientId, core::ClientMessage>> words;
    std::vector<core::ClientId> left;
    // The answers are held; an observer that is destroyed is counted.
    ClientObserver observe(core::ObservedNames names, core::Position from) override {
        observed.emplace_back(names.prefix, from);
        const std::shared_ptr<void> end{nullptr, [this](void*) { ++observers_gone; }};
        return [this, end](core::Nanoseconds patience, std::function<void(ObserveAnswer)> answer) {
            patiences.push_back(patience);
            held_news.push_back(std::move(answer));
        };
    }
    void sessions(SessionsRequest request, std::function<void(SessionsAnswer)> answer) override {
        session_requests.push_back(request);
        answer(answer_to_sessions);
    }
    ActivityAnswer activity(const std::string& prefix) const override {
        auto answer = answer_to_activity;
        if (auto* view = std::get_if<core::ActivityView>(&answer)) view->cluster = prefix;
        return answer;
    }
    ActivityAnswer answer_to_activity = core::ActivityView{};
    std::vector<std::pair<std::string, core::Position>> observed;
    std::vector<std::function<void(ObserveAnswer)>> held_news;
    int observers_gone = 0;
    std::vector<SessionsRequest> session_requests;
    SessionsAnswer answer_to_sessions = SessionsReply{};
    std::vector<ListRequest> requests;
    ListAnswer answer_to_list = ListReply{};
    bool hold_answers = false;
    std::vector<std::function<void(ListAnswer)>> held;
    std::vector<core::MembershipGoal> goals;
    std::vector<core::Nanoseconds> patiences;
    std::vector<std::function<void(ChangeAnswer)>> held_changes;
    std::vector<core::BreakLock> breaks;
    std::vector<core::EvictSession> evictions;
};

class MemberClientTest : public testing::Test {
protected:
    MemberClientTest() {
        node_ = std::make_unique<Node>(
            io_, 1, std::vector{address_},
            [](NetworkOptions& /*options*/, core::Hello& hello) {
                hello.cluster = {7, 8};
            },
            &service_);
        EXPECT_TRUE(node_->start());
    }

    template <class T, class Start>
    core::Result<T> wait(Start start) {
        std::optional<core::Result<T>> answer;
        start([&](core::Result<T> result) { answer.emplace(std::move(result)); });
        EXPECT_FALSE(answer) << "called back from within the call";
        if (!run_until(io_, [&] { return answer.has_value(); }))
            return core::Error{std::make_error_code(std::errc::timed_out), "the test timed out"};
        return std::move(*answer);
    }
    core::Result<core::Hello> connect() {
        return wait<core::Hello>(
            [&](auto done) { client_->connect(address_, 10s, std::move(done)); });
    }
    core::Result<SessionsAnswer> sessions(const SessionsRequest& request) {
        return wait<SessionsAnswer>(
            [&](auto done) { client_->sessions(request, std::move(done)); });
    }
    // Asks, and runs until the service was asked.
    void ask_to_observe(const ObserveRequest& request) {
        const auto before = service_.held_news.size();
        client_->observe(request, [this](core::Result<ObserveAnswer> answer) {
            news_.push_back(std::move(answer));
        });
        ASSERT_TRUE(run_until(io_, [&] { return service_.held_news.size() > before; }));
    }
    // The service answers the newest question.
    ObserveAnswer news(const ObserveAnswer& answer) {
        const auto before = news_.size();
        std::exchange(service_.held_news.back(), nullptr)(answer);
        EXPECT_TRUE(run_until(io_, [&] { return news_.size() > before; }));
        if (news_.empty() || !news_.back()) return core::CallError::node_stopped;
        return *news_.back();
    }
    core::Result<ListAnswer> list(const ListRequest& request) {
        return wait<ListAnswer>([&](auto done) { client_->list(request, std::move(done)); });
    }

    std::string address_ = free_address();
    asio::io_context io_;
    Service service_;
    std::unique_ptr<Node> node_;
    std::unique_ptr<MemberClient> client_ = std::make_unique<MemberClient>(io_);
    std::vector<core::Result<ObserveAnswer>> news_;
};

// Events of every kind.
std::vector<core::Observed> all_kinds() {
    core::NameState state;
    state.name = "orders/7";
    core::Grant cached;
    cached.operation = {core::SessionId{5}, core::Seq{2}};
    cached.mode = core::LockMode::shared;
    cached.token = core::FencingToken{17};
    cached.since = core::LogIndex{90};
    cached.label = "a label";
    cached.cached_tokens = 4;
    core::Grant permits;
    permits.operation = {core::SessionId{6}, core::Seq{1}};
    permits.token = core::FencingToken{18};
    permits.slots = {0, 3};
    state.holders = {cached, permits};
    state.nodes = {NodeId{1}, {}};
    state.value = core::LockValue{std::string{"v\0v", 3}, 3, true};
    core::NameChange removed;
    removed.kind = core::NameChange::Kind::value_removed;
    removed.name = "orders/8";
    core::NameChange released;
    released.kind = core::NameChange::Kind::released;
    released.name = "orders/7";
    released.hold = {core::SessionId{5}, core::Seq{2}};
    released.node = NodeId{1};
    released.token = core::FencingToken{17};
    released.since = core::LogIndex{90};
    released.how = core::Predecessor::broken;
    released.label = "a label";
    core::NameChange set;
    set.kind = core::NameChange::Kind::value_set;
    set.name = "orders/9";
    set.hold = {core::SessionId{5}, core::Seq{3}};
    set.bytes = "bytes";
    set.version = 9;
    set.dirty = true;
    const core::Position at{core::LogIndex{100}, 2, 77};
    return {{{}, core::Gap{}},
            {{}, state},
            {core::Position::after(core::LogIndex{99}), core::StateComplete{}},
            {at, removed},
            {at, released},
            {at, set}};
}

TEST_F(MemberClientTest, IsToldEveryKindOfNews) {
    ASSERT_TRUE(connect());
    ask_to_observe({{"orders/", false}, {core::LogIndex{7}, 1, 77}, false, 9s});
    EXPECT_EQ(service_.observed.at(0).first, "orders/");
    EXPECT_EQ(to_text(service_.observed.at(0).second), "7.1.77");
    EXPECT_EQ(service_.patiences.at(0), 9s);
    const ObserveReply told{all_kinds(), {core::LogIndex{100}, 5, 77}, true, true};
    const auto reply = std::get<ObserveReply>(news(told));
    EXPECT_EQ(to_text(reply.reached), "100.5.77");
    EXPECT_TRUE(reply.more && reply.is_ready);
    ASSERT_EQ(reply.events.size(), told.events.size());
    for (std::size_t i = 0; i < told.events.size(); ++i) {
        EXPECT_EQ(to_text(reply.events[i].position), to_text(told.events[i].position));
        EXPECT_EQ(reply.events[i].what.index(), told.events[i].what.index());
    }
    const auto& state = std::get<core::NameState>(reply.events[1].what);
    const auto& sent = std::get<core::NameState>(told.events[1].what);
    EXPECT_EQ(state.name, sent.name);
    EXPECT_EQ(state.holders, sent.holders);
    EXPECT_EQ(state.nodes, sent.nodes);
    EXPECT_EQ(state.value, sent.value);
    for (std::size_t i = 3; i < told.events.size(); ++i)
        EXPECT_EQ(std::get<core::NameChange>(reply.events[i].what),
                  std::get<core::NameChange>(told.events[i].what));
}

TEST_F(MemberClientTest, ContinuesItsOneObserver) {
    ASSERT_TRUE(connect());
    ask_to_observe({{"a", false}, {}, false, 1s});
    news(ObserveReply{});
    ask_to_observe({{}, {}, true, 1s});
    news(ObserveReply{});
    EXPECT_EQ(service_.observed.size(), 1U);
    ask_to_observe({{"b", true}, {}, false, 1s});
    EXPECT_EQ(service_.observers_gone, 1);
    EXPECT_EQ(service_.observed.back().first, "b");
    client_.reset();
    ASSERT_TRUE(run_until(io_, [&] { return service_.observers_gone == 2; }));
}

TEST_F(MemberClientTest, HasOneQuestionForNewsAtATime) {
    ASSERT_TRUE(connect());
    ask_to_observe({{"a", false}, {}, false, 1s});
    const auto second = wait<ObserveAnswer>([&](auto done) {
        client_->observe({{}, {}, true, 1s}, std::move(done));
    });
    ASSERT_TRUE(second);
    EXPECT_EQ(std::get<core::CallError>(*second), core::CallError::resource_exhausted);
}

TEST_F(MemberClientTest, CannotContinueWhatItHasNotBegun) {
    ASSERT_TRUE(connect());
    EXPECT_FALSE(wait<ObserveAnswer>([&](auto done) {
        client_->observe({{}, {}, true, 1s}, std::move(done));
    }));
}

TEST_F(MemberClientTest, ListsSessions) {
    ASSERT_TRUE(connect());
    SessionsReply page{{{core::SessionId{4}, NodeId{2}, 10'000, 3, 1, "a label", 5s, 9s},
                        {core::SessionId{9}, {}, 2'000, 0, 0, "", 0s, {}}},
                       true};
    service_.answer_to_sessions = page;
    const SessionsRequest request{core::SessionId{3}, 10, true};
    const auto answer = sessions(request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<SessionsReply>(*answer), page);
    EXPECT_THAT(service_.session_requests, testing::ElementsAre(request));
    service_.answer_to_sessions = core::CallError::no_quorum;
    const auto failed = sessions(request);
    ASSERT_TRUE(failed);
    EXPECT_EQ(std::get<core::CallError>(*failed), core::CallError::no_quorum);
}

TEST_F(MemberClientTest, LearnsWhatIsContended) {
    ASSERT_TRUE(connect());
    const core::Rates rates{10s, 1, 2, 3, 4, {5us, 6us}, {7us, 8us}};
    core::ActivityView view;
    view.node = core::NodeId{2};
    view.cluster = "jobs/";  // the service repeats the prefix
    view.leader = core::NodeId{3};
    view.members = 3;
    view.sessions = 4;
    view.names = 5;
    view.contention = {6, 7, 8s, {{"orders/", 1, 2, 3, 4, 5s}, {"", 6, 7, 8, 9, 10s}}};
    view.hottest = {{"jobs/1", core::RecordKind::semaphore, 1, 2, 3s}};
    view.recent = rates;
    view.slots = {rates, {}};
    service_.answer_to_activity = view;
    const auto ask = [&](const std::string& prefix) {
        return wait<ActivityAnswer>([&](auto done) { client_->activity(prefix, std::move(done)); });
    };
    const auto answer = ask("jobs/");
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<core::ActivityView>(*answer), view);
    service_.answer_to_activity = core::Denied{"not you"};
    const auto denied = ask({});
    ASSERT_TRUE(denied);
    EXPECT_EQ(std::get<core::Denied>(*denied).why, "not you");
    EXPECT_FALSE(ask(std::string(600, 'a'))) << "a prefix is no longer than a name";
}

TEST_F(MemberClientTest, LearnsWhomItTalksTo) {
    const auto hello = connect();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->node, NodeId{1});
    EXPECT_EQ(node_->network->counters().clients, 1U);
}

TEST_F(MemberClientTest, AsksForTheStatus) {
    ASSERT_TRUE(connect());
    const auto status = wait<MemberStatus>([&](auto done) { client_->status(std::move(done)); });
    ASSERT_TRUE(status);
    EXPECT_EQ(*status, service_.status());
}

TEST_F(MemberClientTest, ListsAPage) {
    ASSERT_TRUE(connect());
    ListReply page;
    page.more = true;
    page.locks.resize(1);
    page.locks[0].name = "orders/7";
    service_.answer_to_list = page;
    const ListRequest request{"orders/", "orders/6", 10, true, false};
    const auto answer = list(request);
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<ListReply>(*answer), page);
    EXPECT_THAT(service_.requests, testing::ElementsAre(request));
}

TEST_F(MemberClientTest, InspectsOneLockAndHearsWhyNot) {
    ASSERT_TRUE(connect());
    service_.answer_to_list = core::CallError::no_quorum;
    const auto answer = list({"orders/7", "", 1, false, true});
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::get<core::CallError>(*answer), core::CallError::no_quorum);
    EXPECT_TRUE(service_.requests.at(0).is_exact);
    EXPECT_EQ(service_.requests.at(0).prefix, "orders/7");
}

TEST_F(MemberClientTest, AsksForAChangeAndWaits) {
    ASSERT_TRUE(connect());
    const core::MembershipGoal goal{core::MembershipGoal::Kind::learner, NodeId{4}, "four:4"};
    const std::vector<ChangeAnswer> answers{
        core::Changed{}, core::MembershipRefusal::would_lose_quorum,
        core::CallError::outcome_unknown, core::Denied{"user alice may not"}};
    for (const auto& expected : answers) {
        std::optional<core::Result<ChangeAnswer>> answer;
        client_->change(goal, 3s, [&](auto result) { answer.emplace(std::move(result)); });
        ASSERT_TRUE(run_until(io_, [&] { return !service_.held_changes.empty(); }));
        EXPECT_EQ(service_.goals.back(), goal);
        EXPECT_EQ(service_.patiences.back(), 3s);
        std::exchange(service_.held_changes, {}).at(0)(expected);
        ASSERT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
        ASSERT_TRUE(*answer);
        EXPECT_EQ(**answer, expected);
    }
}

TEST_F(MemberClientTest, AsksForALockToBeBroken) {
    ASSERT_TRUE(connect());
    const core::BreakLock request{"orders/7", core::FencingToken{7}, "hangs", true};
    std::optional<core::Result<ChangeAnswer>> answer;
    client_->break_lock(request, [&](auto result) { answer.emplace(std::move(result)); });
    ASSERT_TRUE(run_until(io_, [&] { return !service_.held_changes.empty(); }));
    EXPECT_EQ(service_.breaks, std::vector{request});
    service_.held_changes.at(0)(core::CallError::not_held);
    ASSERT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
    ASSERT_TRUE(*answer);
    EXPECT_EQ(**answer, ChangeAnswer{core::CallError::not_held});
}

TEST_F(MemberClientTest, AsksForASessionToBeEvicted) {
    ASSERT_TRUE(connect());
    const core::EvictSession request{core::SessionId{7}, "hangs", true};
    std::optional<core::Result<ChangeAnswer>> answer;
    client_->evict(request, [&](auto result) { answer.emplace(std::move(result)); });
    ASSERT_TRUE(run_until(io_, [&] { return !service_.held_changes.empty(); }));
    EXPECT_EQ(service_.evictions, std::vector{request});
    service_.held_changes.at(0)(core::CallError::not_held);
    ASSERT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
    ASSERT_TRUE(*answer);
    EXPECT_EQ(**answer, ChangeAnswer{core::CallError::not_held});
}

TEST_F(MemberClientTest, AnEvictionThatMakesNoSenseEndsTheConnection) {
    const std::string long_reason(core::reason_bytes_max + 1, 'x');
    for (const auto& request : {core::EvictSession{core::SessionId{}, {}},
                                core::EvictSession{core::SessionId{7}, long_reason}}) {
        ASSERT_TRUE(connect());
        EXPECT_FALSE(
            wait<ChangeAnswer>([&](auto done) { client_->evict(request, std::move(done)); }));
        client_ = std::make_unique<MemberClient>(io_);
    }
    EXPECT_TRUE(service_.evictions.empty());
}

// No program sends this, so the connection is closed.
TEST_F(MemberClientTest, ABreakThatMakesNoSenseEndsTheConnection) {
    const core::FencingToken token{7};
    const std::string long_reason(core::reason_bytes_max + 1, 'x');
    for (const auto& request :
         {core::BreakLock{"", token, {}}, core::BreakLock{"a", core::FencingToken{}, {}},
          core::BreakLock{"a", token, long_reason}}) {
        ASSERT_TRUE(connect());
        EXPECT_FALSE(
            wait<ChangeAnswer>([&](auto done) { client_->break_lock(request, std::move(done)); }));
        client_ = std::make_unique<MemberClient>(io_);
    }
    EXPECT_TRUE(service_.breaks.empty());
}

TEST_F(MemberClientTest, AsksForOneChangeAtATime) {
    ASSERT_TRUE(connect());
    const core::MembershipGoal goal{core::MembershipGoal::Kind::voter, NodeId{4}, {}};
    client_->change(goal, 3s, [](const auto&) {});
    const auto second =
        wait<ChangeAnswer>([&](auto done) { client_->change(goal, 3s, std::move(done)); });
    ASSERT_TRUE(second);
    EXPECT_EQ(*second, ChangeAnswer{core::CallError::resource_exhausted});
    EXPECT_EQ(service_.goals.size(), 1U);
}

TEST_F(MemberClientTest, AnAnswerMayComeLater) {
    ASSERT_TRUE(connect());
    service_.hold_answers = true;
    std::optional<core::Result<ListAnswer>> answer;
    client_->list({"a", "", 1, false, false}, [&](auto result) { answer = std::move(result); });
    ASSERT_TRUE(run_until(io_, [&] { return !service_.held.empty(); }));
    EXPECT_FALSE(answer);
    service_.held[0](ListReply{});
    ASSERT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
    EXPECT_TRUE(answer->has_value());
}

TEST_F(MemberClientTest, AnAnswerMayComeWhenNobodyIsThereAnyMore) {
    ASSERT_TRUE(connect());
    service_.hold_answers = true;
    client_->list({"a", "", 1, false, false}, [](auto) { ADD_FAILURE() << "closed"; });
    ASSERT_TRUE(run_until(io_, [&] { return !service_.held.empty(); }));
    client_.reset();
    ASSERT_TRUE(run_until(io_, [&] { return node_->network->counters().clients == 0; }));
    service_.held[0](ListReply{});
    node_.reset();
    service_.held[0](ListReply{});
}

// Both limits: that of one client, and that of all.
TEST_F(MemberClientTest, MoreListsThanAFewAreRefusedAtOnce) {
    service_.hold_answers = true;
    std::vector<std::unique_ptr<MemberClient>> clients;
    std::vector<core::CallError> refused;
    const auto ask = [&](MemberClient& client) {
        client.list({"a", "", 1, false, false}, [&](const core::Result<ListAnswer>& answer) {
            if (!answer) return;
            if (const auto* error = std::get_if<core::CallError>(&*answer))
                refused.push_back(*error);
        });
    };
    while (service_.held.size() < lists_max) {
        ASSERT_LE(clients.size(), lists_max / lists_per_client_max);
        client_ = std::make_unique<MemberClient>(io_);
        ASSERT_TRUE(connect());
        for (std::size_t i = 0; i <= lists_per_client_max; ++i)
            ask(*client_);
        clients.push_back(std::move(client_));
        ASSERT_TRUE(run_until(io_, [&] { return refused.size() == clients.size(); }));
        ASSERT_EQ(service_.held.size(), lists_per_client_max * clients.size());
    }
    client_ = std::make_unique<MemberClient>(io_);
    ASSERT_TRUE(connect());
    ask(*client_);
    ASSERT_TRUE(run_until(io_, [&] { return refused.size() == clients.size() + 1; }));
    EXPECT_THAT(refused, testing::Each(core::CallError::resource_exhausted));
    std::exchange(service_.held[0], nullptr)(ListReply{});
    ask(*client_);
    EXPECT_TRUE(run_until(io_, [&] { return service_.held.size() == lists_max + 1; }));
}

TEST_F(MemberClientTest, ABrokenConnectionIsToldToAllThatWait) {
    ASSERT_TRUE(connect());
    service_.hold_answers = true;
    int heard = 0;
    for (int i = 0; i < 2; ++i) {
        client_->list({"a", "", 1, false, false}, [&](const core::Result<ListAnswer>& answer) {
            EXPECT_FALSE(answer);
            ++heard;
        });
    }
    ASSERT_TRUE(run_until(io_, [&] { return service_.held.size() == 2; }));
    node_.reset();
    ASSERT_TRUE(run_until(io_, [&] { return heard == 2; }));
    EXPECT_FALSE(list({"a", "", 1, false, false}));
}

TEST_F(MemberClientTest, MayBeDestroyedInACallback) {
    ASSERT_TRUE(connect());
    bool called = false;
    client_->status([&](const core::Result<MemberStatus>&) {
        client_.reset();
        called = true;
    });
    client_->status([](const core::Result<MemberStatus>&) { ADD_FAILURE() << "closed"; });
    ASSERT_TRUE(run_until(io_, [&] { return called; }));
    EXPECT_TRUE(run_until(io_, [&] { return node_->network->counters().clients == 0; }));
}

TEST_F(MemberClientTest, ARefusalHasACode) {
    client_ = std::make_unique<MemberClient>(io_, core::ClusterId{9, 9});
    const auto hello = connect();
    ASSERT_FALSE(hello);
    EXPECT_EQ(hello.error().code, Refusal::wrong_cluster);
    EXPECT_EQ(node_->network->counters().refused.of(Refusal::wrong_cluster), 1U);
}

TEST_F(MemberClientTest, ANodeWithoutAServiceRefusesClients) {
    node_.reset();
    node_ = std::make_unique<Node>(io_, 1, std::vector{address_});
    ASSERT_TRUE(node_->start());
    const auto hello = connect();
    ASSERT_FALSE(hello);
    EXPECT_EQ(hello.error().code, Refusal::no_service);
}

TEST_F(MemberClientTest, NobodyThereIsAnError) {
    node_.reset();
    EXPECT_FALSE(connect());
    EXPECT_FALSE(list({"a", "", 1, false, false}));
}

TEST_F(MemberClientTest, ABlockingClientWaitsForItsAnswersButNotForEver) {
    std::atomic<bool> stop{false};
    service_.hold_answers = true;
    std::thread member{[&] {
        run_until(
            io_, [&] { return stop.load(); }, 60s);
    }};
    BlockingMemberClient client{10s};
    const auto hello = client.connect(address_);
    EXPECT_TRUE(hello);
    const auto status = client.status();
    EXPECT_TRUE(status && status->version == "1.2.3");
    BlockingMemberClient impatient{100ms};
    if (impatient.connect(address_)) {  // otherwise this machine is too slow
        const auto answer = impatient.list({"a", "", 1, false, false});
        const auto code = answer ? std::error_code{} : answer.error().code;
        EXPECT_EQ(code, std::errc::timed_out);
    }
    stop = true;
    member.join();
}

// --- client nodes

class ClientConnections : public MemberClientTest {
protected:
    core::Result<void> say(const std::string& piece) {
        return wait<void>([&](auto done) { client_->say(piece, std::move(done)); });
    }
    core::Result<void> say(const core::ClientMessage& message) {
        PieceWriter pieces;
        pieces.add(core::encode(message));
        return say(pieces.take(said_bytes_max));
    }
    // The next notice, however many pieces it has.
    std::optional<core::ClientNotice> hear() {
        while (true) {
            const auto piece =
                wait<std::string>([&](auto done) { client_->hear(std::move(done)); });
            if (!piece) return std::nullopt;
            const auto whole = heard_.take(*piece);
            if (!whole) return std::nullopt;
            if (!whole->empty()) return core::decode_client_notice(whole->front());
        }
    }
    static core::ClientNotice notice(std::uint64_t applied) {
        core::ClientNotice notice;
        notice.applied = core::LogIndex{applied};
        return notice;
    }

    PieceReader heard_{core::client_notice_bytes_max};
};

TEST_F(ClientConnections, CarryMessagesInBothDirections) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Attach{7, core::LogIndex{5}}));
    ASSERT_TRUE(say(core::Ping{}));
    ASSERT_EQ(service_.words.size(), 2U);
    EXPECT_EQ(service_.words[0].first, core::ClientId{1});
    EXPECT_EQ(std::get<core::Attach>(service_.words[0].second),
              (core::Attach{7, core::LogIndex{5}}));
    service_.connections.at(0)->send(notice(3));
    EXPECT_EQ(hear()->applied, core::LogIndex{3});
}

// P10: a client has few such calls open, so it says no more meanwhile.
TEST_F(ClientConnections, AreAnsweredLaterWhileTheyArePaused) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    int answered = 0;
    const auto begin_to_say = [&] {
        PieceWriter pieces;
        pieces.add(core::encode(core::Ping{}));
        client_->say(pieces.take(said_bytes_max), [&](core::Result<void> said) {
            if (said) ++answered;
        });
    };
    const auto is_answered = [&] {
        return run_until(
            io_, [&] { return answered == 2; }, 50ms);
    };
    auto& connection = *service_.connections.at(0);
    connection.pause(1h);
    begin_to_say();
    begin_to_say();
    EXPECT_FALSE(is_answered());
    EXPECT_EQ(service_.words.size(), 3U) << "what it says is heard";
    connection.resume();
    EXPECT_TRUE(run_until(io_, [&] { return answered == 2; }));
    EXPECT_TRUE(say(core::Ping{}));
    connection.pause(10ms);
    EXPECT_TRUE(say(core::Ping{})) << "the pause ends by itself";
    connection.pause(1h);
    begin_to_say();
    client_.reset();  // the call ends with its connection
    EXPECT_TRUE(run_until(io_, [&] { return !service_.left.empty(); }));
}

TEST_F(ClientConnections, AreHeardWhenThereIsSomething) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    std::optional<core::Result<std::string>> heard;
    client_->hear([&](core::Result<std::string> piece) { heard.emplace(std::move(piece)); });
    EXPECT_FALSE(run_until(
        io_, [&] { return heard.has_value(); }, 50ms));
    service_.connections.at(0)->send(notice(3));
    EXPECT_TRUE(run_until(io_, [&] { return heard.has_value(); }));
}

TEST_F(ClientConnections, CarryALongNoticeInPieces) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    auto long_notice = notice(3);
    long_notice.state = core::SessionState{7, core::SessionId{4}, std::string(300'000, 'x'), {}};
    service_.connections.at(0)->send(long_notice);
    const auto heard = hear();
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->state, long_notice.state);
}

TEST_F(ClientConnections, AreClosedWhenTheClientDoesNotHear) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    auto long_notice = notice(3);
    long_notice.state = core::SessionState{7, core::SessionId{4}, std::string(300'000, 'x'), {}};
    for (int i = 0; i < 5; ++i)
        service_.connections.at(0)->send(long_notice);
    EXPECT_TRUE(run_until(io_, [&] { return !service_.left.empty(); }));
}

TEST_F(ClientConnections, AreNotClosedForWhatFollowsALongState) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    auto state = notice(3);
    state.state = core::SessionState{7, core::SessionId{4}, std::string(2'000'000, 'x'), {}};
    service_.connections.at(0)->send(state);
    for (std::uint64_t i = 4; i < 14; ++i)
        service_.connections.at(0)->send(notice(i));
    const auto heard = hear();
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->state, state.state);
    EXPECT_TRUE(service_.left.empty());
}

// Each of them is within its own limit.
TEST_F(ClientConnections, TogetherHaveNoMoreThanTheyMay) {
    std::vector<std::unique_ptr<MemberClient>> others;
    auto state = notice(3);
    state.state = core::SessionState{7, core::SessionId{4}, std::string(5'000'000, 'x'), {}};
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(connect());
        ASSERT_TRUE(say(core::Ping{}));
        service_.connections.at(i)->send(state);
        others.push_back(std::exchange(client_, std::make_unique<MemberClient>(io_)));
    }
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    EXPECT_TRUE(service_.left.empty());
    state.state->row += std::string(1'000'000, 'x');
    service_.connections.at(3)->send(state);
    EXPECT_TRUE(run_until(io_, [&] { return !service_.left.empty(); }));
    EXPECT_THAT(service_.left, testing::ElementsAre(core::ClientId{4}));
    // What was closed does not count any more, and neither does what was heard.
    client_ = std::move(others.at(0));
    heard_ = PieceReader{core::client_notice_bytes_max};
    ASSERT_TRUE(hear());
    others.push_back(std::exchange(client_, std::make_unique<MemberClient>(io_)));
    heard_ = PieceReader{core::client_notice_bytes_max};
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    service_.connections.at(4)->send(state);
    ASSERT_TRUE(hear());
    EXPECT_THAT(service_.left, testing::SizeIs(1));
}

TEST_F(ClientConnections, EndWhenTheClientHasAnother) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    service_.connections.at(0)->hang_up();
    EXPECT_TRUE(run_until(io_, [&] { return !service_.left.empty(); }));
    EXPECT_EQ(node_->network->counters().malformed_messages, 0U);
}

TEST_F(ClientConnections, TakeWhatOneCallBringsTogether) {
    ASSERT_TRUE(connect());
    PieceWriter pieces;
    for (int i = 0; i < 100; ++i)
        pieces.add(core::encode(core::ClientMessage{core::Ping{}}));
    ASSERT_TRUE(say(pieces.take(said_bytes_max)));
    EXPECT_THAT(service_.words, testing::SizeIs(100));
    EXPECT_EQ(service_.calls, 1);
}

TEST_F(ClientConnections, EndWithTheirConnection) {
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    client_->close();
    EXPECT_TRUE(run_until(io_, [&] { return !service_.left.empty(); }));
    EXPECT_EQ(service_.left.front(), core::ClientId{1});
    service_.connections.at(0)->send(notice(3));  // has no effect
}

TEST_F(ClientConnections, TellWhoFindsNoPlaceWhy) {
    service_.why_not_admitted = "there is no place";
    ASSERT_TRUE(connect());
    ASSERT_TRUE(say(core::Ping{}));
    EXPECT_EQ(hear()->refused, "there is no place");
    EXPECT_TRUE(service_.words.empty());
}

TEST_F(ClientConnections, AreClosedForWhatNoClientSays) {
    ASSERT_TRUE(connect());
    PieceWriter pieces;
    pieces.add("nonsense");
    EXPECT_FALSE(say(pieces.take(said_bytes_max)));
    EXPECT_TRUE(run_until(io_, [&] { return !service_.left.empty(); }));
}

TEST_F(ClientConnections, AreClosedForPiecesAndMessagesThatAreTooLong) {
    ASSERT_TRUE(connect());
    EXPECT_FALSE(say(std::string(said_bytes_max + 1, 'x')));
    client_ = std::make_unique<MemberClient>(io_);
    ASSERT_TRUE(connect());
    EXPECT_FALSE(say(std::string(4, '\xff')));  // the length of a message of 4 GiB
}

TEST_F(ClientConnections, AreClosedForTooManyCallsThatWait) {
    ASSERT_TRUE(connect());
    std::size_t failed = 0;
    for (std::size_t i = 0; i < hears_max + 1; ++i)
        client_->hear([&](const core::Result<std::string>& piece) { failed += piece ? 0 : 1; });
    EXPECT_TRUE(run_until(io_, [&] { return failed == hears_max + 1; }));
}

}  // namespace
}  // namespace mortise::transport
