// A member that uses Cap'n Proto's RPC as it is, as members of 0.2.0 and before do, beside one that
// writes and reads the calls of Peer.send by hand: neither can tell (docs/decisions/0083).
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include <capnp/ez-rpc.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>

#include "tests/unit/transport/network_support.hpp"
#include "transport/peer.capnp.h"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace mortise::transport {
namespace {

using namespace test;
using core::NodeId;

using Batch = std::vector<core::PeerMessage>;

// A long message has none.
std::uint64_t number_or_zero(const core::PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    const bool is_numbered = raft != nullptr && std::holds_alternative<core::ReadRequest>(*raft);
    return is_numbered ? number_of(message) : 0;
}

Greeting greeting_of_plain(Purpose purpose) {
    Greeting greeting;
    greeting.purpose = purpose;
    greeting.hello = hello_of(2);
    return greeting;
}

// Node 2, on a thread of its own with a loop of KJ. Of the folder it uses only conversions.
class PlainMember {
public:
    enum class Answers { at_once, backwards, with_an_exception };

    PlainMember(std::string own, std::string node, Answers answers = Answers::at_once)
        : own_{std::move(own)}, node_{std::move(node)}, answers_{answers}, thread_{[this] {
              run();
          }} {}
    ~PlainMember() {
        const std::scoped_lock lock{mutex_};
        stops_ = true;
    }
    PlainMember(const PlainMember&) = delete;
    PlainMember& operator=(const PlainMember&) = delete;

    void send(Batch batch) {
        const std::scoped_lock lock{mutex_};
        to_send_.push_back(std::move(batch));
    }
    [[nodiscard]] std::vector<std::uint64_t> received() const {
        const std::scoped_lock lock{mutex_};
        return received_;
    }
    // How many of its calls were answered.
    [[nodiscard]] std::size_t answered() const {
        const std::scoped_lock lock{mutex_};
        return answered_;
    }
    // How many calls of the node were open at most.
    [[nodiscard]] std::size_t open_at_most() const {
        const std::scoped_lock lock{mutex_};
        return open_at_most_;
    }

private:
    // NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
    class Peer final : public wire::Peer::Server {
    public:
        explicit Peer(PlainMember& member) : member_{member} {}
        kj::Promise<void> send(SendContext context) override {
            const auto batch = read(context.getParams().getMessages());
            const std::scoped_lock lock{member_.mutex_};
            for (const auto& message : *batch)
                member_.received_.push_back(number_or_zero(message));
            if (member_.answers_ == Answers::at_once) return kj::READY_NOW;
            if (member_.answers_ == Answers::with_an_exception) KJ_FAIL_REQUIRE("it has enough");
            auto promised = kj::newPromiseAndFulfiller<void>();
            member_.open_.push_back(kj::mv(promised.fulfiller));
            member_.open_at_most_ = std::max(member_.open_at_most_, member_.open_.size());
            return kj::mv(promised.promise);
        }

    private:
        PlainMember& member_;
    };
    // NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
    class Gate final : public wire::Gate::Server {
    public:
        explicit Gate(PlainMember& member) : member_{member} {}
        kj::Promise<void> hello(HelloContext context) override {
            const auto heard = read(context.getParams().getHello());
            auto answer = context.getResults().initAnswer();
            write(greeting_of_plain(heard->purpose), answer.initHello());
            answer.setPeer(kj::heap<Peer>(member_));
            return kj::READY_NOW;
        }

    private:
        PlainMember& member_;
    };

    struct Failures final : kj::TaskSet::ErrorHandler {
        void taskFailed(kj::Exception&& /*exception*/) override {}
    };

    void run() {
        capnp::EzRpcServer server{kj::heap<Gate>(*this), own_.c_str()};
        capnp::EzRpcClient client{node_.c_str()};
        auto& scope = client.getWaitScope();
        auto& timer = client.getIoProvider().getTimer();
        server.getPort().wait(scope);
        std::optional<wire::Peer::Client> peer;
        Failures failures;
        kj::TaskSet calls{failures};
        calls.add(say_hello(client, peer));
        while (!stops()) {
            timer.afterDelay(1 * kj::MILLISECONDS).wait(scope);
            if (peer) say_all(*peer, calls);
            answer_backwards();
        }
        const std::scoped_lock lock{mutex_};
        open_.clear();
    }
    static kj::Promise<void> say_hello(capnp::EzRpcClient& client,
                                       std::optional<wire::Peer::Client>& peer) {
        auto request = client.getMain<wire::Gate>().helloRequest();
        write(greeting_of_plain(Purpose::replication), request.initHello());
        return request.send().then(
            [&](auto&& response) { peer.emplace(response.getAnswer().getPeer()); });
    }
    // As many calls at a time as there are batches.
    void say_all(wire::Peer::Client& peer, kj::TaskSet& calls) {
        const std::scoped_lock lock{mutex_};
        for (const auto& batch : std::exchange(to_send_, {})) {
            auto request = peer.sendRequest();
            write(batch, request.initMessages(static_cast<kj::uint>(batch.size())));
            calls.add(request.send().then([this](auto&&) {
                const std::scoped_lock locked{mutex_};
                ++answered_;
            }));
        }
    }
    void answer_backwards() {
        const std::scoped_lock lock{mutex_};
        while (!open_.empty()) {
            open_.back()->fulfill();
            open_.pop_back();
        }
    }
    [[nodiscard]] bool stops() const {
        const std::scoped_lock lock{mutex_};
        return stops_;
    }

