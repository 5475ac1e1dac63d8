// Who is who with TLS: each check of each side alone. The other side is made by hand and checks
// nothing, so no check of its own can hide that one is missing here.
#include <asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/tls_support.hpp"
#include "tests/unit/transport/unchecked_peer.hpp"
#include "transport/clients/member_client.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using core::NodeId;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Node 1 of the cluster "orders", whose peers are the nodes 2 and 3. It trusts the authority of
// another cluster as well.
class Identities : public testing::Test {
protected:
    std::unique_ptr<Node> node(const Authority::Credentials& credentials) {
        auto made = std::make_unique<Node>(
            io_, 1, addresses_,
            [&](NetworkOptions& options, core::Hello&) {
                options.cluster = "orders";
                options.credentials = credentials;
                options.election_timeout = 1min;  // no connection ends because a peer is silent
                options.log = [this](LogLevel, std::string text) { log_ += text + "\n"; };
            },
            &service_);
        EXPECT_TRUE(made->start());
        return made;
    }
    std::unique_ptr<Node> node() { return node(authority_.node(1, {&authority_, &billing_})); }

    // Nobody's certificates: each is signed by a trusted authority, or names the right node, and is
    // good for nothing.
    struct Untrusted {
        const char* what;
        Papers papers;
        const char* why;    // on the side that refuses
        const char* alert;  // on the other side
    };
    std::vector<Untrusted> untrusted(const std::string& wrong_purpose) {
        const auto names = names_of({"orders", NodeId{2}, {}, voter});
        const auto by_hand = [&](CertificateByHand draft) {
            draft.names = names;
            return sign_by_hand(authority_.own(), draft);
        };
        constexpr auto not_trusted = "it does not trust our certificate";
        return {{"authority", stranger_.papers_of_node(2), "not signed by an authority",
                 "does not know the authority"},
                {"end", by_hand({.validity = until_yesterday()}), "has expired",
                 "our certificate expired"},
                {"begin", by_hand({.validity = from_tomorrow()}), "is not valid yet", not_trusted},
                {"purpose", by_hand({.purposes = wrong_purpose}), "purpose", not_trusted},
                {"key", by_hand({.has_weak_key = true}), "key too weak", not_trusted}};
    }

    asio::io_context io_;
    std::vector<std::string> addresses_{free_address(), free_address(), free_address()};
    Authority authority_{"orders"};
    Authority billing_{"billing"};  // trusted, and of another cluster
    Authority stranger_{"orders"};  // of the same name, and not trusted
    NoService service_;
    std::string log_;
};

// --- who calls ----------------------------------------------------------------------------------

class CallersIdentity : public Identities {
protected:
    void SetUp() override { node_ = node(); }

    std::unique_ptr<UncheckedCaller> connect(const Papers& papers) {
        return std::make_unique<UncheckedCaller>(io_, addresses_[0], papers);
    }
    // When it is answered.
    std::unique_ptr<UncheckedCaller> call(const Papers& papers, const Greeting& greeting) {
        auto caller = connect(papers);
        caller->begin(greeting);
        EXPECT_TRUE(run_until(io_, [&] { return caller->is_answered(); }));
        return caller;
    }
    std::optional<Refusal> refusal(const Papers& papers, const Greeting& greeting) {
        return call(papers, greeting)->refusal();
    }
    [[nodiscard]] NetworkCounters counters() const { return node_->network->counters(); }
    // Whether its connection is open: it answers another hello, that there was one.
    bool is_open(UncheckedCaller& caller) {
        caller.greet(greeting_of_client());
        EXPECT_TRUE(run_until(io_, [&] { return caller.refusal() || caller.is_ended(); }));
        return caller.refusal() == Refusal::busy;
    }
    // The caller may hear of it first.
    void expect_failed_handshakes(std::uint64_t count) {
        EXPECT_TRUE(run_until(io_, [&] { return counters().handshakes_failed >= count; }));
        EXPECT_EQ(counters().handshakes_failed, count);
    }

    std::unique_ptr<Node> node_;
};

TEST_F(CallersIdentity, IsThatOfItsCertificate) {
    EXPECT_TRUE(call(authority_.papers_of_node(2), greeting_of(hello_of(2)))->is_accepted());
    EXPECT_TRUE(call(authority_.papers_of_node(2), greeting_of_client())->is_accepted());
    const auto alice = authority_.papers_of_user("alice", core::AccessRole::observer);
    EXPECT_TRUE(call(alice, greeting_of_client())->is_accepted());
    EXPECT_EQ(counters().refused.all(), 0U);
}

