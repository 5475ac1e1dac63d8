// What an exception says besides its code: which argument is wrong, or which nodes are missing.
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

std::string words_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::system_error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t times = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++times;
    return times;
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// --- invalid calls

using Reasons = OneNode;

TEST_F(Reasons, ForARefusedAcquireNameTheOption) {
    const auto refusal = [&](const AcquireOptions& options) {
        return words_of([&] { std::ignore = node_.acquire("x", options); });
    };
    EXPECT_SAYS(refusal({.label = std::string(257, 'x')}), "x: a label has at most 256 bytes: ");
    EXPECT_SAYS(refusal({.max_hold = 0s}), "max_hold");
    EXPECT_SAYS(refusal({.priority = 8}), "from 0 to 7");
    EXPECT_SAYS(refusal({.on_suspended = [] {}}), "on_suspended");
}

TEST_F(Reasons, AreGivenByEveryCallThatTakesAName) {
    const std::string words = "a name has 1 to 512 bytes";
    Mutex mutex{node_, ""};
    EXPECT_SAYS(words_of([&] { std::ignore = node_.acquire(""); }), words);
    EXPECT_SAYS(words_of([&] { std::ignore = node_.try_acquire(""); }), words);
    EXPECT_SAYS(words_of([&] { std::ignore = node_.acquire_for("", 1s); }), words);
    EXPECT_SAYS(words_of([&] { std::ignore = node_.inspect(""); }), words);
    EXPECT_SAYS(words_of([&] { mutex.lock(); }), words);
}

TEST_F(Reasons, ForAMutexAndForAnAttemptNameTheOption) {
    const AcquireOptions limited{.wait_max = 1s};
    EXPECT_SAYS(words_of([&] { std::ignore = node_.try_acquire("x", limited); }), "acquire_for");
    EXPECT_SAYS(words_of([&] {
                    Mutex{node_, "x", limited};
                }),
                "the options of a mutex must not set locker, wait_max or mode");
    Node other{Config::in_memory()};
    const AcquireOptions foreign{.wait_max = 1s, .locker = Locker{other}};
    EXPECT_SAYS(words_of([&] { std::ignore = node_.acquire("x", foreign); }), "another node");
    EXPECT_SAYS(words_of([&] { Locker(node_, std::string(257, 'x')); }), "256 bytes");
}

TEST_F(Reasons, OfSeveralNamesNameTheOneThatIsRefused) {
    const LockRequests modes{{"a"}, {"b"}, {"b", LockMode::shared}};
    EXPECT_SAYS(words_of([&] { std::ignore = node_.acquire_all(modes); }), "b: the list has");
    EXPECT_SAYS(words_of([&] { std::ignore = node_.acquire_any(modes); }), "b: the list has");
    EXPECT_SAYS(words_of([&] { std::ignore = node_.try_acquire_any(modes); }), "b: the list has");
    EXPECT_SAYS(words_of([&] { std::ignore = node_.acquire_all(LockRequests{}); }), "is empty");
}

