// Changes by a program and its environment that ignore the node: another working directory, removed
// files, limited file sizes. Each test runs in a child process.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/testkit.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

int status_of(const std::function<void()>& body) {
    constexpr unsigned no_limit = 0;
    const auto run = [&] {
        body();
        return 0;
    };
    return tests::exit_of_child(run, no_limit);
}

class Surroundings : public ::testing::Test {
protected:
    [[nodiscard]] fs::path path() const { return directory_.path(); }

    // For one node. Read told_ when that is closed.
    [[nodiscard]] auto sink() {
        return [this](LogLevel, std::string_view line) { told_ += line; };
    }

    testkit::TempDirectory directory_{"surroundings"};
    std::string told_;
};

// Long enough for deltas, countdowns and a flush.
constexpr auto a_while = 1500ms;

TEST_F(Surroundings, AnotherWorkingDirectoryLaterDoesNoHarm) {
    const auto work = [&] {
        fs::current_path(path());
        Node node{Config::single_node("below/node")};
        auto gate = FenceGate::open("gates/one");
        auto hold = node.acquire("x");
        IN_CHILD_EXPECT(gate.check("r", hold.token()));
        fs::current_path("/");
        std::this_thread::sleep_for(a_while);
        IN_CHILD_EXPECT(!hold.release());
        hold = node.acquire("x");
        IN_CHILD_EXPECT(gate.check("r", hold.token()));
        IN_CHILD_EXPECT(hold.valid());
    };
    EXPECT_EQ(status_of(work), 0);
    EXPECT_EQ(status_of(work), 0);  // and finds it again
    EXPECT_TRUE(fs::exists(path() / "below" / "node" / "LOCK"));
}

// The child starts threads, which the thread sanitizer does not allow after a fork with threads.
#ifndef __SANITIZE_THREAD__
// Otherwise two nodes could hold the same lock.
TEST_F(Surroundings, ADirectoryIsInUseAlsoWhenItsLockFilesWereRemoved) {
    Node node{Config::single_node(path() / "node")};
    auto gate = FenceGate::open(path() / "gate");
    for (const auto& entry : fs::recursive_directory_iterator{path()}) {
        if (entry.path().filename() == "LOCK") fs::remove(entry.path());
    }
    EXPECT_EQ(status_of([&] {
                  try {
                      Node{Config::single_node(path() / "node")};
                      ::_exit(1);
                  } catch (const std::system_error& error) {
                      IN_CHILD_EXPECT(error.code() == DirectoryErrc::locked);
                  }
                  try {
                      const auto second = FenceGate::open(path() / "gate");
                      ::_exit(1);
                  } catch (const std::system_error& error) {
                      IN_CHILD_EXPECT(error.code() == DirectoryErrc::locked);
                  }
              }),
              0);
    EXPECT_TRUE(node.acquire("x").valid());
}
#endif

// The path then names nothing, or what another process has made there.
TEST_F(Surroundings, ADirectoryThatIsMovedAwayIsNotUsedAnyMore) {
    auto config = Config::single_node(path() / "node");
    config.log.sink = sink();
    Node node{config};
    const auto held = node.acquire("x", {.caching = Caching::off});
    auto gate = FenceGate::open(path() / "gate");
    ASSERT_TRUE(gate.check("r", held.token()));
    fs::rename(path() / "node", path() / "node.away");
    fs::rename(path() / "gate", path() / "gate.away");
    EXPECT_THROW(std::ignore = node.acquire("y", {.caching = Caching::off}), std::system_error);
    node.close();
    EXPECT_NE(told_.find("was moved or removed while it is in use"), std::string::npos) << told_;
    EXPECT_FALSE(held.valid());
    EXPECT_THROW(std::ignore = gate.check("s", held.token()), std::system_error);

    Node second{Config::single_node(path() / "node")};
    EXPECT_TRUE(second.acquire("x").valid());
    EXPECT_TRUE(FenceGate::open(path() / "gate").check("r", held.token()));
}

// Otherwise two clusters could grant the same names.
TEST_F(Surroundings, AListOfPeersThatWasForgottenOnceMakesNoSecondCluster) {
    Config alone;
    alone.node_id = 1;
    alone.data_dir = path() / "node";
    alone.listen = "127.0.0.1:0";
    alone.log.sink = sink();
    EXPECT_TRUE(Node{alone}.acquire("x").valid());
    EXPECT_NE(told_.find("has no peers and formed a cluster of its own"), std::string::npos)
        << told_;
    alone.log.sink = nullptr;
    auto together = alone;
    together.peers = {{1, "127.0.0.1:7401"}, {2, "127.0.0.1:7402"}, {3, "127.0.0.1:7403"}};
    try {
        const Node node{together};
        FAIL() << "it would lead itself beside the cluster of its peers";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.place().key, "peer");
        EXPECT_NE(std::string{error.what()}.find("remove the directory"), std::string::npos);
    }
    EXPECT_TRUE(Node{alone}.acquire("x").valid());
    std::filesystem::remove_all(alone.data_dir);
    EXPECT_FALSE(Node{together}.status().ready);  // it waits for the others
}

void limit_file_size(rlim_t bytes) {
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
}

// By default SIGXFSZ ends a process.
TEST_F(Surroundings, ALimitOfTheSizeOfFilesEndsNoProgram) {
    for (const rlim_t kibibytes : {0, 1, 64, 1'024, 16'384}) {
        EXPECT_EQ(status_of([&] {
                      limit_file_size(kibibytes << 10U);
                      auto config = Config::single_node(path() / std::to_string(kibibytes));
                      if (kibibytes < 16'384) config.timing.call_timeout = 2s;
                      try {
                          Node node{std::move(config)};
                          const std::string value(4'000, 'v');
                          for (int i = 0; i < 400; ++i) {
                              auto hold = node.acquire("n" + std::to_string(i));
                              hold.set_value(value);
                          }
                          IN_CHILD_EXPECT(kibibytes >= 16'384);
                      } catch (const std::system_error& error) {
                          std::fprintf(stderr, "%ld KiB: %s\n", static_cast<long>(kibibytes),
                                       error.what());
                          IN_CHILD_EXPECT(kibibytes < 16'384);
                      }
                      sigset_t pending;
                      ::sigpending(&pending);
                      IN_CHILD_EXPECT(sigismember(&pending, SIGXFSZ) == 0);
                  }),
                  0)
            << kibibytes << " KiB";
    }
}

TEST_F(Surroundings, AGateUnderALimitOfTheSizeOfFilesRefusesAndLives) {
    EXPECT_EQ(status_of([&] {
                  auto gate = FenceGate::open(path() / "gate");
                  limit_file_size(2'000);
                  bool refused = false;
                  for (std::int64_t token = 1; token < 2'000 && !refused; ++token) {
                      try {
                          IN_CHILD_EXPECT(gate.check("resource", FencingToken::from_raw(token)));
                      } catch (const std::system_error&) {
                          refused = true;
                      }
                  }
                  IN_CHILD_EXPECT(refused);
              }),
              0);
}

}  // namespace
}  // namespace mortise
