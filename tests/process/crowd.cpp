// One process of a cluster that holds very many names, and measures a load beside them. It reads
// commands on its standard input and writes answers to its standard output, see obey().
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <semaphore>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// The holds, in the order of their grants.
class Crowd {
public:
    explicit Crowd(mortise::Node& node) : node_{node} {}

    // Returns when all are granted, however long that takes: a call without an answer is repeated.
    std::string hold(const std::string& prefix, int count) {
        const auto begin = Clock::now();
        for (int number = 0; number < count; ++number) {
            room_.acquire();
            ask(prefix + std::to_string(number));
        }
        for (int slot = 0; slot < window; ++slot)
            room_.acquire();
        room_.release(window);
        std::ostringstream line;
        line << "holding " << count << " " << again_ << " "
             << Milliseconds{Clock::now() - begin}.count();
        return line.str();
    }

    std::string valid() {
        const std::scoped_lock lock{mutex_};
        const auto count = std::count_if(holds_.begin(), holds_.end(),
                                         [](const mortise::Hold& hold) { return hold.valid(); });
        return "valid " + std::to_string(count);
    }

private:
    static constexpr int window = 2'048;  // in progress at once

    void ask(const std::string& name) {
        mortise::async_acquire(node_, name, [this, name](std::error_code ec, mortise::Hold hold) {
            if (ec == mortise::Errc::resource_exhausted) {
                std::cout << "failed: no room for " << name << std::endl;
                std::_Exit(1);
            }
            if (ec && ec != mortise::Errc::node_stopped) {
                ++again_;
                return ask(name);
            }
            keep(std::move(hold));
            room_.release();
        });
    }

    void keep(mortise::Hold hold) {
        const std::scoped_lock lock{mutex_};
        holds_.push_back(std::move(hold));
    }

    mortise::Node& node_;
    std::counting_semaphore<> room_{window};
    std::atomic<int> again_{0};
    std::mutex mutex_;
    std::vector<mortise::Hold> holds_;
};

// Threads that each acquire and release a name of their own in an endless loop. Every acquire goes
// to the cluster: the node would otherwise keep the grants and be the only one that works.
class Load {
public:
    explicit Load(mortise::Node& node) : node_{node} {}

    void start(const std::string& prefix, int threads) {
        for (int number = 0; number < threads; ++number)
            std::thread{[this, name = prefix + std::to_string(number)] { run(name); }}.detach();
    }

    // Returns what was measured since the last call: "load GRANTS ERRORS MEDIAN HIGH LONGEST", in
    // milliseconds; HIGH is the 99th percentile.
    std::string measure() {
        std::vector<double> times;
        int errors = 0;
        {
            const std::scoped_lock lock{mutex_};
            times.swap(times_);
            std::swap(errors, errors_);
        }
        std::sort(times.begin(), times.end());
        const auto at = [&](std::size_t percent) {
            return times.empty() ? 0 : times[(times.size() - 1) * percent / 100];
        };
        std::ostringstream line;
        line << "load " << times.size() << " " << errors << " " << at(50) << " " << at(99) << " "
             << at(100);
        return line.str();
    }

private:
    void run(const std::string& name) {
        while (true) {
            const auto begin = Clock::now();
            std::error_code ec;
            const auto hold =
                node_.acquire(name, {.wait_max = 60s, .caching = mortise::Caching::off}, ec);
            if (ec == mortise::Errc::node_stopped) return;
            const auto time = Milliseconds{Clock::now() - begin}.count();
            const std::scoped_lock lock{mutex_};
            ec ? void(++errors_) : times_.push_back(time);
        }
    }

    mortise::Node& node_;
    std::mutex mutex_;
    std::vector<double> times_;
    int errors_ = 0;
};

// hold PREFIX COUNT: "holding COUNT REPEATED MILLISECONDS"; valid: "valid COUNT"; load PREFIX
// THREADS: nothing; measure: see Load; busy NAME: "busy NAME yes|no".
std::string obey(mortise::Node& node, Crowd& crowd, Load& load, const std::string& line) {
    std::istringstream words{line};
    std::string verb;
    std::string name;
    int count = 0;
    words >> verb >> name >> count;
    if (verb == "hold") return crowd.hold(name, count);
    if (verb == "valid") return crowd.valid();
    if (verb == "measure") return load.measure();
    if (verb == "busy") return "busy " + name + (node.try_acquire(name) ? " no" : " yes");
    load.start(name, count);
    return "loading";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 64;
    try {
        mortise::Node node{mortise::Config::from_file(argv[1])};
        if (!node.wait_ready(Clock::now() + 600s)) return 1;
        std::cout << "ready" << std::endl;
        Crowd crowd{node};
        Load load{node};
        for (std::string line; std::getline(std::cin, line);)
            std::cout << obey(node, crowd, load, line) << std::endl;
        std::_Exit(0);  // the threads of the load still run
    } catch (const std::exception& problem) {
        std::cout << "failed " << problem.what() << std::endl;
        return 1;
    }
}
