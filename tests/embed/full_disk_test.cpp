// A disk that is full takes a node out of its cluster and not out of its program: when there is
// room again it goes on in the same process.
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include <mortise/testing.hpp>

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

// A small disk of its own, which nobody but this process sees.
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
    // Keeps it full, whatever is given back: a store that is closed leaves some room.
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
    // Until the node meets the end of the disk; what it says then.
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

    mortise::testing::TempDirectory directory_{"mortise-full"};
    bool mounted_ = false;
    int file_ = -1;
    std::jthread filler_;
};

TEST_F(FullDisk, SuspendsTheNodeUntilThereIsRoom) {
    Node node{config()};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    const auto kept = node.acquire("kept");
    fill();
    const auto status = use_up(node);
    EXPECT_FALSE(status.ready || status.stopped);
    EXPECT_NE(status.why_not_ready.find("no room"), std::string::npos) << status.why_not_ready;
    EXPECT_FALSE(kept.valid());
    EXPECT_TRUE(wait_for([&] { return kept.lost().stop_requested(); }));
    // Closing what failed has given some room back, but not for long.
    EXPECT_TRUE(wait_for([&] {
        std::error_code ec;
        const auto hold = node.acquire("meanwhile", {.wait_max = 1h}, ec);
        return ec == Errc::no_quorum;
    }));

    make_room();
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience))
        << node.status().why_not_ready;
    const auto after = node.acquire("after");
    EXPECT_TRUE(after.valid());
    EXPECT_GT(after.token(), kept.token());
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
