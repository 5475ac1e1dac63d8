// The places for client nodes at a member: who gets one, and who keeps it (P11, S49).
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/client_codec.hpp"
#include "transport/clients/blocking_member_client.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/pieces.hpp"
#include <mortise/mortise.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr auto patience = 20s;

bool wait_until(const std::function<bool()>& done) {
    const auto until = steady_clock::now() + patience;
    while (!done()) {
        if (steady_clock::now() > until) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

// Connections of those that say something, and then listen and say nothing more.
class Guests {
public:
    explicit Guests(std::string address) : address_{std::move(address)} {}

    // One after the other.
    void add(std::size_t count, const std::function<core::ClientMessage(std::uint64_t)>& message) {
        for (std::size_t i = 0; i < count; ++i) {
            auto& guest = *guests_.emplace_back(std::make_unique<Guest>(io_));
            guest.client.connect(address_, 10s, [&](const core::Result<core::Hello>& hello) {
                if (hello) begin(guest, message(1'000 + i));
            });
            const auto until = steady_clock::now() + patience;
            while (!guest.has_heard && steady_clock::now() < until)
                io_.run_one_for(10ms);
            ASSERT_TRUE(guest.has_heard);
        }
    }

private:
    struct Guest {
        explicit Guest(asio::io_context& io) : client{io} {}
        transport::MemberClient client;
        transport::PieceReader pieces{core::client_notice_bytes_max};
        bool has_heard = false;
    };
    static void begin(Guest& guest, const core::ClientMessage& message) {
        transport::PieceWriter pieces;
        pieces.add(core::encode(message));
        guest.client.say(pieces.take(transport::said_bytes_max), [](const auto&) {});
        hear(guest);
    }
    // One that is refused does not listen any more.
    static void hear(Guest& guest) {
        guest.client.hear([&guest](const core::Result<std::string>& piece) {
            if (!piece) return;
            const auto whole = guest.pieces.take(*piece);
            for (const auto& bytes : whole.value()) {
                guest.has_heard = true;
                const auto notice = core::decode_client_notice(bytes);
                if (notice && !notice->refused.empty()) return;
            }
            hear(guest);
        });
    }

    std::string address_;
    asio::io_context io_;
    std::vector<std::unique_ptr<Guest>> guests_;
};

// A cluster of one, with few places.
class ClientPlacesOfANode : public ::testing::Test {
protected:
    static constexpr std::uint32_t clients_max = 8;
    static constexpr std::size_t places = 7;

    void SetUp() override { ASSERT_TRUE(node_.wait_ready(steady_clock::now() + patience)); }
    static TimingConfig timing() {
        TimingConfig timing;
        timing.heartbeat = 50ms;
        timing.election_timeout = 500ms;
        timing.session_ttl = 3s;
        return timing;
    }
    static Config member() {
        auto config = Config::in_memory();
        config.listen = "127.0.0.1:0";
        config.limits.clients = clients_max;
        config.timing = timing();
        return config;
    }
    [[nodiscard]] std::string address() const { return node_.status().address; }
    [[nodiscard]] Config client() const {
        Config config;
        config.role = Role::client;
        config.cluster = node_.status().cluster;
        config.peers.push_back({1, address()});
        config.timing = timing();
        return config;
    }

    Node node_{member()};
};

TEST_F(ClientPlacesOfANode, AreNotForThoseThatAttachAndOpenNoSession) {
    Guests guests{address()};
    guests.add(3 * places, [](std::uint64_t nonce) { return core::Attach{nonce, {}}; });
    Node honest{client()};
    EXPECT_TRUE(honest.wait_ready(steady_clock::now() + patience)) << honest.status().why_not_ready;
}

TEST_F(ClientPlacesOfANode, AreNotForThoseThatOnlySpeak) {
    Guests guests{address()};
    guests.add(3 * places, [](std::uint64_t) { return core::Ping{}; });
    Node honest{client()};
    EXPECT_TRUE(honest.wait_ready(steady_clock::now() + patience)) << honest.status().why_not_ready;
}

// More come than there are places for. They do not lose what they have, whatever they do between
// two calls; the others are told why, and the command line finds a place.
TEST_F(ClientPlacesOfANode, StayWithThoseThatWork) {
    std::atomic<int> lost = 0;
    std::atomic<int> left = 0;
    struct Worker {
        explicit Worker(Config config) : node{std::move(config)} {}
        Node node;
        Subscription events;
        Hold hold;
    };
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t i = 0; i < places; ++i) {
        auto& worker = *workers.emplace_back(std::make_unique<Worker>(client()));
        ASSERT_TRUE(worker.node.wait_ready(steady_clock::now() + patience));
        worker.events = worker.node.on_event([&](const NodeEvent& event) {
            if (event.kind == NodeEvent::Kind::peer_down) ++left;
        });
        worker.hold = worker.node.acquire("of worker " + std::to_string(i));
    }
    std::vector<std::unique_ptr<Node>> newcomers;
    for (std::size_t i = 0; i < 2 * places; ++i)
        newcomers.push_back(std::make_unique<Node>(client()));
    const auto end = steady_clock::now() + 4s;
    while (steady_clock::now() < end) {
        for (auto& worker : workers) {
            const auto hold = worker->node.try_acquire("for a moment");
            lost += worker->hold.valid() ? 0 : 1;
        }
        std::this_thread::sleep_for(50ms);
        // A caller that has not asked yet may have to make room for one that comes at that moment.
        EXPECT_TRUE(wait_until([&] {
            transport::BlockingMemberClient operators{10s};
            return operators.connect(address()) && operators.status();
        }));
    }
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(left, 0);
    for (auto& newcomer : newcomers) {
        EXPECT_TRUE(wait_until([&] {
            return newcomer->status().why_not_ready.find("has no place for more") !=
                   std::string::npos;
        })) << newcomer->status().why_not_ready;
    }
    workers.clear();
    EXPECT_TRUE(wait_until([&] {
        return std::ranges::count_if(newcomers, [](auto& one) { return one->status().ready; }) ==
               static_cast<std::ptrdiff_t>(places);
    }));
}

}  // namespace
}  // namespace mortise
