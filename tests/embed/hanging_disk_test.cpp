// A disk that does not answer any more: no thread of the program waits for it (P10).
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/testkit.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

// Controls the result of all syncs in this process, also of those in libraries.
class Disk {
public:
    void hang() { set(true); }
    void go_on() { set(false); }
    void pass() {
        std::unique_lock lock{mutex_};
        waiting_ += hangs_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !hangs_; });
    }
    void wait_until_asked() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return waiting_ != 0; });
    }

private:
    void set(bool hangs) {
        const std::scoped_lock lock{mutex_};
        hangs_ = hangs;
        waiting_ = 0;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool hangs_ = false;
    int waiting_ = 0;
};

Disk& disk() {
    static Disk one;
    return one;
}

class HangingDisk : public ::testing::Test {
protected:
    ~HangingDisk() override { disk().go_on(); }
    [[nodiscard]] Config config() const {
        auto config = Config::single_node(directory_.path());
        config.timing.close_timeout = 100ms;
        return config;
    }
    static std::unique_ptr<Node> ready_node(Config config) {
        auto node = std::make_unique<Node>(std::move(config));
        EXPECT_TRUE(node->wait_ready(std::chrono::steady_clock::now() + patience));
        return node;
    }
    // Makes a call while the disk does not answer.
    std::future<std::error_code> ask(Node& node) {
        disk().hang();
        auto answered = std::make_shared<std::promise<std::error_code>>();
        async_acquire(node, "x",
                      [answered](std::error_code ec, const Hold&) { answered->set_value(ec); });
        disk().wait_until_asked();
        return answered->get_future();
    }

    mortise::testkit::TempDirectory directory_{"mortise-hanging"};
};

TEST_F(HangingDisk, ANodeIsClosedAllTheSame) {
    const auto node = ready_node(config());
    auto answer = ask(*node);
    auto closed = std::async(std::launch::async, [&] { node->close(); });
    ASSERT_EQ(closed.wait_for(patience), std::future_status::ready);
    ASSERT_EQ(answer.wait_for(0s), std::future_status::ready) << "nothing runs after close()";
    EXPECT_EQ(answer.get(), Errc::node_stopped);
    EXPECT_TRUE(node->status().stopped);
}

// It may take effect, although the node does not live to see it (P6).
TEST_F(HangingDisk, AChangeThatANodeTookAlongWhenItStoppedIsUnknown) {
    const auto node = ready_node(config());
    auto hold = node->acquire("x");
    disk().hang();
    auto answer = std::async(std::launch::async, [&] {
        std::error_code ec;
        hold.set_value("value", ec);
        return ec;
    });
    disk().wait_until_asked();
    node->close();
    ASSERT_EQ(answer.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(answer.get(), Errc::outcome_unknown);
}

TEST_F(HangingDisk, ItsDirectoryIsFreeOnceTheDiskAnswers) {
    auto node = ready_node(config());
    const auto answer = ask(*node);
    node->close();
    disk().go_on();
    node.reset();
    const auto give_up = std::chrono::steady_clock::now() + patience;
    std::string why = "nothing";
    for (std::unique_ptr<Node> next; !next && std::chrono::steady_clock::now() < give_up;) {
        try {
            next = ready_node(config());
            why.clear();
        } catch (const std::system_error& taken) {
            why = taken.what();
        }
    }
    EXPECT_EQ(why, "");
}

}  // namespace
}  // namespace mortise

extern "C" int fdatasync(int file) {
    mortise::disk().pass();
    return static_cast<int>(syscall(SYS_fdatasync, file));
}

extern "C" int fsync(int file) {
    mortise::disk().pass();
    return static_cast<int>(syscall(SYS_fsync, file));
}
