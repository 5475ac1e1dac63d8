// A program that ends while its node is at work: at once, with the status that it means, and
// whatever the node is doing.
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
#include <mortise/testing.hpp>

// OpenSSL keeps things for each thread, in a list that it destroys in exit(). What threads of a
// node have there, which still run at that moment, is found by nobody afterwards. Tests that close
// their nodes find what the library itself does not give back to OpenSSL.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:CRYPTO_zalloc\n";
}
extern "C" const char* __lsan_default_options() {
    return "print_suppressions=0";
}

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;

constexpr int own_status = 7;

// Threads of the program may use a node that nobody destroys; one that goes with the process is not
// theirs to use while it does.
enum class Threads { none, some };

// It has what a node can have at once: holds, those who wait, callbacks, calls under way.
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
        } catch (const LockError&) {  // it was closed
        }
    }

    Node& node_;
    Subscription events_;
    Hold kept_;
};

// For as long as the process lives, as a program's main() has it when another thread ends it.
void busy(Node& node, Threads threads) {
    // Never destroyed, so that a tool that looks for leaks finds them.
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

// There before anything that a node makes once for the process, and so it goes after that.
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
    // Who ended the process in the middle of something left a directory that is as good as ever.
    void expect_intact() {
        EXPECT_EQ(status_of([&] {
                      Node node{Config::single_node(directory_.path() / "node")};
                      IN_CHILD_EXPECT(node.acquire("n0").valid());
                  }),
                  0);
    }

private:
    testing::TempDirectory directory_{"exit"};
};

TEST_P(Exit, OfTheMainThreadTakesTheNodeAlong) {
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

// What it has not brought to disk for good yet is a flush at its end, however late that is.
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

TEST_P(Exit, InTheLogSinkTakesTheNodeAlong) {
    EXPECT_EQ(status_of([] {
                  auto config = Config::in_memory();
                  config.log.level = LogLevel::debug;
                  config.log.sink = [](LogLevel, std::string_view) { leave(own_status); };
                  GetParam()(std::move(config));
                  std::this_thread::sleep_for(1h);
              }),
              own_status);
}

Node* known = nullptr;

// Registered before all that a node makes once for the process, so it runs when that is gone.
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

std::optional<testing::LocalCluster> cluster;

void run_cluster_for(testing::Wire wire, std::chrono::milliseconds time) {
    auto timing = testing::quick_timing();
    timing.close_timeout = 200ms;
    cluster.emplace(3, timing, wire);
    for (std::size_t at = 0; at < cluster->size(); ++at)
        busy(cluster->node(at), Threads::none);
    std::this_thread::sleep_for(time);
    std::thread{[] { leave(own_status); }}.join();
}

TEST(ExitOfACluster, TakesItAlong) {
    for (const auto wire : {testing::Wire::plain, testing::Wire::tls}) {
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(status_of([&] { run_cluster_for(wire, i * 20ms); }), own_status);
    }
}

void open_and_close(const std::filesystem::path& path) {
    try {
        while (true)
            const Node node{Config::single_node(path)};
    } catch (const std::system_error&) {  // there is no more to open
        std::this_thread::sleep_for(1h);
    }
}

// Whoever opens and closes at that moment is in the middle of what RocksDB has for the process. It
// is waited for, which takes no longer than that on a disk that works.
TEST(ExitOfACluster, TakesNodesAlongThatOpenOrClose) {
    const testing::TempDirectory directory{"exit"};
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
    const testing::TempDirectory directory{"exit"};
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