// Each member could take the place of every other one.
TEST_F(CallersIdentity, IsNotThatOfAnotherMember) {
    const auto papers = authority_.papers_of_node(3);
    for (const auto lane : {Lane::replication, Lane::forwarding})
        EXPECT_EQ(refusal(papers, greeting_of(hello_of(2), purpose_of(lane))), Refusal::identity);
    EXPECT_EQ(counters().refused.of(Refusal::identity), 2U);
    EXPECT_EQ(counters().refused.all(), 2U);
}

TEST_F(CallersIdentity, IsOfThisCluster) {
    const auto papers = billing_.papers_of_node(2);
    EXPECT_EQ(refusal(papers, greeting_of(hello_of(2))), Refusal::identity);
    EXPECT_EQ(refusal(papers, greeting_of_client()), Refusal::identity);
    const auto bob = billing_.papers_of_user("bob", core::AccessRole::admin);
    EXPECT_EQ(refusal(bob, greeting_of_client()), Refusal::identity);
    EXPECT_EQ(counters().refused.of(Refusal::identity), 3U);
}

TEST_F(CallersIdentity, AUserIsNoNode) {
    const auto mallory = authority_.papers_of_user("mallory", core::AccessRole::admin);
    EXPECT_EQ(refusal(mallory, greeting_of(hello_of(2))), Refusal::identity);
    EXPECT_EQ(counters().refused.of(Refusal::identity), 1U);
}

// A caller that is introduced may become a peer, at the address in its hello.
TEST_F(CallersIdentity, NobodyIsIntroducedInAnothersName) {
    EXPECT_EQ(refusal(authority_.papers_of_node(3), greeting_of(hello_of(9))), Refusal::identity);
    EXPECT_THAT(node_->events.callers, IsEmpty());
    EXPECT_EQ(refusal(authority_.papers_of_node(9), greeting_of(hello_of(9))),
              Refusal::unknown_node);
    EXPECT_THAT(node_->events.callers, SizeIs(1));
    EXPECT_EQ(counters().refused.of(Refusal::unknown_node), 1U);
}

TEST_F(CallersIdentity, OfThisNodeItselfIsRefused) {
    EXPECT_EQ(refusal(authority_.papers_of_node(1), greeting_of(hello_of(1))), Refusal::wrong_node);
    EXPECT_EQ(counters().refused.of(Refusal::wrong_node), 1U);
}

// A former member may be a peer for a while, and may not be a client.
TEST_F(CallersIdentity, OfAClientWithTheCertificateOfANodeIsAMembers) {
    EXPECT_EQ(refusal(authority_.papers_of_node(9), greeting_of_client()), Refusal::unknown_node);
    const auto client = call(authority_.papers_of_node(2), greeting_of_client());
    ASSERT_TRUE(client->is_accepted());
    node_->network->set_peers({{.id = NodeId{2}, .address = addresses_[1], .is_member = false},
                               {.id = NodeId{3}, .address = addresses_[2], .is_member = true}});
    EXPECT_TRUE(run_until(io_, [&] { return client->is_ended(); }));
    EXPECT_EQ(refusal(authority_.papers_of_node(2), greeting_of_client()), Refusal::unknown_node);
    EXPECT_TRUE(call(authority_.papers_of_node(2), greeting_of(hello_of(2)))->is_accepted());
}

TEST_F(CallersIdentity, OfAClientEndsWithItsNode) {
    const auto gone = call(authority_.papers_of_node(2), greeting_of_client());
    const auto stays = call(authority_.papers_of_node(3), greeting_of_client());
    const auto alice =
        call(authority_.papers_of_user("alice", core::AccessRole::admin), greeting_of_client());
    node_->network->set_peers({{.id = NodeId{3}, .address = addresses_[2], .is_member = true}});
    EXPECT_TRUE(run_until(io_, [&] { return gone->is_ended(); }));
    EXPECT_TRUE(is_open(*stays));
    EXPECT_TRUE(is_open(*alice));
}

// The rights of a connection are those of its purpose, which the first hello says.
TEST_F(CallersIdentity, IsSaidOnce) {
    const auto client = call(authority_.papers_of_node(2), greeting_of_client());
    ASSERT_TRUE(client->is_accepted());
    client->greet(greeting_of(hello_of(2)));
    EXPECT_TRUE(run_until(io_, [&] { return client->refusal().has_value(); }));
    EXPECT_EQ(client->refusal(), Refusal::busy);
    EXPECT_EQ(counters().clients, 1U);
}

