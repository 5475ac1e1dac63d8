// What a member does for a client, by the rights in its certificate: each request alone. The
// service does not check anything, so what it is asked is what the member lets through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/client_codec.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/tls_support.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/pieces.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using core::AccessRole;
using core::Right;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Notes what it is asked for.
struct AskedService final : ClientService {
    MemberStatus status() const override { return {}; }
    void list(ListRequest request, std::function<void(ListAnswer)> answer) override {
        asked.push_back((request.is_exact ? "inspect " : "list ") + request.prefix);
        answer(ListReply{});
    }
    void change(core::MembershipGoal /*goal*/, core::Nanoseconds /*patience*/,
                std::function<void(ChangeAnswer)> answer) override {
        asked.emplace_back("change");
        answer(core::Changed{});
    }
    void break_lock(core::BreakLock request, std::function<void(ChangeAnswer)> answer) override {
        asked.push_back("break " + request.name + " for " + request.asked_by);
        answer(core::Changed{});
    }
    void evict(core::EvictSession request, std::function<void(ChangeAnswer)> answer) override {
        asked.push_back("evict " + std::to_string(request.session.raw()) + " for " +
                        request.asked_by);
        answer(core::Changed{});
    }
    ClientObserver observe(core::ObservedNames names, core::Position /*from*/) override {
        asked.push_back("observe " + names.prefix);
        return PlainService::no_news;
    }
    void sessions(SessionsRequest /*request*/,
                  std::function<void(SessionsAnswer)> answer) override {
        asked.emplace_back("sessions");
        answer(SessionsReply{});
    }
    ActivityAnswer activity(const std::string& /*prefix*/) const override {
        ++asked_of_activity;
        return core::ActivityView{};
    }
    core::Result<core::ClientId> admit(std::shared_ptr<ClientConnection> /*connection*/) override {
        return core::ClientId{1};
    }
    void said(core::ClientId /*client*/, std::vector<core::ClientMessage> /*messages*/,
              const Speaker& speaker) override {
        const auto* identity = speaker.identity;
        accesses.push_back(identity != nullptr ? identity->access : core::Access::all());
    }

    std::vector<std::string> asked;
    mutable int asked_of_activity = 0;
    std::vector<core::Access> accesses;
};

class MemberRights : public testing::Test {
protected:
    MemberRights() {
        node_ = std::make_unique<Node>(
            io_, 1, addresses_,
            [&](NetworkOptions& options, core::Hello&) {
                options.cluster = "orders";
                options.credentials = authority_.node(1);
            },
            &service_);
        EXPECT_TRUE(node_->start());
    }
    // From now on the user alice asks, with that role and those rules.
    void come_with(AccessRole role, std::vector<core::AccessRule> rules = {}) {
        client_ = std::make_unique<MemberClient>(
            io_, core::ClusterId{},
            authority_.issue({"orders", {}, "alice", {{role}, std::move(rules)}}));
        const auto hello = wait<core::Hello>(
            [&](auto done) { client_->connect(addresses_[0], 10s, std::move(done)); });
        ASSERT_TRUE(hello) << hello.error().what;
    }
    template <class T, class Start>
    core::Result<T> wait(Start start) {
        std::optional<core::Result<T>> answer;
        start([&](core::Result<T> result) { answer.emplace(std::move(result)); });
        EXPECT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
        return answer.value_or(core::Error{});
    }
    // Why it is denied; empty if it is not.
    template <class Answer, class Start>
    std::string denial(Start start) {
        const auto answer = wait<Answer>(std::move(start));
        if (!answer) return "no answer: " + answer.error().what;
        const auto* denied = std::get_if<core::Denied>(&*answer);
        return denied != nullptr ? denied->why : "";
    }
    std::string list(const std::string& name, bool is_exact = false) {
        ListRequest request;
        request.prefix = name;
        request.is_exact = is_exact;
        return denial<ListAnswer>([&](auto done) { client_->list(request, std::move(done)); });
    }
    std::string observe(const std::string& prefix) {
        ObserveRequest request;
        request.names.prefix = prefix;
        return denial<ObserveAnswer>(
            [&](auto done) { client_->observe(request, std::move(done)); });
    }
    std::string sessions() {
        return denial<SessionsAnswer>([&](auto done) { client_->sessions({}, std::move(done)); });
    }
    std::string activity() {
        return denial<ActivityAnswer>(
            [&](auto done) { client_->activity("jobs/", std::move(done)); });
    }
    std::string change() {
        const core::MembershipGoal goal{core::MembershipGoal::Kind::gone, core::NodeId{2}, {}};
        return denial<ChangeAnswer>(
            [&](auto done) { client_->change(goal, 10s, std::move(done)); });
    }
    std::string break_lock(const std::string& name) {
        return denial<ChangeAnswer>([&](auto done) {
            client_->break_lock({name, core::FencingToken{1}, "stuck"}, std::move(done));
        });
    }

