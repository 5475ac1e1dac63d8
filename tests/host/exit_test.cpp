// A program that ends while its node is running: at once, with the intended status, and whatever
// the node is doing.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/host/process.hpp"
#include <mortise/async.hpp>
#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

// OpenSSL keeps data for each thread in a list that it destroys in exit(). The data of node threads
// that still run at that moment is unreachable afterwards. Tests that close their nodes detect what
// the library itself does not give back to OpenSSL.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:CRYPTO_zalloc\n";
}
extern "C" const char* __lsan_default_options() {
    return "print_suppressions=0";
}

#ifdef __SANITIZE_THREAD__
// exit() in a callback cannot wait for the thread that it runs on, and what is left of the others
// ends with the program.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_options() {
    return "report_thread_leaks=0";
}
#endif

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;

constexpr int own_status = 7;

// Threads of the program may use a node that is never destroyed. They may not use one that is
// destroyed with the process while it is destroyed.
enum class Threads { none, some };

// Has everything that a node can have at once: holds, waiters, callbacks, calls in progress.
class BusyProgram {
public:
    BusyProgram(Node& node, Threads threads) : node_{node} {
        events_ = node.on_event([](const NodeEvent&) { std::this_thread::sleep_for(1ms); });
        const auto kept = "kept by " + std::to_string(node.id());
        AcquireOptions options;
        options.on_contended = [](LockMode, std::size_t, std::string_view) {
            std::this_thread::sleep_for(10ms);
        };
        kept_ = node.acquire(kept, options);
        for (int i = 0; i < 3; ++i)
            async_acquire(node, kept, [](std::error_code, const Hold&) {});
        for (int i = 0; i < 3; ++i)
            again_and_again(i);
        if (threads == Threads::none) return;
        for (int i = 0; i < 3; ++i)
            std::thread{[this, i] { work("n" + std::to_string(i)); }}.detach();
        std::thread{[this] { lock_again_and_again(); }}.detach();
    }

private:
    void again_and_again(int i) {
        async_acquire(node_, "a" + std::to_string(i), [this, i](std::error_code ec, const Hold&) {
            if (!ec) again_and_again(i);
        });
    }
    void work(const std::string& name) {
        for (std::error_code ec; !ec;) {
            auto hold = node_.acquire(name, ec);
            if (hold) hold.set_value("something", ec);
        }
    }
    void lock_again_and_again() {
        Mutex mutex{node_, "mutex"};
        try {
            while (true) {
                const std::lock_guard lock{mutex};
            }
        } catch (const LockError&) {  // the node was closed
        }
    }

    Node& node_;
    Subscription events_;
    Hold kept_;
};

// Exists as long as the process, like an object of main() when another thread ends the process.
void busy(Node& node, Threads threads) {
    // Never destroyed; a leak checker still finds it reachable.
    static auto& all = *new std::vector<BusyProgram*>;
    all.push_back(new BusyProgram{node, threads});
}

Node& leaked(Config config) {
    static auto& all = *new std::vector<Node*>;
    all.push_back(new Node{std::move(config)});
    return *all.back();
}

Node& global(Config config) {
    static Node node{std::move(config)};
    return node;
}

// Created before everything that a node creates once per process, so it is destroyed after that.
std::optional<Node> filled;

Node& in_a_global(Config config) {
    return filled.emplace(std::move(config));
}

Node& of_this_thread(Config config) {
    thread_local Node node{std::move(config)};
    return node;
}

class Exit : public ::testing::TestWithParam<Node& (*)(Config)> {
protected:
    [[nodiscard]] Node& node() const {
        return GetParam()(Config::single_node(directory_.path() / "node"));
    }
    [[nodiscard]] static Threads threads() {
        return GetParam() == leaked ? Threads::some : Threads::none;
    }
    // The end of the process leaves an undamaged directory.
    void expect_intact() {
        EXPECT_EQ(status_of([&] {
                      Node node{Config::single_node(directory_.path() / "node")};
                      IN_CHILD_EXPECT(node.acquire("n0").valid());
                  }),
                  0);
    }

private:
    testkit::TempDirectory directory_{"exit"};
};

TEST_P(Exit, OnTheMainThreadTakesTheNodeAlong) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(status_of([&] {
                      busy(node(), threads());
                      std::this_thread::sleep_for(i * 5ms);
                      leave(own_status);
                  }),
                  own_status);
    }
    expect_intact();
}

// A flush at the end would write what is not on disk for good, however long that takes.
TEST_P(Exit, DoesNotWaitLongerForANodeThatIsToFlush) {
    EXPECT_EQ(status_of([&] {
                  IN_CHILD_EXPECT(node().acquire("x").valid());
                  std::this_thread::sleep_for(1s);  // long enough for a delta
                  leave(own_status);
              }),
              own_status);
    expect_intact();
}

TEST_P(Exit, OnAnotherThreadTakesTheNodeAlong) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(status_of([&] {
                      busy(node(), threads());
                      std::this_thread::sleep_for(i * 5ms);
                      std::thread{[] { leave(own_status); }}.join();
                  }),
                  own_status);
    }
    expect_intact();
}

TEST_P(Exit, WithoutDestructorsIsAsQuick) {
    const std::vector<std::function<void()>> ways{[] { std::quick_exit(own_status); },
                                                  [] { ::_exit(own_status); }};
    for (const auto& way : ways) {
        EXPECT_EQ(status_of([&] {
                      busy(node(), threads());
                      ::alarm(exit_seconds_max);
                      std::thread{way}.join();
                  }),
                  own_status);
    }
    expect_intact();
}

