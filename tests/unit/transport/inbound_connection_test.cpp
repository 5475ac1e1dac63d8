// How much memory a malicious client that has said a valid hello can make this node use.
#include "transport/network/inbound_connection.hpp"

#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/plain_service.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

using namespace test;

// Lists pages of about a megabyte.
struct WordyService : test::PlainService {
    WordyService() {
        page.locks.resize(1'000);
        for (std::size_t i = 0; i < page.locks.size(); ++i) {
            page.locks[i].name = std::to_string(100'000 + i) + std::string(500, 'x');
            page.locks[i].holders.resize(1);
            page.locks[i].holders[0].operation = {core::SessionId{1}, core::Seq{1}};
            page.locks[i].holders[0].token = core::FencingToken{1};
            page.locks[i].nodes[core::SessionId{1}] = core::NodeId{1};
        }
    }
    MemberStatus status() const override { return {}; }
    void list(ListRequest /*request*/, std::function<void(ListAnswer)> answer) override {
        ++lists;
        answer(page);
    }
    void change(core::MembershipGoal /*goal*/, core::Nanoseconds /*patience*/,
                std::function<void(ChangeAnswer)> answer) override {
        changes.push_back(std::move(answer));
    }
    void break_lock(core::BreakLock /*request*/,
                    std::function<void(ChangeAnswer)> answer) override {
        answer(core::Changed{});
    }

    core::Result<core::ClientId> admit(std::shared_ptr<ClientConnection> connection) override {
        connections.push_back(std::move(connection));
        return core::ClientId{connections.size()};
    }
    bool has_place(core::ClientId client) const override { return served.contains(client); }

    std::vector<std::shared_ptr<ClientConnection>> connections;
    std::set<core::ClientId> served;  // client nodes
    ListReply page;
    std::size_t lists = 0;
    std::vector<std::function<void(ChangeAnswer)>> changes;
};

std::string list_call(unsigned question) {
    return member_call(question, Method::list);
}

class InboundConnectionTest : public testing::Test {
protected:
    using Change = std::function<void(NetworkOptions&, core::Hello&)>;

    void start(Change change) {
        node_ = std::make_unique<Node>(io_, 1, addresses_, std::move(change), &service_);
        ASSERT_TRUE(node_->start());
    }
    [[nodiscard]] NetworkCounters counters() const { return node_->network->counters(); }

    std::vector<std::string> addresses_{free_address(), free_address()};
    asio::io_context io_;
    WordyService service_;
    std::unique_ptr<Node> node_;
};

// A new client always gets a place, whatever the others do.
TEST_F(InboundConnectionTest, OneMoreClientTakesThePlaceOfTheQuietest) {
    start([](NetworkOptions& options, core::Hello&) {
        options.limits.clients_max = 2;
        options.limits.frame_timeout = 1h;
    });
    Stranger quiet{io_, addresses_[0]};
    quiet.say(client_hello());
    ASSERT_TRUE(run_until(io_, [&] { return counters().clients == 1; }));
    Stranger busy{io_, addresses_[0]};
    busy.say(client_hello());
    unsigned question = 1;
    const auto asks_on = [&](const auto& done) {
        return run_until(io_, [&] {
            if (question < 40) busy.say(member_call(++question, status));
            busy.is_closed();
            return done();
        });
    };
    ASSERT_TRUE(asks_on([&] { return counters().clients == 2 && question > 20; }));
    Stranger next{io_, addresses_[0]};
    next.say(client_hello());
    EXPECT_TRUE(asks_on([&] { return quiet.is_closed(); }));
    EXPECT_FALSE(busy.is_closed());
    EXPECT_EQ(counters().strangers_refused, 1U);
    EXPECT_EQ(counters().refused.all(), 0U);
    EXPECT_EQ(counters().clients, 2U);
}

TEST_F(InboundConnectionTest, AClientThatWaitsForItsAnswerIsNotQuiet) {
    start([](NetworkOptions& options, core::Hello&) { options.limits.clients_max = 2; });
    Stranger waits{io_, addresses_[0]};
    waits.say(client_hello() + member_call(2, change));
    ASSERT_TRUE(run_until(io_, [&] { return service_.changes.size() == 1; }));
    std::vector<std::unique_ptr<Stranger>> others;
    for (std::uint64_t gone = 0; gone < 5; ++gone) {
        others.push_back(std::make_unique<Stranger>(io_, addresses_[0]));
        others.back()->say(client_hello());
        ASSERT_TRUE(run_until(
            io_, [&] { return counters().clients == 2 && counters().strangers_refused == gone; }));
    }
    EXPECT_FALSE(waits.is_closed());
}

// A client node that listens, as they all do.
class InboundClientNodes : public InboundConnectionTest {
protected:
    void SetUp() override {
        start([](NetworkOptions& options, core::Hello&) { options.limits.clients_max = 3; });
    }
    void listen(MemberClient& client) {
        client.connect(addresses_[0], 20s, [&](const core::Result<core::Hello>& hello) {
            if (hello) client.hear([this](const auto& heard) { closed_ += heard ? 0 : 1; });
        });
        const auto before = service_.connections.size();
        ASSERT_TRUE(run_until(io_, [&] { return service_.connections.size() > before; }));
    }
    void come_and_stay(std::uint64_t callers) {
        for (std::uint64_t i = 0; i < callers; ++i) {
            const auto before = counters().accepted;
            callers_.push_back(std::make_unique<Stranger>(io_, addresses_[0]));
            callers_.back()->say(client_hello());
            const auto others = counters().clients;
            ASSERT_TRUE(run_until(io_, [&] {
                const auto now = counters();
                return now.accepted > before && (now.clients > others || now.clients == 3);
            }));
            run_for(io_, 10ms);
        }
    }

    std::vector<std::unique_ptr<Stranger>> callers_;
    int closed_ = 0;
};

// It says nothing between two renewals, and its address may have the most connections.
TEST_F(InboundClientNodes, ThatAreServedAreNotClosedForOthers) {
    MemberClient one{io_};
    MemberClient two{io_};
    listen(one);
    listen(two);
    service_.served = {core::ClientId{1}, core::ClientId{2}};
    come_and_stay(5);
    EXPECT_EQ(counters().clients, 3U);
    EXPECT_EQ(closed_, 0);
    EXPECT_EQ(counters().strangers_refused, 4U);
}

TEST_F(InboundClientNodes, ThatAreNotServedDoNotCountAsWaiting) {
    Stranger waits{io_, addresses_[0]};
    waits.say(client_hello() + member_call(2, change));
    ASSERT_TRUE(run_until(io_, [&] { return service_.changes.size() == 1; }));
    MemberClient one{io_};
    MemberClient two{io_};
    listen(one);
    listen(two);
    come_and_stay(2);
    EXPECT_TRUE(run_until(io_, [&] { return closed_ == 2; }));
    EXPECT_FALSE(waits.is_closed());
}

TEST_F(InboundClientNodes, ThatAreServedLeaveNoRoomIfTheyAreAll) {
    std::vector<std::unique_ptr<MemberClient>> all;
    for (std::uint64_t id = 1; id <= 3; ++id) {
        listen(*all.emplace_back(std::make_unique<MemberClient>(io_)));
        service_.served.insert(core::ClientId{id});
    }
    MemberClient next{io_};
    std::optional<core::Result<core::Hello>> hello;
    next.connect(addresses_[0], 20s, [&](auto answer) { hello.emplace(std::move(answer)); });
    ASSERT_TRUE(run_until(io_, [&] { return hello.has_value(); }));
    ASSERT_FALSE(*hello);
    EXPECT_EQ(hello->error().code, Refusal::busy);
    EXPECT_EQ(closed_, 0);
}

TEST_F(InboundConnectionTest, AClientThatBeginsAFrameAndDoesNotEndItIsShownTheDoor) {
    start([](NetworkOptions& options, core::Hello&) { options.limits.frame_timeout = 200ms; });
    Stranger client{io_, addresses_[0]};
    client.say(client_hello());
    ASSERT_TRUE(run_until(io_, [&] { return counters().clients == 1; }));
    client.say(std::string{"\x00\x00\x00\x00\x10\x00", 6});
    EXPECT_TRUE(run_until(io_, [&] { return client.is_closed(); }));
    EXPECT_EQ(counters().stuck_frames, 1U);
    EXPECT_EQ(counters().clients, 0U);
}

class InboundUnreadAnswers : public InboundConnectionTest {
protected:
    // Runs at its own pace, which a test may stop.
    void connect() {
        bool connected = false;
        client_.connect(addresses_[0], 20s, [&](const auto& hello) { connected = bool(hello); });
        ASSERT_TRUE(run_until(io_, [&] {
            poll();
            return connected;
        }));
    }
    void poll() {
        client_io_.restart();
        client_io_.poll();
    }
    void list() {
        client_.list({"", "", 1'000, true, false}, [&](const core::Result<ListAnswer>& answer) {
            if (!answer) return;
            std::holds_alternative<ListReply>(*answer) ? ++pages_ : ++refused_;
        });
    }

    asio::io_context client_io_;
    MemberClient client_{client_io_};
    std::size_t pages_ = 0;
    std::size_t refused_ = 0;
};

TEST_F(InboundUnreadAnswers, AreBoundedAndTheClientIsToldToAskLater) {  // P11
    start([](NetworkOptions& options, core::Hello&) { options.limits.frame_timeout = 1h; });
    connect();
    // More than the buffers of the system hold.
    constexpr std::size_t asked = 200;
    for (std::size_t i = 0; i < asked; ++i)
        list();
    poll();
    const auto before = counters().accepted;
    Stranger other{io_, addresses_[0]};
    ASSERT_TRUE(run_until(io_, [&] { return counters().accepted > before; }));
    run_for(io_, 500ms);
    EXPECT_LT(service_.lists, asked / 2);
    EXPECT_EQ(counters().clients, 1U);  // it may still read
    ASSERT_TRUE(run_until(io_, [&] {
        poll();
        return pages_ + refused_ == asked;
    }));
    EXPECT_EQ(pages_, service_.lists);
    list();
    EXPECT_TRUE(run_until(io_, [&] {
        poll();
        return pages_ == service_.lists && pages_ + refused_ == asked + 1;
    }));
}

// The buffers of the system hold the first ones, so it continues until they are full.
TEST_F(InboundUnreadAnswers, ThatNobodyReadsEndTheConnection) {
    start([](NetworkOptions& options, core::Hello&) { options.limits.frame_timeout = 200ms; });
    Stranger client{io_, addresses_[0]};
    client.say(client_hello());
    ASSERT_TRUE(run_until(io_, [&] { return counters().clients == 1; }));
    unsigned question = 1;
    EXPECT_TRUE(run_until(io_, [&] {
        client.say(list_call(++question));
        return counters().clients == 0;
    }));
    EXPECT_GT(service_.lists, 0U);
    EXPECT_EQ(counters().stuck_frames, 1U);
}

// A peer that calls this node and cannot be called back: it never comes up, and may send any number
// of messages.
class InboundEarlyMessages : public InboundConnectionTest {
public:
    ~InboundEarlyMessages() noexcept override = default;

protected:
    void TearDown() override {
        loop_.run([&] {
            peer_.reset();
            connection_.reset();
        });
    }

    void greet() {
        asio::ip::tcp::socket socket{io_};
        socket.connect(endpoint_of(addresses_[0]));
        loop_.run([&] {
            connection_ = std::make_unique<RpcConnection>(
                kj::heap<AsioStream<asio::ip::tcp::socket>>(loop_, std::move(socket)),
                capnp::rpc::twoparty::Side::CLIENT, nullptr, FrameLimits{peer_frame_words_max},
                [] {});
            auto request = connection_->bootstrap().castAs<wire::Gate>().helloRequest();
            Greeting greeting;
            greeting.hello = hello_of(2);
            write(greeting, request.initHello());
            connection_->add(request.send().then(
                [this](auto&& response) { peer_.emplace(response.getAnswer().getPeer()); }));
        });
        ASSERT_TRUE(run_until(io_, [&] { return peer_.has_value(); }));
    }
    void say(const std::vector<core::PeerMessage>& batch) {
        loop_.run([&] {
            auto request = peer_->sendRequest();
            write(batch, request.initMessages(static_cast<kj::uint>(batch.size())));
            connection_->add(request.send().then([this](auto&&) { ++taken_in_; }));
        });
        const auto before = taken_in_;
        ASSERT_TRUE(run_until(io_, [&] { return taken_in_ > before; }));
    }

    KjLoop loop_{io_, {}, [] {}};
    std::unique_ptr<RpcConnection> connection_;
    std::optional<wire::Peer::Client> peer_;
    std::size_t taken_in_ = 0;
};

core::PeerMessage of_a_megabyte() {
    core::AppendRequest append;
    append.entries.push_back(core::make_entry({core::Term{1}, core::LogIndex{1}},
                                              core::EntryKind::commands,
                                              core::Bytes{std::string(payload_bytes_max, 'x')}));
    return core::RaftMessage{append};
}

TEST_F(InboundEarlyMessages, AreKeptByWeightAndNotForEver) {
    start([](NetworkOptions& options, core::Hello&) { options.limits.hello_timeout = 1s; });
    greet();
    for (int i = 0; i < 6; ++i)
        say({of_a_megabyte()});
    EXPECT_EQ(counters().messages_dropped, 3U);  // of six, of a little more than a megabyte each
    EXPECT_TRUE(run_until(io_, [&] { return counters().messages_dropped == 6; }));
    say({core::RaftMessage{core::ReadRequest{core::Term{1}, core::ReadId{1}}}});
    EXPECT_EQ(counters().messages_dropped, 6U);  // there is capacity again
}

}  // namespace
}  // namespace mortise::transport
