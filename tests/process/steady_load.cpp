// A program with a node that takes and releases locks all the time, while others of its cluster are
// restarted.
//   steady_load CONFIG [--store DIR] NAME...       a thread for each name
// A name that ends in '*' is another one each time. With --store each other name protects a counter
// in that folder, which shows whether somebody else had the lock as well, and it has a value; and
// the load is no higher on a faster machine.
// Commands on standard input: "report" prints what happened since the last one, "report CALLS
// FAILED LONGEST_MS LOST GAP_MS P50_US P99_US NAMES SESSIONS". "quit" or SIGTERM ends in an orderly
// way.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tests/process/said.hpp"
#include "tests/process/shared_counter.hpp"
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace mortise::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto pace = 30ms;

class Load {
public:
    Load(Node& node, std::string store) : node_{node}, store_{std::move(store)} {}

    void run(const std::string& name) {
        const bool changes = name.ends_with('*');
        std::optional<SharedCounter> counter;
        if (!store_.empty() && !changes) counter.emplace(store_ + "/" + name);
        for (std::uint64_t turn = 0; !end_.stop_requested(); ++turn) {
            const auto begin = Clock::now();
            std::error_code ec;
            // Cached grants would hide what the cluster does.
            auto hold = node_.acquire(changes ? name + std::to_string(turn) : name,
                                      {.caching = Caching::off, .cancel = end_.get_token()}, ec);
            if (ec == Errc::cancelled) return;
            count(Clock::now() - begin, ec, name);
            if (!ec && counter) use(hold, *counter, turn);
            std::this_thread::sleep_for(2ms);
            if (!ec && !hold.valid()) ++lost_;
            if (!ec && hold.release()) ++lost_;
            if (!store_.empty()) std::this_thread::sleep_until(begin + pace);
        }
    }

    std::string report() {
        const std::scoped_lock lock{mutex_};
        std::ranges::sort(took_);
        const auto at = [this](std::size_t percent) {
            return took_.empty() ? 0 : took_[(took_.size() - 1) * percent / 100] / 1us;
        };
        const auto longest = took_.empty() ? Clock::duration{} : took_.back();
        const auto metrics = node_.metrics();
        std::string line = "report";
        for (const std::int64_t figure :
             {std::int64_t(took_.size()), failed_, longest / 1ms, lost_.exchange(0),
              std::max(gap_, Clock::now() - granted_) / 1ms, at(50), at(99),
              std::int64_t(metrics.names), std::int64_t(metrics.sessions)})
            line += " " + std::to_string(figure);
        took_.clear();
        failed_ = 0;
        gap_ = {};
        return line;
    }

    void lose() { ++lost_; }
    void end() { end_.request_stop(); }

private:
    void count(Clock::duration took, std::error_code ec, const std::string& name) {
        const std::scoped_lock lock{mutex_};
        took_.push_back(took);
        if (ec) {
            ++failed_;
            say("failed " + name + " after " + std::to_string(took / 1ms) + " ms: " + ec.message());
            return;
        }
        const auto now = Clock::now();
        gap_ = std::max(gap_, now - granted_);
        granted_ = now;
    }

    // Another holder shows in the counter, and that is right only if this hold was lost meanwhile.
    void use(const Hold& hold, SharedCounter& counter, std::uint64_t turn) {
        const auto token = hold.token().raw();
        const bool enters = counter.enter(token);
        const auto value = counter.read();
        if (turn % 16 == 0) pass_value_on(hold);
        if (enters && counter.read() == value && counter.write(value + 1, token, true)) return;
        if (hold.valid())
            say("broken " + hold.name() + " had two holders, token " + to_string(hold.token()) +
                " is not the newest");
    }

    // The value is the token of its writer.
    void pass_value_on(const Hold& hold) {
        std::error_code ec;
        const auto value = hold.value(ec);
        if (!ec && !value.empty() && std::stoll(value) >= hold.token().raw())
            say("broken " + hold.name() + " has the value of a later holder");
        if (!ec) hold.set_value(to_string(hold.token()), ec);
    }

    Node& node_;
    std::string store_;
    std::mutex mutex_;
    std::vector<Clock::duration> took_;
    std::int64_t failed_ = 0;
    Clock::time_point granted_ = Clock::now();
    Clock::duration gap_{};  // the longest time without a grant
    std::atomic<std::int64_t> lost_ = 0;
    std::stop_source end_;
};

// Until it is told to end. SIGTERM is blocked in all threads.
void obey(Load& load, const Hold& kept) {
    std::thread{[&load, &kept] {
        for (std::string line; std::getline(std::cin, line) && line != "quit";) {
            if (!kept.valid()) load.lose();
            say(load.report());
        }
        kill(getpid(), SIGTERM);
    }}.detach();
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    int number = 0;
    sigwait(&term, &number);
}

void run(const char* config, const std::string& store, const std::vector<std::string>& names) {
    Node node{Config::from_file(config)};
    say("up");
    if (!node.wait_ready(Clock::now() + 60s)) throw std::runtime_error{"not ready in time"};
    say("ready");
    // It lives through all restarts.
    const auto kept = node.acquire("kept by " + std::to_string(getpid()));
    Load load{node, store};
    std::vector<std::jthread> threads;
    threads.reserve(names.size());
    for (const auto& name : names)
        threads.emplace_back([&load, name] { load.run(name); });
    obey(load, kept);
    load.end();
    threads.clear();
    node.close();
    std::_Exit(0);  // a thread still reads the input
}

}  // namespace
}  // namespace mortise::tests

int main(int argc, char** argv) {
    std::vector<std::string> names{argv + std::min(argc, 2), argv + argc};
    std::string store;
    if (names.size() > 2 && names.front() == "--store") {
        store = names.at(1);
        names.erase(names.begin(), names.begin() + 2);
    }
    if (names.empty()) return 64;
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    try {
        mortise::tests::run(argv[1], store, names);
    } catch (const std::exception& problem) {
        mortise::tests::say(std::string{"failed "} + problem.what());
        return 1;
    }
    return 0;
}
