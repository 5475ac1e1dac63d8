// A host that has the library, and loads a plug-in with another copy of it.
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include "tests/host/loaded_plugin.hpp"
#include "tests/host/process.hpp"
#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int own_status = 7;

class TwoCopies : public ::testing::TestWithParam<int> {
protected:
    [[nodiscard]] static int flags() { return RTLD_NOW | GetParam(); }
    [[nodiscard]] fs::path path() const { return directory_.path(); }

private:
    testkit::TempDirectory directory_{"copies"};
};

TEST_P(TwoCopies, HaveNothingInCommon) {
    EXPECT_EQ(status_of([] {
                  const LoadedPlugin plugin{MORTISE_PLUGIN, flags()};
                  IN_CHILD_EXPECT(plugin.library() != &error_category());
              }),
              0);
}

TEST_P(TwoCopies, WorkSideBySide) {
    EXPECT_EQ(status_of([&] {
                  const LoadedPlugin plugin{MORTISE_PLUGIN, flags()};
                  Node node{Config::single_node(path() / "host")};
                  IN_CHILD_EXPECT(std::string{plugin.open((path() / "plug-in").c_str())}.empty());
                  const auto hold = node.acquire("x");
                  Mutex mutex{node, "m"};
                  const std::lock_guard lock{mutex};
                  IN_CHILD_EXPECT(plugin.use("x") != 0);
                  IN_CHILD_EXPECT(plugin.lock("m"));
                  IN_CHILD_EXPECT(mutex.owned_by_this_thread());
                  plugin.close();
                  IN_CHILD_EXPECT(hold.valid());
                  IN_CHILD_EXPECT(std::string{plugin.open(nullptr)}.empty());
                  node.close();
                  IN_CHILD_EXPECT(plugin.use("x") != 0);
                  leave(own_status);
              }),
              own_status);
}

TEST_P(TwoCopies, DoNotShareADirectory) {
    EXPECT_EQ(status_of([&] {
                  const LoadedPlugin plugin{MORTISE_PLUGIN, flags()};
                  const auto directory = path() / "node";
                  {
                      Node node{Config::single_node(directory)};
                      const std::string why = plugin.open(directory.c_str());
                      IN_CHILD_EXPECT(why.find("another process") != std::string::npos ||
                                      why.find("in use") != std::string::npos);
                      IN_CHILD_EXPECT(why.find(directory.string()) != std::string::npos);
                      IN_CHILD_EXPECT(node.acquire("x").valid());
                  }
                  IN_CHILD_EXPECT(std::string{plugin.open(directory.c_str())}.empty());
                  try {
                      const Node node{Config::single_node(directory)};
                      ::_exit(1);
                  } catch (const std::system_error& refused) {
                      IN_CHILD_EXPECT(refused.code() == DirectoryErrc::locked);
                  }
                  IN_CHILD_EXPECT(plugin.use("x") != 0);
              }),
              0);
}

std::string free_peers() {
    asio::io_context io;
    std::vector<asio::ip::tcp::acceptor> acceptors;
    std::string peers;
    for (int id = 1; id <= 3; ++id) {
        const asio::ip::tcp::endpoint any{asio::ip::make_address("127.0.0.1"), 0};
        const auto port = acceptors.emplace_back(io, any).local_endpoint().port();
        peers += std::to_string(id) + "=127.0.0.1:" + std::to_string(port) + ",";
    }
    peers.pop_back();
    return peers;
}

TEST_P(TwoCopies, AreMembersOfOneCluster) {
    EXPECT_EQ(status_of([&] {
                  const LoadedPlugin plugin{MORTISE_PLUGIN, flags()};
                  const auto peers = free_peers();
                  const auto config_of = [&](NodeId id) {
                      Config config;
                      config.node_id = id;
                      config.data_dir = path() / std::to_string(id);
                      config.peers = parse_peer_list(peers);
                      // the last member has no others to wait for
                      config.timing.close_timeout = 200ms;
                      config.listen = config.peers.at(id - 1).address;
                      return config;
                  };
                  Node first{config_of(1)};
                  const std::string why = plugin.join((path() / "2").c_str(), 2, peers.c_str());
                  IN_CHILD_EXPECT(why.empty());
                  Node third{config_of(3)};
                  IN_CHILD_EXPECT(first.wait_ready(std::chrono::steady_clock::now() + 30s));
                  IN_CHILD_EXPECT(third.wait_ready(std::chrono::steady_clock::now() + 30s));
                  IN_CHILD_EXPECT(plugin.use("other") != 0);  // it is ready as well
                  auto hold = first.acquire("x");
                  IN_CHILD_EXPECT(plugin.try_once("x") == 0);
                  IN_CHILD_EXPECT(!third.try_acquire("x"));
                  const auto token = hold.token().raw();
                  IN_CHILD_EXPECT(!hold.release());
                  IN_CHILD_EXPECT(plugin.try_once("x") > token);
                  plugin.close();
              }),
              0);
}

// Their error codes have different categories, so they do not compare equal; their messages are the
// same.
TEST_P(TwoCopies, ThrowWhatTheOtherUnderstands) {
    EXPECT_EQ(status_of([&] {
                  const LoadedPlugin plugin{MORTISE_PLUGIN, flags()};
                  try {
                      plugin.throw_error();
                      ::_exit(1);
                  } catch (const LockError& error) {
                      const auto own = make_error_code(Errc::not_held);
                      IN_CHILD_EXPECT(error.code().value() == own.value());
                      IN_CHILD_EXPECT(error.code().category().name() ==
                                      std::string{own.category().name()});
                      IN_CHILD_EXPECT(error.detail().name.empty());
                  }
              }),
              0);
}

INSTANTIATE_TEST_SUITE_P(LoadedAs, TwoCopies, ::testing::Values(RTLD_LOCAL, RTLD_GLOBAL),
                         [](const auto& of) {
                             return of.param == RTLD_GLOBAL ? "Global" : "Local";
                         });

}  // namespace
}  // namespace mortise::tests