TEST_F(Reasons, OfAHoldSayWhatItCannotDo) {
    auto shared = node_.acquire("x", {.mode = LockMode::shared});
    EXPECT_SAYS(words_of([&] { shared.set_value("1"); }), "exclusive mode");
    EXPECT_SAYS(words_of([&] { shared.consistent(); }), "exclusive mode");
    EXPECT_SAYS(words_of([&] { shared.downgrade(LockMode::update); }), "its own covers");
    EXPECT_SAYS(words_of([&] { shared.downgrade(LockMode::exclusive); }), "its own covers");
    const auto alone = node_.acquire("y");
    EXPECT_SAYS(words_of([&] { alone.set_value(std::string(4'097, 'x')); }), "4,096 bytes");
    auto exclusive = node_.acquire("z");
    EXPECT_SAYS(words_of([&] { exclusive.upgrade(); }), "can be upgraded");
}

TEST_F(Reasons, OfElectionsAndObservers) {
    Election nameless{node_, ""};
    EXPECT_SAYS(words_of([&] { std::ignore = nameless.leader(); }), "1 to 512 bytes");
    EXPECT_SAYS(
        words_of([&] { std::ignore = nameless.observe([](const std::optional<Leader>&) {}); }),
        "1 to 512 bytes");
    EXPECT_SAYS(words_of([&] { std::ignore = node_.observe("", nullptr); }), "is empty");
    EXPECT_SAYS(words_of([&] { std::ignore = Election(node_, "x").observe(nullptr); }), "is empty");
    const std::string longer(513, 'x');
    EXPECT_SAYS(words_of([&] { std::ignore = node_.list(longer); }), "at most 512 bytes");
    EXPECT_SAYS(words_of([&] { std::ignore = node_.observe(longer, [](const Event&) {}); }),
                "at most 512 bytes");
    Election election{node_, "x"};
    EXPECT_SAYS(words_of([&] { std::ignore = election.campaign(std::string(4'001, 'x')); }),
                "value_bytes_max");
}

TEST_F(Reasons, OfAPublishedValueAndOfTimesNameThem) {
    Election election{node_, "x"};
    const auto leads = election.campaign("1");
    EXPECT_SAYS(words_of([&] { election.publish(leads, std::string(4'001, 'x')); }),
                "value_bytes_max");
    for (const Duration time : {Duration{0s}, Duration{25 * 24h}, Duration::max()}) {
        const auto run = [&] {
            std::ignore = run_once_per(node_, "job", time, [](const JobRun&) {});
        };
        EXPECT_SAYS(words_of(run), "the interval is above zero, and at most 24 days");
        EXPECT_SAYS(words_of([&] { RateLimiter(node_, "r", 1, time); }), "at most 24 days");
    }
}

TEST(ReasonsOfRemote, ForANameAreThoseOfANode) {
    Remote remote{{"127.0.0.1:1"}, 1s};
    const std::string longer(513, 'x');
    const std::string words = "a prefix has at most 512 bytes";
    EXPECT_SAYS(words_of([&] { std::ignore = remote.list(longer, {}); }), words);
    EXPECT_SAYS(words_of([&] { std::ignore = remote.list("", longer); }), words);
    EXPECT_SAYS(words_of([&] { remote.observe(longer, [](const Event&) {}, {}, {}); }), words);
    EXPECT_SAYS(words_of([&] { std::ignore = remote.inspect(longer); }), "1 to 512 bytes");
}

TEST(ReasonsOfRemote, ARemoteOfNobodyIsRefused) {
    EXPECT_SAYS(words_of([] { Remote({}, 1s); }), "no address of a member is given");
}

// --- a cluster that is not formed

class Unformed : public ::testing::Test {
protected:
    Unformed() {
        asio::io_context io;
        std::vector<asio::ip::tcp::acceptor> taken;
        for (NodeId id = 1; id <= 3; ++id) {
            taken.emplace_back(io, asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0});
            peers_.push_back(
                {id, "127.0.0.1:" + std::to_string(taken.back().local_endpoint().port())});
        }
    }

    [[nodiscard]] Config member(std::size_t index, std::size_t of) const {
        Config config;
        config.node_id = peers_[index].id;
        config.listen = peers_[index].address;
        config.peers = {peers_.begin(), peers_.begin() + static_cast<std::ptrdiff_t>(of)};
        config.data_dir = directory_.path() / std::to_string(config.node_id);
        config.timing.call_timeout = 200ms;
        return config;
    }

    // False if the node does not say so in time.
    static bool comes_to_say(const Node& node, const std::string& words) {
        const auto give_up = std::chrono::steady_clock::now() + patience;
        while (node.status().why_not_ready.find(words) == std::string::npos) {
            if (std::chrono::steady_clock::now() > give_up) return false;
            std::this_thread::sleep_for(10ms);
        }
        return true;
    }

    testkit::TempDirectory directory_{"mortise-reasons-test"};
    std::vector<PeerConfig> peers_;
};

TEST_F(Unformed, ACallSaysWhoIsMissing) {
    Node node{member(0, 3)};
    const std::string no_one = ": nothing listens there: start it, or correct its address)";
    const auto missing = "no connection with 2 (" + peers_[1].address + no_one + ", 3 (" +
                         peers_[2].address + no_one;
    EXPECT_TRUE(comes_to_say(node, missing)) << node.status().why_not_ready;
    std::error_code ec;
    EXPECT_FALSE(node.acquire("x", ec));
    EXPECT_EQ(ec, Errc::no_quorum);
    EXPECT_SAYS(words_of([&] { std::ignore = node.acquire("x"); }), missing);
}

TEST_F(Unformed, PeersThatNameOthersAreSuspected) {
    const Node one{member(0, 2)};
    const Node two{member(1, 3)};
    EXPECT_TRUE(comes_to_say(one, "node 2 names the peers 1, 2, 3, and this node 1, 2: list"))
        << one.status().why_not_ready;
}

TEST_F(Unformed, WhoWaitsForAStoppedNodeIsToldWhyItStopped) {
    Node node{member(0, 2)};
    node.close();
    const auto why = node.status().why_stopped;
    ASSERT_NE(why, "");
    EXPECT_SAYS(words_of([&] { std::ignore = node.wait_ready(std::chrono::steady_clock::now()); }),
                why);
}

TEST_F(Unformed, APortInUseIsSaidOnce) {
    const Node one{member(0, 2)};
    auto config = member(1, 2);
    config.listen = peers_[0].address;
    const auto words = words_of([&] { Node{config}; });
    EXPECT_SAYS(words, "cannot listen on " + config.listen);
    EXPECT_EQ(count(words, "Address already in use"), 1U) << words;
}

TEST_F(Unformed, ARemoteSaysOnceThatNobodyIsThere) {
    const auto words = words_of([&] { std::ignore = Remote({peers_[0].address}, 5s).list(""); });
    EXPECT_EQ(count(words, "Connection refused"), 1U) << words;
}

}  // namespace
}  // namespace mortise