    std::string evict() {
        return denial<ChangeAnswer>([&](auto done) {
            client_->evict({core::SessionId{7}, "stuck"}, std::move(done));
        });
    }

    asio::io_context io_;
    std::vector<std::string> addresses_{free_address(), free_address()};
    Authority authority_{"orders"};
    AskedService service_;
    std::unique_ptr<Node> node_;
    std::unique_ptr<MemberClient> client_;
};

TEST_F(MemberRights, ToListTakeToObserveThePrefix) {
    come_with(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_THAT(list(""), HasSubstr("user alice may not observe \"\""));
    EXPECT_THAT(list("orders/"), HasSubstr("may not observe"));
    EXPECT_THAT(service_.asked, IsEmpty());
    EXPECT_EQ(list("jobs/a"), "");
    EXPECT_THAT(service_.asked, ElementsAre("list jobs/a"));
}

TEST_F(MemberRights, ToInspectTakeToObserveTheName) {
    come_with(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_THAT(list("orders/1", true), HasSubstr("user alice may not observe \"orders/1\""));
    EXPECT_THAT(service_.asked, IsEmpty());
    EXPECT_EQ(list("jobs/1", true), "");
    EXPECT_THAT(service_.asked, ElementsAre("inspect jobs/1"));
}

TEST_F(MemberRights, ToFollowTakeToObserveThePrefix) {
    come_with(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_THAT(observe(""), HasSubstr("user alice may not observe \"\""));
    EXPECT_THAT(service_.asked, IsEmpty());
    EXPECT_EQ(observe("jobs/"), "");
    EXPECT_THAT(service_.asked, ElementsAre("observe jobs/"));
}

// They show the whole cluster.
TEST_F(MemberRights, ToSeeTheSessionsTakeToObserveEveryName) {
    come_with(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_THAT(sessions(), HasSubstr("user alice may not observe"));
    EXPECT_THAT(service_.asked, IsEmpty());
    come_with(AccessRole::observer);
    EXPECT_EQ(sessions(), "");
    EXPECT_THAT(service_.asked, ElementsAre("sessions"));
}

TEST_F(MemberRights, ToSeeTheActivityTakeToObserveEveryName) {
    come_with(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_THAT(activity(), HasSubstr("user alice may not observe"));
    EXPECT_EQ(service_.asked_of_activity, 0);
    come_with(AccessRole::observer);
    EXPECT_EQ(activity(), "");
    EXPECT_EQ(service_.asked_of_activity, 1);
}

TEST_F(MemberRights, ToChangeTheMembersAreThoseOfAnAdmin) {
    come_with(AccessRole::observer);
    EXPECT_THAT(change(), HasSubstr("user alice may not change the members"));
    EXPECT_THAT(service_.asked, IsEmpty());
    come_with(AccessRole::admin);
    EXPECT_EQ(change(), "");
    EXPECT_THAT(service_.asked, ElementsAre("change"));
}

TEST_F(MemberRights, ToBreakAreForTheNameAndTheOperatorIsNamed) {
    come_with(AccessRole::admin, {{Right::break_lock, "jobs/"}});
    EXPECT_THAT(break_lock("orders/1"), HasSubstr("user alice may not break \"orders/1\""));
    EXPECT_THAT(service_.asked, IsEmpty());
    EXPECT_EQ(break_lock("jobs/1"), "");
    EXPECT_THAT(service_.asked, ElementsAre("break jobs/1 for user alice"));
}

TEST_F(MemberRights, ToEvictAreThoseToBreakEveryName) {
    come_with(AccessRole::admin, {{Right::break_lock, "jobs/"}});
    EXPECT_THAT(evict(), HasSubstr("user alice may not break \"\""));
    EXPECT_THAT(service_.asked, IsEmpty());
    come_with(AccessRole::admin);
    EXPECT_EQ(evict(), "");
    EXPECT_THAT(service_.asked, ElementsAre("evict 7 for user alice"));
}

// It is the member that writes them into the opening of a session.
TEST_F(MemberRights, OfAClientNodeAreThoseOfItsCertificate) {
    const std::vector<core::AccessRule> rules{{Right::acquire, "jobs/"}};
    come_with(AccessRole::client, rules);
    PieceWriter pieces;
    pieces.add(core::encode(core::ClientMessage{core::Ping{}}));
    ASSERT_TRUE(
        wait<void>([&](auto done) { client_->say(pieces.take(said_bytes_max), std::move(done)); }));
    EXPECT_THAT(service_.accesses, ElementsAre(core::Access{{AccessRole::client}, rules}));
}

}  // namespace
}  // namespace mortise::transport
