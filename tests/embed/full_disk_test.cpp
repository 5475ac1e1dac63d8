// A full disk suspends a node, but does not end its program: when there is space again, the node
// continues in the same process.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include <mortise/testkit.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

bool wait_for(const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!happened()) {
        if (std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

// The first event of that kind; one of another kind if none comes.
NodeEvent first_of(Recorded<NodeEvent>& events, NodeEvent::Kind kind) {
    const auto is_it = [&](const NodeEvent& event) { return event.kind == kind; };
    const auto all =
        events.when([&](const auto& some) { return std::ranges::any_of(some, is_it); });
    const auto found = std::ranges::find_if(all, is_it);
    return found == all.end() ? NodeEvent{.kind = NodeEvent::Kind::stopped} : *found;
}

// A small disk that only this process sees.
class FullDisk : public ::testing::Test {
protected:
    void SetUp() override {
        if (unshare(CLONE_NEWNS) != 0 ||
            mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", directory_.path().c_str(), "tmpfs", 0, "size=96m") != 0) {
            GTEST_SKIP() << "no file system can be mounted here";
        }
        mounted_ = true;
    }
    void TearDown() override {
        filler_ = {};
        if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
    }

    [[nodiscard]] Config config() const {
        auto config = Config::single_node(directory_.path() / "node");
        config.timing.call_timeout = 2s;
        return config;
    }
    [[nodiscard]] std::filesystem::path balloon() const { return directory_.path() / "balloon"; }
    // Keeps it full, whatever is released: a store that is closed leaves some space.
    void fill() {
        file_ = ::open(balloon().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ASSERT_GE(file_, 0);
        filler_ = std::jthread{[this](const std::stop_token& stop) {
            const std::string block(4'096, 'x');
            while (!stop.stop_requested()) {
                if (::write(file_, block.data(), block.size()) > 0) continue;
                std::this_thread::sleep_for(1ms);
            }
        }};
    }
    void make_room() {
        filler_ = {};
        ::close(file_);
        std::filesystem::remove(balloon());
    }
    // Uses space until the node runs out of it; returns its status then.
    static Status use_up(Node& node) {
        Status status;
        wait_for([&] {
            std::error_code ec;
            const auto hold = node.acquire("something", {.wait_max = 1s}, ec);
            status = node.status();
            return !status.ready;
        });
        return status;
    }

    mortise::testkit::TempDirectory directory_{"mortise-full"};
    bool mounted_ = false;
    int file_ = -1;
    std::jthread filler_;
};

TEST_F(FullDisk, SuspendsTheNodeUntilThereIsRoom) {
    Node node{config()};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    Recorded<NodeEvent> events;
    const auto subscription = node.on_event(events.sink());
    const auto kept = node.acquire("kept");
    fill();
    const auto status = use_up(node);
    EXPECT_FALSE(status.ready || status.stopped);
    EXPECT_NE(status.why_not_ready.find("no space"), std::string::npos) << status.why_not_ready;
    const auto suspended = first_of(events, NodeEvent::Kind::suspended);
    EXPECT_EQ(suspended.error, std::errc::no_space_on_device);
    EXPECT_NE(suspended.text.find("no space"), std::string::npos) << suspended.text;
    EXPECT_EQ(first_of(events, NodeEvent::Kind::not_ready).text, suspended.text);
    EXPECT_FALSE(kept.valid());
    EXPECT_TRUE(wait_for([&] { return kept.lost().stop_requested(); }));
    // Closing the failed store has released some space, but not for long.
    EXPECT_TRUE(wait_for([&] {
        std::error_code ec;
        const auto hold = node.acquire("meanwhile", {.wait_max = 1h}, ec);
        return ec == Errc::no_quorum;
    }));

    make_room();
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience))
        << node.status().why_not_ready;
    EXPECT_EQ(first_of(events, NodeEvent::Kind::resumed).kind, NodeEvent::Kind::resumed);
    const auto after = node.acquire("after");
    EXPECT_TRUE(after.valid());
    EXPECT_GT(after.token(), kept.token());
}

// What its log may take is bounded by the volume: some seconds of load filled this one before.
TEST_F(FullDisk, IsNotCausedByTheNodeItself) {
    Node node{config()};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    Recorded<NodeEvent> events;
    const auto subscription = node.on_event(events.sink());
    constexpr int writers = 8;
    constexpr int writes = 4'000;  // of 4 KiB: 125 MiB in all
    std::atomic<int> failed = 0;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&, writer] {
                const auto hold = node.acquire("value/" + std::to_string(writer));
                const std::string value(4'096, 'x');
                std::error_code ec;
                for (int i = 0; i < writes && !ec; ++i)
                    hold.set_value(value, ec);
                if (ec) ++failed;
            });
        }
    }
    EXPECT_EQ(failed, 0);
    EXPECT_TRUE(node.status().ready) << node.status().why_not_ready;
    node.close();
    Node next{config()};
    EXPECT_TRUE(next.wait_ready(std::chrono::steady_clock::now() + patience));
}

// Another program's socket at that address.
class Squatter {
public:
    explicit Squatter(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        constexpr int on = 1;
        setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr generic{};
        std::memcpy(&generic, &address, sizeof address);
        is_there_ = ::bind(socket_, &generic, sizeof generic) == 0 && ::listen(socket_, 1) == 0;
    }
    ~Squatter() { ::close(socket_); }
    Squatter(const Squatter&) = delete;
    Squatter& operator=(const Squatter&) = delete;

    [[nodiscard]] bool is_there() const { return is_there_; }

private:
    int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there_ = false;
};

// A program that took its port meanwhile may release it again (P10).
TEST_F(FullDisk, ANodeWhosePortIsTakenMeanwhileWaitsForThatToo) {
    auto config = this->config();
    config.listen = "127.0.0.1:0";
    Node node{config};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    const auto address = node.status().address;
    fill();
    ASSERT_FALSE(use_up(node).ready);
    std::optional<Squatter> squatter;
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)));
    ASSERT_TRUE(wait_for([&] { return squatter.emplace(port).is_there(); })) << address;
    make_room();
    EXPECT_TRUE(wait_for([&] {
        return node.status().why_not_ready.find("in use") != std::string::npos;
    })) << node.status().why_not_ready;
    EXPECT_FALSE(node.status().stopped);
    squatter.reset();
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience))
        << node.status().why_not_ready;
    EXPECT_EQ(node.status().address, address);
}

// A person moved it to make space, or its disk is not mounted any more. An empty directory in its
// place would bootstrap another cluster, whose tokens begin anew (P1).
TEST_F(FullDisk, ADirectoryThatIsGoneMeanwhileIsNotMadeAnew) {
    Node node{config()};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    fill();
    ASSERT_FALSE(use_up(node).ready);
    // While it tries to open the directory, some of its files may be open.
    std::filesystem::rename(directory_.path() / "node", directory_.path() / "away");
    make_room();
    ASSERT_TRUE(wait_for([&] { return node.status().stopped || node.status().ready; }));
    EXPECT_TRUE(node.status().stopped);
    EXPECT_NE(node.status().why_stopped.find("node"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(directory_.path() / "node"));
}

TEST_F(FullDisk, ANodeThatWaitsForRoomCanBeClosed) {
    Node node{config()};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    fill();
    ASSERT_FALSE(use_up(node).ready);
    node.close();
    EXPECT_TRUE(node.status().stopped);
    make_room();
    Node next{config()};
    EXPECT_TRUE(next.wait_ready(std::chrono::steady_clock::now() + patience));
}

}  // namespace
}  // namespace mortise