TEST_P(Exit, InACallbackOfTheNodeTakesItAlong) {
    const std::vector<std::function<void(Node&)>> callbacks{
        [](Node& node) {
            async_acquire(node, "a", [](std::error_code, const Hold&) { leave(own_status); });
            std::this_thread::sleep_for(1h);
        },
        [](Node& node) {
            const auto hold = node.acquire("a");
            const std::stop_callback on_lost{hold.lost(), [] { leave(own_status); }};
            node.break_lock("a", hold.token(), "");
            std::this_thread::sleep_for(1h);
        },
        [](Node& node) {
            const auto hold = node.acquire("a");
            const auto events = node.on_event([](const NodeEvent&) { leave(own_status); });
            node.break_lock("a", hold.token(), "");
            std::this_thread::sleep_for(1h);
        },
        [](Node& node) {
            AcquireOptions options;
            options.on_contended = [](LockMode, std::size_t, std::string_view) {
                leave(own_status);
            };
            const auto hold = node.acquire("a", options);
            node.request_release("a", "please");
            std::this_thread::sleep_for(1h);
        }};
    for (const auto& callback : callbacks) {
        EXPECT_EQ(status_of([&] {
                      auto& mine = node();
                      busy(mine, threads());
                      callback(mine);
                  }),
                  own_status);
    }
    expect_intact();
}

// While a global is filled, no other thread may destroy it; that is for the program to see to.
TEST_P(Exit, InTheLogSinkTakesTheNodeAlong) {
    EXPECT_EQ(status_of([] {
                  const auto main_thread = std::this_thread::get_id();
                  std::atomic<bool> may_leave{GetParam() != in_a_global};
                  auto config = Config::in_memory();
                  config.log.level = LogLevel::debug;
                  config.log.sink = [&](LogLevel, std::string_view) {
                      if (!may_leave && std::this_thread::get_id() == main_thread) return;
                      may_leave.wait(false);
                      leave(own_status);
                  };
                  GetParam()(std::move(config));
                  may_leave = true;
                  may_leave.notify_all();
                  std::this_thread::sleep_for(1h);
              }),
              own_status);
}

Node* known = nullptr;

// Registered before everything that a node creates once per process, so it runs after that is
// destroyed.
TEST_P(Exit, LeavesTheNodeToHandlersOfTheProgramWhileItIsThere) {
    const bool outlives_all = GetParam() == leaked;
    EXPECT_EQ(status_of([&] {
                  const auto use_and_close = [] {
                      IN_CHILD_EXPECT(known->acquire("late").valid());
                      IN_CHILD_EXPECT(!known->try_acquire("kept by 1"));
                      known->close();
                      std::error_code ec;
                      IN_CHILD_EXPECT(!known->acquire("later", ec) && ec == Errc::node_stopped);
                      IN_CHILD_EXPECT(!ec.message().empty());
                  };
                  if (outlives_all) std::atexit(use_and_close);
                  known = &node();
                  busy(*known, threads());
                  if (!outlives_all && GetParam() != of_this_thread) std::atexit(use_and_close);
                  leave(own_status);
              }),
              own_status);
    expect_intact();
}

INSTANTIATE_TEST_SUITE_P(OfNodes, Exit,
                         ::testing::Values(leaked, global, in_a_global, of_this_thread),
                         [](const auto& of) -> std::string {
                             if (of.param == leaked) return "Leaked";
                             if (of.param == in_a_global) return "InAGlobal";
                             return of.param == global ? "Global" : "OfAThread";
                         });

std::optional<testkit::LocalCluster> cluster;

void run_cluster_for(testkit::Wire wire, std::chrono::milliseconds time) {
    auto timing = testkit::quick_timing();
    timing.close_timeout = 200ms;
    cluster.emplace(3, timing, wire);
    for (std::size_t at = 0; at < cluster->size(); ++at)
        busy(cluster->node(at), Threads::none);
    std::this_thread::sleep_for(time);
    std::thread{[] { leave(own_status); }}.join();
}

TEST(ExitOfACluster, TakesItAlong) {
    for (const auto wire : {testkit::Wire::plain, testkit::Wire::tls}) {
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(status_of([&] { run_cluster_for(wire, i * 20ms); }), own_status);
    }
}

void open_and_close(const std::filesystem::path& path) {
    try {
        while (true)
            const Node node{Config::single_node(path)};
    } catch (const std::system_error&) {  // it is not allowed any more
        std::this_thread::sleep_for(1h);
    }
}

// A thread that opens or closes at that moment is using what RocksDB has for the process. exit()
// waits for it, which takes no longer than the call on a working disk.
TEST(ExitOfACluster, TakesNodesAlongThatOpenOrClose) {
    const testkit::TempDirectory directory{"exit"};
    constexpr unsigned seconds_max = 20;
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(status_of([&] {
                      for (const auto* name : {"a", "b", "c"})
                          std::thread{open_and_close, directory.path() / name}.detach();
                      std::this_thread::sleep_for(50ms + i * 3ms);
                      leave(own_status, seconds_max);
                  }),
                  own_status);
    }
}

TEST(ExitOfACluster, TakesAGateAlong) {
    const testkit::TempDirectory directory{"exit"};
    static std::optional<FenceGate> gate;
    EXPECT_EQ(status_of([&] {
                  gate.emplace(FenceGate::open(directory.path() / "gate"));
                  IN_CHILD_EXPECT(gate->check("r", FencingToken::from_raw(1)));
                  leave(own_status);
              }),
              own_status);
}

}  // namespace
}  // namespace mortise::tests
