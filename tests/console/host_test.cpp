// What the console may do for its node, and what it does to its host.
#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/console/console_fixture.hpp"
#include "tests/support/child.hpp"
#include <mortise/testkit.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

bool may_break(const Console& console) {
    return ask(port_of(console), "GET", "/api/v1/status").json()["console"]["may_break"];
}

// --- what it has --------------------------------------------------------------------------------

TEST(ConsoleOfAClient, SaysWhatAClientLacksAndShowsTheRest) {
    testkit::LocalCluster cluster{1};
    const auto member = cluster.node(0).status();
    Config config;
    config.role = Role::client;
    config.cluster = member.cluster;
    for (const auto& each : member.members)
        config.peers.push_back({each.id, each.address});
    Node node{config};
    ASSERT_TRUE(node.wait_ready(Clock::now() + 30s));
    const Console console{node, any_port()};
    const auto port = port_of(console);
    RawClient events{port};
    events.send("GET /api/v1/events?prefix=orders/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
    (void)events.read_until("event: begin");
    const auto hold = node.acquire("orders/42");
    EXPECT_THAT(events.read_until("\"granted\""), HasSubstr("orders/42"));
    const auto lock = ask(port, "GET", "/api/v1/lock?name=orders/42");
    EXPECT_EQ(lock.json()["holders_total"], 1) << lock.body;
    const auto status = ask(port, "GET", "/api/v1/status").json();
    EXPECT_EQ(status["node"]["role"], "client");
    EXPECT_TRUE(status["members"].empty());
}

// --- what it may do -----------------------------------------------------------------------------

// A node with certificates, whose core thread hangs in the log of the program from its first line.
class HangingTlsNode : public ::testing::Test {
protected:
    HangingTlsNode() {
        const auto at = [this](const char* name) { return directory_.path() / name; };
        create_authority({"orders", at("ca.pem"), at("ca.key")});
        CertificateOptions options;
        options.authority_certificate = at("ca.pem");
        options.authority_key = at("ca.key");
        options.node = 1;
        options.certificate = at("node.pem");
        options.key = at("node.key");
        issue_certificate(options);
        config_ = Config::single_node(at("data"));
        config_.cluster = "orders";
        config_.listen = "127.0.0.1:0";
        config_.timing.call_timeout = 100ms;
        config_.tls = {at("node.pem"), at("node.key"), at("ca.pem")};
        config_.log.level = LogLevel::info;
        config_.log.record_sink = [this](const LogRecord& record) {
            if (record.key != "leader_changed" || hangs_.exchange(true)) return;
            hanging_.set_value();
            released_.get_future().wait();
        };
        node_ = std::make_unique<Node>(config_);
    }
    void SetUp() override {
        ASSERT_EQ(hanging_.get_future().wait_for(patience), std::future_status::ready);
    }
    ~HangingTlsNode() override { released_.set_value(); }

    testkit::TempDirectory directory_{"mortise-console"};
    std::atomic<bool> hangs_ = false;
    std::promise<void> hanging_;
    std::promise<void> released_;
    Config config_;
    std::unique_ptr<Node> node_;
};

TEST_F(HangingTlsNode, IsKnownToHaveTls) {
    EXPECT_TRUE(node_->metrics().certificate_left.is_set());
}

TEST_F(HangingTlsNode, BreaksNothingForEverybodyOfTheMachine) {
    const Console console{*node_, any_port()};
    EXPECT_FALSE(may_break(console));
}

// --- how much of it breaks can take
// ---------------------------------------------------------------

TEST(ConsoleBreaks, ThoseThatWaitForTheClusterLeaveItFree) {
    testkit::LocalCluster cluster{2};
    cluster.isolate(0);
    Console console{cluster.node(0), {.listen = "127.0.0.1:0", .allow_break = true}};
    const auto port = port_of(console);
    const std::string body = R"({"name":"x","token":"7","confirm":"7","reason":"test"})";
    const auto request =
        "POST /api/v1/break HTTP/1.1\r\nHost: localhost\r\nMortise-Console: break\r\n"
        "Content-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    std::vector<std::unique_ptr<RawClient>> waiting;
    for (int i = 0; i < 32; ++i) {
        waiting.push_back(std::make_unique<RawClient>(port));
        waiting.back()->send(request);
    }
    const auto begin = Clock::now();
    std::size_t refused = 0;
    for (const auto& each : waiting) {
        const auto reply = reply_of(each->read_until("\n}", 500ms));
        if (reply.status == 503 && reply.body.find("too_many_breaks") != std::string::npos)
            ++refused;
    }
    EXPECT_EQ(refused, 28U);
    EXPECT_EQ(ask(port, "GET", "/api/v1/status").status, 200);
    EXPECT_LT(Clock::now() - begin, 4s);
    cluster.heal();  // so that they end
    console.close();
}

// --- its lines ----------------------------------------------------------------------------------

class ConsoleLines : public OneNode {
protected:
    static ConsoleOptions for_everybody() {
        return {.listen = "0.0.0.0:0", .allow_remote = true, .allow_break = true};
    }
};

TEST_F(ConsoleLines, GoToTheSinkOfRecords) {
    std::mutex mutex;
    std::vector<std::string> keys;
    std::string reason;
    auto options = for_everybody();
    options.log.record_sink = [&](const LogRecord& record) {
        const std::lock_guard lock{mutex};
        EXPECT_EQ(record.node, node_.id());
        EXPECT_EQ(record.level, LogLevel::warn);
        EXPECT_THAT(std::string{record.text}, HasSubstr("console"));
        keys.emplace_back(record.key);
        for (const auto& field : record.fields)
            if (field.key == "reason") reason = field.value;
    };
    const Console console{node_, options};
    EXPECT_THAT(keys, ElementsAre("console_reachable", "console_breaks_for_all"));
    const auto hold = node_.acquire("stuck");
    const auto token = to_string(hold.token());
    const nlohmann::json body{
        {"name", "stuck"}, {"token", token}, {"confirm", token}, {"reason", "it hangs"}};
    const auto reply =
        ask(port_of(console), "POST", "/api/v1/break",
            "Content-Type: application/json\r\nMortise-Console: break\r\n", body.dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    const std::lock_guard lock{mutex};
    EXPECT_THAT(keys, ElementsAre("console_reachable", "console_breaks_for_all", "console_broke"));
    EXPECT_EQ(reason, "it hangs");
}

TEST_F(ConsoleLines, EverybodyWhoMayBreakIsAWarningOfItsOwn) {
    std::vector<std::string> lines;
    auto options = for_everybody();
    options.log.sink = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
    { const Console console{node_, options}; }
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_THAT(lines[1], HasSubstr("everybody who reaches it breaks locks"));
    options.allow_break = false;
    lines.clear();
    { const Console console{node_, options}; }
    EXPECT_EQ(lines.size(), 1U);
}

// ThreadSanitizer does not allow a child that starts threads.
#ifndef __SANITIZE_THREAD__

// The host is a child, because SIGPIPE would end it.
TEST_F(ConsoleLines, AReaderOfStderrThatIsGoneIsNoEndOfTheHost) {
    EXPECT_EQ(exit_of_child([] {
                  std::signal(SIGPIPE, SIG_DFL);
                  std::array<int, 2> ends{};
                  if (::pipe(ends.data()) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return 3;
                  ::close(ends[0]);
                  ::close(ends[1]);
                  Node node{Config::in_memory()};
                  try {
                      const Console console{node, for_everybody()};
                  } catch (...) {
                      return 4;
                  }
                  node.close();
                  return 0;
              }),
              0);
}

#endif

}  // namespace
}  // namespace mortise::tests
