// A caller that is not a peer sends its address. Without TLS any program may do so, and a node must
// not connect to addresses on other machines because of that.
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/transport/network_support.hpp"
#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using transport::test::free_address;
using transport::test::run_until;

// A network namespace of this process, in which `elsewhere` is an address of this machine.
bool make_network(const char* elsewhere) {
    if (unshare(CLONE_NEWNET) != 0) return false;
    const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto change = [&](const char* name, unsigned long what, const auto& fill) {
        ifreq request{};
        std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
        fill(request);
        return ::ioctl(any, what, &request) == 0;
    };
    const auto up = [](ifreq& request) { request.ifr_flags = IFF_UP; };
    const auto address = [&](ifreq& request) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = asio::detail::socket_ops::host_to_network_long(
            asio::ip::make_address_v4(elsewhere).to_uint());
        std::memcpy(&request.ifr_addr, &at, sizeof at);
    };
    const bool made = change("lo", SIOCSIFFLAGS, up) && change("lo:1", SIOCSIFADDR, address);
    ::close(any);
    return made;
}

// A listener at an address where a node might be; counts connections.
class Door {
public:
    Door(asio::io_context& io, const std::string& address)
        : acceptor_{io, asio::ip::tcp::endpoint{asio::ip::make_address(address), 0}} {
        accept();
    }
    [[nodiscard]] std::string address() const {
        return transport::to_string(acceptor_.local_endpoint());
    }
    [[nodiscard]] int callers() const { return callers_; }

private:
    void accept() {
        acceptor_.async_accept([this](asio::error_code error, const asio::ip::tcp::socket&) {
            if (error) return;
            ++callers_;
            accept();
        });
    }

    asio::ip::tcp::acceptor acceptor_;
    int callers_ = 0;
};

class StrangersAddress : public ::testing::Test {
protected:
    void SetUp() override {
        if (!make_network("192.0.2.7")) GTEST_SKIP() << "no network of its own can be made here";
        auto config = Config::single_node(directory_.path() / "node");
        config.node_id = 1;
        config.listen = free_address();
        config.peers = {{1, config.listen}};
        config.timing.election_timeout = 400ms;
        config.timing.heartbeat = 50ms;
        config.timing.session_ttl = 4s;
        config.log.level = LogLevel::info;
        config.log.sink = [this](LogLevel, std::string_view line) {
            const std::scoped_lock lock{mutex_};
            if (line.find("is not called at") != std::string_view::npos) ++refused_;
        };
        node_.emplace(config);
        ASSERT_TRUE(node_->wait_ready(std::chrono::steady_clock::now() + 30s));
        address_ = config.listen;
    }
    // The cluster id, as any caller receives it in the node's hello.
    [[nodiscard]] core::ClusterId cluster() {
        const auto digits = node_->status().cluster_id;
        return {std::stoull(digits.substr(0, 16), nullptr, 16),
                std::stoull(digits.substr(16), nullptr, 16)};
    }
    // Connects as node `id`, with that address.
    void call(std::uint64_t id, const std::string& there) {
        caller_.reset();
        caller_ = std::make_unique<transport::test::Node>(
            io_, id, std::vector<std::string>(id, free_address()),
            [&](transport::NetworkOptions& options, core::Hello& hello) {
                options.listen = free_address();
                options.peers = {{core::NodeId{1}, address_}};
                hello = {};
                hello.generation.boot_epoch = core::BootEpoch{1};
                hello.cluster = cluster();
                hello.node = core::NodeId{id};
                hello.generation.incarnation = core::Incarnation{1'000 + id};
                hello.address = there;
            });
        ASSERT_TRUE(caller_->start());
    }
    int refused() {
        const std::scoped_lock lock{mutex_};
        return refused_;
    }

    mortise::testkit::TempDirectory directory_{"mortise-stranger"};
    asio::io_context io_;
    std::mutex mutex_;
    int refused_ = 0;
    std::optional<Node> node_;
    std::string address_;
    std::unique_ptr<transport::test::Node> caller_;
};

TEST_F(StrangersAddress, IsNotCalledWhenItIsElsewhere) {
    const Door elsewhere{io_, "192.0.2.7"};
    call(9, elsewhere.address());
    ASSERT_TRUE(run_until(io_, [&] { return refused() > 0 || elsewhere.callers() > 0; }));
    // By now the node has called an address that it accepts.
    const Door here{io_, "127.0.0.1"};
    call(10, here.address());
    ASSERT_TRUE(run_until(io_, [&] { return here.callers() > 0; }));
    EXPECT_EQ(elsewhere.callers(), 0);
    EXPECT_GT(refused(), 0);
}

}  // namespace
}  // namespace mortise