TEST_F(CallersIdentity, TakesACertificate) {
    const auto caller = call(nullptr, greeting_of(hello_of(2)));
    EXPECT_FALSE(caller->is_accepted());
    EXPECT_EQ(caller->alert(), "it asks for a certificate");
    expect_failed_handshakes(1);
}

// The certificates of an authority may serve other things as well.
TEST_F(CallersIdentity, IsInItsCertificate) {
    const auto papers = sign_by_hand(authority_.own(), {.names = "DNS:orders-2.example.org"});
    EXPECT_FALSE(call(papers, greeting_of(hello_of(2)))->is_accepted());
    EXPECT_FALSE(call(papers, greeting_of_client())->is_accepted());
    expect_failed_handshakes(2);
    EXPECT_EQ(counters().refused.all(), 0U);
    EXPECT_THAT(log_, HasSubstr("it has no name of the form mortise://"));
}

// The handshake refuses it, with an alert that says why.
TEST_F(CallersIdentity, IsProvenByATrustedCertificate) {
    std::uint64_t refused = 0;
    for (const auto& one : untrusted("serverAuth")) {
        log_.clear();
        for (const auto& greeting : {greeting_of(hello_of(2)), greeting_of_client()}) {
            const auto caller = call(one.papers, greeting);
            EXPECT_FALSE(caller->is_accepted()) << one.what;
            EXPECT_THAT(caller->alert(), HasSubstr(one.alert)) << one.what;
            expect_failed_handshakes(++refused);
        }
        EXPECT_THAT(log_, HasSubstr(one.why)) << one.what;
    }
}

TEST_F(CallersIdentity, IsProvenByTheNewestVersionOfTls) {
    UncheckedCaller old{io_, addresses_[0], authority_.papers_of_node(2), TLS1_2_VERSION};
    old.begin(greeting_of(hello_of(2)));
    ASSERT_TRUE(run_until(io_, [&] { return old.is_answered(); }));
    EXPECT_FALSE(old.is_accepted());
    expect_failed_handshakes(1);
}

// --- who is called ------------------------------------------------------------------------------

class CalledIdentity : public Identities {
protected:
    // The node calls it in the place of node 2.
    UncheckedServer& serve(const Papers& papers, Greeting own = greeting_of(hello_of(2))) {
        server_.reset();
        server_ = std::make_unique<UncheckedServer>(io_, addresses_[1], papers, std::move(own));
        return *server_;
    }
    // Why the node does not say its hello there.
    std::string why_not(const Papers& papers) {
        const auto& server = serve(papers);
        const auto one = node();
        const auto is_told = [&] { return log_.find("peer 2 at") != std::string::npos; };
        EXPECT_TRUE(run_until(io_, [&] { return is_told() || !server.hellos().empty(); }));
        EXPECT_THAT(server.hellos(), IsEmpty());
        refused_ = one->network->counters().refused;
        return std::exchange(log_, {});
    }

    std::unique_ptr<UncheckedServer> server_;
    RefusalCounts refused_;
};

TEST_F(CalledIdentity, IsThatOfItsCertificate) {
    const auto& server = serve(authority_.papers_of_node(2));
    const auto one = node();
    EXPECT_TRUE(run_until(io_, [&] { return server.hellos().size() == 2; }));  // of both lanes
    EXPECT_EQ(server.unsatisfied(), 0U);
    EXPECT_EQ(one->network->counters().refused.all(), 0U);
}

TEST_F(CalledIdentity, IsNotThatOfAnotherMember) {
    EXPECT_THAT(why_not(authority_.papers_of_node(3)), HasSubstr("that of node 3"));
    EXPECT_GE(refused_.of(Refusal::identity), 1U);
}

TEST_F(CalledIdentity, IsOfThisCluster) {
    EXPECT_THAT(why_not(billing_.papers_of_node(2)), HasSubstr("node 2 of cluster billing"));
    EXPECT_GE(refused_.of(Refusal::identity), 1U);
}

// Other authorities give the certificates of users the purpose of servers.
TEST_F(CalledIdentity, AUserIsNoNode) {
    const auto names = names_of({"orders", {}, "mallory", {{core::AccessRole::admin}, {}}});
    EXPECT_THAT(why_not(sign_by_hand(authority_.own(), {.names = names})),
                HasSubstr("that of user mallory"));
    EXPECT_GE(refused_.of(Refusal::identity), 1U);
}