    const std::string own_;
    const std::string node_;
    const Answers answers_;
    mutable std::mutex mutex_;
    bool stops_ = false;
    std::deque<Batch> to_send_;
    std::vector<std::uint64_t> received_;
    std::size_t answered_ = 0;
    std::size_t open_at_most_ = 0;
    std::vector<kj::Own<kj::PromiseFulfiller<void>>> open_;
    std::jthread thread_;  // the last one: it uses the others
};

class PlainRpc : public testing::Test {
protected:
    void start(PlainMember::Answers answers = PlainMember::Answers::at_once) {
        node_.emplace(io_, 1, addresses_);
        ASSERT_TRUE(node_->start());
        plain_.emplace(addresses_[1], addresses_[0], answers);
        ASSERT_TRUE(run_until(io_, [this] { return node_->is_up(2); }));
    }
    void send_from_node(std::uint64_t number) { node_->send(NodeId{2}, numbered(number)); }
    [[nodiscard]] std::vector<std::uint64_t> received_by_node() const {
        std::vector<std::uint64_t> numbers;
        for (const auto& [from, message] : node_->events.messages)
            numbers.push_back(number_of(message));
        return numbers;
    }
    void expect_no_fault() const {
        const auto counters = node_->network->counters();
        EXPECT_EQ(counters.forbidden_messages, 0U);
        EXPECT_EQ(counters.malformed_messages, 0U);
        EXPECT_EQ(counters.malformed_frames, 0U);
        EXPECT_EQ(counters.links_lost, 0U);
        EXPECT_TRUE(node_->is_up(2));
    }
    static std::vector<std::uint64_t> up_to(std::uint64_t last) {
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t number = 1; number <= last; ++number)
            numbers.push_back(number);
        return numbers;
    }

    asio::io_context io_;
    std::vector<std::string> addresses_{free_address(), free_address()};
    std::optional<Node> node_;
    std::optional<PlainMember> plain_;
};

TEST_F(PlainRpc, HearsWhatANodeSays) {
    start();
    constexpr std::uint64_t messages = 500;
    for (std::uint64_t number = 1; number <= messages; ++number) {
        send_from_node(number);
        io_.poll();
    }
    EXPECT_TRUE(run_until(io_, [&] { return plain_->received().size() == messages; }));
    EXPECT_EQ(plain_->received(), up_to(messages));
    expect_no_fault();
}

TEST_F(PlainRpc, IsHeardByANode) {
    start();
    constexpr std::uint64_t messages = 500;
    for (std::uint64_t number = 1; number <= messages; ++number) {
        plain_->send({numbered(number)});
        // Its answers may wait for each other, so it has only so many calls under way.
        ASSERT_TRUE(run_until(io_, [&] { return plain_->answered() + 20 > number; }));
    }
    EXPECT_TRUE(run_until(io_, [&] { return plain_->answered() == messages; }));
    EXPECT_EQ(received_by_node(), up_to(messages));
    expect_no_fault();
}

// Numbers are used again, and answers to several of them come in another order.
TEST_F(PlainRpc, MayAnswerInAnotherOrder) {
    start(PlainMember::Answers::backwards);
    constexpr std::uint64_t messages = 300;
    for (std::uint64_t number = 1; number <= messages; ++number) {
        send_from_node(number);
        if (number % 3 == 0) io_.poll();
    }
    EXPECT_TRUE(run_until(io_, [&] { return plain_->received().size() == messages; }));
    EXPECT_EQ(plain_->received(), up_to(messages));
    EXPECT_GT(plain_->open_at_most(), 1U);
    EXPECT_LE(plain_->open_at_most(), node_->options.limits.calls_in_flight_max);
    expect_no_fault();
}

TEST_F(PlainRpc, CarriesLongMessagesBothWays) {
    start();
    core::AppendRequest append;
    append.entries.push_back(core::make_entry({core::Term{1}, core::LogIndex{1}},
                                              core::EntryKind::commands,
                                              core::Bytes{std::string(payload_bytes_max, 'x')}));
    const core::PeerMessage message{core::RaftMessage{append}};
    plain_->send({message});
    node_->send(NodeId{2}, message);
    ASSERT_TRUE(
        run_until(io_, [&] { return plain_->answered() == 1 && plain_->received().size() == 1; }));
    ASSERT_EQ(node_->events.messages.size(), 1U);
    const auto& arrived = std::get<core::RaftMessage>(node_->events.messages[0].second);
    EXPECT_TRUE(std::get<core::AppendRequest>(arrived).entries == append.entries);
    expect_no_fault();
}

TEST_F(PlainRpc, IsLostWhenACallFails) {
    start(PlainMember::Answers::with_an_exception);
    send_from_node(1);
    EXPECT_TRUE(run_until(io_, [&] { return !node_->is_up(2); }));
    EXPECT_GE(node_->network->counters().links_lost, 1U);
}

TEST_F(PlainRpc, ComesBackAfterItWentWithOpenCalls) {
    start(PlainMember::Answers::backwards);
    for (std::uint64_t number = 1; number <= 100; ++number)
        send_from_node(number);
    plain_.reset();
    ASSERT_TRUE(run_until(io_, [&] { return !node_->is_up(2); }));
    plain_.emplace(addresses_[1], addresses_[0]);
    ASSERT_TRUE(run_until(io_, [&] { return node_->is_up(2); }));
    send_from_node(7);
    EXPECT_TRUE(run_until(io_, [&] { return !plain_->received().empty(); }));
    EXPECT_EQ(plain_->received(), std::vector<std::uint64_t>{7});
}

}  // namespace
}  // namespace mortise::transport
