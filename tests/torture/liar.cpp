// torture_liar CONFIG EVERY_MS SEED: a member that lies in its own name to all that it is connected
// with (docs/decisions/0064), and otherwise does its duty. Every lie of stopping_lies.hpp takes its
// turn, in an order that the seed decides. It prints "ready" when its node is, "lied NAME TIMES"
// after each turn, and "stopped WHY" if its node has stopped; "quit", or the end of the input, ends
// it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/network_side.hpp"
#include "embed/runtime/node_runtime.hpp"
#include "tests/support/stopping_lies.hpp"
#include <mortise/mortise.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

// Longer than the half of an election timeout after which a false claim to lead is examined.
constexpr auto turn = 300ms;

// No interface of the library lets a program lie, so this one reaches for what is private there.
template <class What, typename What::Type member>
struct Opened {
    friend typename What::Type opened(What /*what*/) { return member; }
};
struct Core {
    using Type = CoreThread NodeRuntime::*;
    friend Type opened(Core /*what*/);
};
struct Loop {
    using Type = std::unique_ptr<CoreLoop> NodeRuntime::*;
    friend Type opened(Loop /*what*/);
};
struct Network {
    using Type = const std::unique_ptr<NetworkSide> CoreLoop::*;
    friend Type opened(Network /*what*/);
};
template struct Opened<Core, &NodeRuntime::core_>;
template struct Opened<Loop, &NodeRuntime::loop_>;
template struct Opened<Network, &CoreLoop::network_>;

class Liar {
public:
    Liar(NodeRuntime& node, std::chrono::milliseconds every, std::uint64_t seed)
        : node_{node}, every_{every}, timer_{(node.*opened(Core{})).io()} {
        // A lie that may make its victim break a promise about locks is not about stopping.
        std::ranges::copy_if(core::test::lies, std::back_inserter(lies_),
                             &core::test::Lie::only_stops);
        std::ranges::shuffle(lies_, std::mt19937_64{seed});
    }

    void begin() {
        asio::post(timer_.get_executor(), [this] { lie(); });
    }

private:
    void lie() {
        // A node that begins anew has another loop.
        auto& loop = *(node_.*opened(Loop{}));
        auto& network = *(loop.*opened(Network{}));
        for (const auto& [peer, hello] : network.contacts().connected())
            lie_to(loop.driver().core(), network, hello);
        network.flush();
        if (spent_ += every_; spent_ >= turn) next();
        timer_.expires_after(every_);
        timer_.async_wait([this](std::error_code error) {
            if (!error) lie();
        });
    }

    // Its own state is close to that of the other one.
    void lie_to(const core::NodeCore& core, PeerSender& peers, const core::Hello& to) {
        for (auto& message : lies_[at_].to(core)) {
            if (auto* word = std::get_if<core::Superseded>(&message)) {
                // It keeps a member out of elections until the cluster has accepted its run.
                const auto known =
                    core.machine().sessions().newest_start(to.generation.incarnation);
                if (known != to.generation.start()) continue;
                word->generation = to.generation;
            }
            peers.send(to.node, std::move(message));
            ++times_;
        }
    }

    void next() {
        std::cout << "lied " << lies_[at_].name << " " << std::exchange(times_, 0) << std::endl;
        spent_ = {};
        at_ = (at_ + 1) % lies_.size();
    }

    NodeRuntime& node_;
    std::chrono::milliseconds every_;
    asio::steady_timer timer_;
    std::vector<core::test::Lie> lies_;
    std::size_t at_ = 0;
    std::chrono::milliseconds spent_{};
    int times_ = 0;
};

void report(const Node& node) {
    while (!node.status().stopped)
        std::this_thread::sleep_for(200ms);
    std::cout << "stopped " << node.status().why_stopped << std::endl;
}

// It never returns: the liar uses the node until the process ends.
void run(char** words) {
    Node node{Config::from_file(words[1])};
    if (!node.wait_ready(std::chrono::steady_clock::now() + 1min)) std::_Exit(1);
    Liar liar{*NodeRuntime::of(node), std::chrono::milliseconds{std::stoul(words[2])},
              std::stoull(words[3])};
    std::cout << "ready" << std::endl;
    liar.begin();
    std::thread{[&node] { report(node); }}.detach();
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    }
    std::_Exit(0);
}

}  // namespace
}  // namespace mortise::detail

int main(int count, char** words) {
    if (count != 4) return 64;
    try {
        mortise::detail::run(words);
    } catch (const std::exception& problem) {
        std::cout << "failed " << problem.what() << std::endl;
    }
    return 1;
}