// Its certificate is right.
TEST_F(CalledIdentity, IsThatOfItsHello) {
    const auto& server = serve(authority_.papers_of_node(2), greeting_of(hello_of(3)));
    const auto one = node();
    const auto refused = [&] { return one->network->counters().refused.of(Refusal::wrong_node); };
    ASSERT_TRUE(run_until(io_, [&] { return refused() == 2; }));  // on both lanes
    EXPECT_TRUE(run_until(io_, [&] { return server.open() == 0; }));
    EXPECT_THAT(one->events.ups, IsEmpty());
}

// The handshake ends it, before this node has shown its own certificate.
TEST_F(CalledIdentity, IsProvenByATrustedCertificate) {
    for (const auto& one : untrusted("clientAuth")) {
        EXPECT_THAT(why_not(one.papers), HasSubstr(one.why)) << one.what;
        EXPECT_TRUE(
            run_until(io_, [&] { return server_->satisfied() + server_->unsatisfied() > 0; }));
        EXPECT_EQ(server_->satisfied(), 0U) << one.what;
    }
}

TEST_F(CalledIdentity, IsInItsCertificate) {
    EXPECT_THAT(why_not(sign_by_hand(authority_.own(), {.names = "DNS:orders-2.example.org"})),
                HasSubstr("it has no name of the form mortise://"));
}

// --- what the certificate of a peer allows ------------------------------------------------------

class PeersRights : public CalledIdentity {
protected:
    // What node 1 knows of node 2, which calls and is called with these certificates. A later hello
    // is the one that counts.
    core::Access rights(const Papers& calling, core::Hello says, const Papers& called,
                        core::Hello answers) {
        serve(called, greeting_of(std::move(answers)));
        const auto one = node();
        UncheckedCaller caller{io_, addresses_[0], calling};
        caller.begin(greeting_of(std::move(says)));
        EXPECT_TRUE(run_until(io_, [&] { return one->is_up(2); })) << log_;
        return one->events.ups.empty() ? core::Access{} : one->events.ups.front().access;
    }

    const core::Access learner_{{core::AccessRole::learner}, {{core::Right::acquire, "jobs/"}}};
    const Papers restricted_ = authority_.papers_of_node(2, learner_);
    const Papers unrestricted_ = authority_.papers_of_node(2);
};

TEST_F(PeersRights, AreThoseOfTheCertificateWithWhichItCalls) {
    EXPECT_EQ(rights(restricted_, hello_of(2), unrestricted_, hello_of(2)), learner_);
}

TEST_F(PeersRights, AreThoseOfTheCertificateAtItsAddress) {
    auto later = hello_of(2);
    later.cluster = {7, 8};
    EXPECT_EQ(rights(unrestricted_, hello_of(2), restricted_, later), learner_);
}

// --- credentials that change --------------------------------------------------------------------

// "next" is to be the authority.
class RotatedIdentity : public CallersIdentity {
protected:
    void SetUp() override { node_ = node(next_.node(1, {&authority_, &next_})); }
    void forget_the_old_authority() {
        node_->network->set_credentials(next_.node(1));
        bool is_done = false;  // what was posted before it, too
        asio::post(io_, [&] { is_done = true; });
        ASSERT_TRUE(run_until(io_, [&] { return is_done; }));
    }

    Authority next_{"orders"};
};

TEST_F(RotatedIdentity, OfCallersIsJudgedAgain) {
    const std::vector<Greeting> greetings{greeting_of(hello_of(2)), greeting_of_client()};
    for (const auto& greeting : greetings) {
        node_.reset();
        node_ = node(next_.node(1, {&authority_, &next_}));
        const auto old = call(authority_.papers_of_node(2), greeting);
        auto other = greeting;
        if (other.hello.node.is_set()) other.hello = hello_of(3);
        const auto renewed = call(next_.papers_of_node(3), other);
        ASSERT_TRUE(old->is_accepted() && renewed->is_accepted());
        forget_the_old_authority();
        EXPECT_TRUE(run_until(io_, [&] { return old->is_ended(); }));
        EXPECT_TRUE(is_open(*renewed));
        const auto late = call(authority_.papers_of_node(2), greeting);
        EXPECT_THAT(late->alert(), HasSubstr("does not know the authority"));
    }
}

// It began when the old authority was still trusted.
TEST_F(RotatedIdentity, OfACallerIsJudgedAtTheEndOfItsHandshake) {
    const auto caller = connect(authority_.papers_of_node(2));
    ASSERT_TRUE(run_until(io_, [&] { return counters().accepted == 1; }));
    forget_the_old_authority();
    caller->begin(greeting_of(hello_of(2)));
    ASSERT_TRUE(run_until(io_, [&] { return caller->is_answered(); }));
    EXPECT_FALSE(caller->is_accepted());
    expect_failed_handshakes(1);
    EXPECT_THAT(log_, HasSubstr("not signed by an authority in tls.ca"));
}

class RotatedCalledIdentity : public RotatedIdentity {
protected:
    void SetUp() override {}
    void begin() { RotatedIdentity::SetUp(); }

    UncheckedServer server_{io_, addresses_[1], authority_.papers_of_node(2),
                            greeting_of(hello_of(2))};
};

TEST_F(RotatedCalledIdentity, IsJudgedAgain) {
    begin();
    ASSERT_TRUE(run_until(io_, [&] { return server_.hellos().size() == 2; }));
    forget_the_old_authority();
    EXPECT_TRUE(run_until(io_, [&] { return server_.unsatisfied() > 0; }));  // called anew, in vain
    EXPECT_THAT(server_.hellos(), SizeIs(2));
}

TEST_F(RotatedCalledIdentity, IsJudgedAtTheEndOfItsHandshake) {
    server_.hold();
    begin();
    ASSERT_TRUE(run_until(io_, [&] { return server_.begun() == 2; }));
    forget_the_old_authority();
    server_.go_on();
    EXPECT_TRUE(run_until(io_, [&] {
        return !server_.hellos().empty() || log_.find("peer 2 at") != std::string::npos;
    }));
    EXPECT_THAT(server_.hellos(), IsEmpty());
    // The handshake itself had the old authority.
    EXPECT_TRUE(run_until(io_, [&] { return server_.satisfied() == 2; }));
    EXPECT_THAT(log_, HasSubstr("not signed by an authority in tls.ca"));
}

// --- a client, and the member that it calls -----------------------------------------------------

class CalledMember : public Identities {
protected:
    // What comes of connecting with who has these papers. `during` is called when the handshake has
    // begun.
    core::Result<core::Hello> connect(const Papers& papers,
                                      const std::function<void(MemberClient&)>& during = {}) {
        server_.reset();
        server_ = std::make_unique<UncheckedServer>(io_, addresses_[1], papers,
                                                    greeting_of(hello_of(2), Purpose::client));
        server_->hold();
        MemberClient client{
            io_, core::ClusterId{},
            authority_.user("alice", core::AccessRole::client, {&authority_, &billing_})};
        std::optional<core::Result<core::Hello>> answer;
        client.connect(addresses_[1], 10s,
                       [&](core::Result<core::Hello> result) { answer = std::move(result); });
        EXPECT_TRUE(run_until(io_, [&] { return server_->begun() == 1; }));
        if (during) during(client);
        server_->go_on();
        EXPECT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
        return answer.value_or(core::Error{});
    }
    // It says no hello, and why not.
    void expect_refused(const core::Result<core::Hello>& result, const std::string& why) {
        ASSERT_FALSE(result);
        EXPECT_THAT(result.error().what, HasSubstr(why));
        EXPECT_THAT(server_->hellos(), IsEmpty());
    }

    std::unique_ptr<UncheckedServer> server_;
};

TEST_F(CalledMember, IsAnyNodeOfTheCluster) {
    EXPECT_TRUE(connect(authority_.papers_of_node(7)));
    EXPECT_THAT(server_->hellos(), SizeIs(1));
}

TEST_F(CalledMember, IsOfTheCluster) {
    expect_refused(connect(billing_.papers_of_node(2)),
                   "of cluster billing, not of a node of cluster orders");
}

TEST_F(CalledMember, IsNoUser) {
    const auto names = names_of({"orders", {}, "mallory", {{core::AccessRole::admin}, {}}});
    expect_refused(connect(sign_by_hand(authority_.own(), {.names = names})),
                   "that of user mallory");
}

TEST_F(CalledMember, IsProvenByATrustedCertificate) {
    for (const auto& one : untrusted("clientAuth")) {
        expect_refused(connect(one.papers), one.why);
        EXPECT_TRUE(
            run_until(io_, [&] { return server_->satisfied() + server_->unsatisfied() > 0; }));
        EXPECT_EQ(server_->satisfied(), 0U) << one.what;
    }
}

TEST_F(CalledMember, IsJudgedAtTheEndOfItsHandshake) {
    const auto rotate = [&](MemberClient& client) {
        EXPECT_TRUE(client.set_credentials(stranger_.user("alice", core::AccessRole::client)));
    };
    expect_refused(connect(authority_.papers_of_node(2), rotate), "not signed by an authority");
    // The handshake itself had the old authority.
    EXPECT_TRUE(run_until(io_, [&] { return server_->satisfied() == 1; }));
}

}  // namespace
}  // namespace mortise::transport
