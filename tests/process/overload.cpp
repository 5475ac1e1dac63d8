// One process of a cluster that gets more calls than it can handle. It reads commands on its
// standard input and writes answers to its standard output, see obey().
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <semaphore>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <asio/bind_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// Calls that are in progress all the time: each acquires a name of its own, releases it and begins
// again. Everything runs on the thread of the io_context.
class Load {
public:
    Load(mortise::Node& node, asio::io_context& io) : node_{node}, io_{io} {}

    void start(const std::string& prefix, int calls) {
        for (int number = 0; number < calls; ++number)
            begin(prefix + std::to_string(number));
    }

    // The results since the last call: "load CYCLES MEDIAN HIGH LONGEST [ERROR COUNT]...". The
    // times are those of an acquire, in milliseconds.
    std::string measure() {
        std::sort(times_.begin(), times_.end());
        const auto at = [&](std::size_t percent) {
            return times_.empty() ? 0 : times_[(times_.size() - 1) * percent / 100];
        };
        std::ostringstream line;
        line << "load " << times_.size() << " " << at(50) << " " << at(99) << " " << at(100);
        for (const auto& [error, count] : errors_)
            line << " " << error << " " << count;
        times_.clear();
        errors_.clear();
        return line.str();
    }

private:
    void begin(std::string name) {
        const auto began = Clock::now();
        // The cluster is overloaded here, and not the cache of a node.
        const mortise::AcquireOptions options{.wait_max = 60s, .caching = mortise::Caching::off};
        mortise::async_acquire(
            node_, name, options,
            asio::bind_executor(io_, [this, name, began](std::error_code ec, mortise::Hold hold) {
                if (ec) return failed(name, ec);
                times_.push_back(Milliseconds{Clock::now() - began}.count());
                end(name, std::move(hold));
            }));
    }

    void end(const std::string& name, mortise::Hold hold) {
        mortise::async_release(std::move(hold),
                               asio::bind_executor(io_, [this, name](std::error_code ec) {
                                   ec ? failed(name, ec) : begin(name);
                               }));
    }

    // A well-behaved caller: repeats the call after a moment.
    void failed(const std::string& name, std::error_code ec) {
        if (ec == mortise::Errc::node_stopped) return;
        auto what = ec.message();
        std::replace(what.begin(), what.end(), ' ', '_');
        ++errors_[what];
        auto timer = std::make_shared<asio::steady_timer>(io_, 10ms);
        timer->async_wait([this, timer, name](std::error_code) { begin(name); });
    }

    mortise::Node& node_;
    asio::io_context& io_;
    std::vector<double> times_;
    std::map<std::string, int> errors_;
};

// keep PREFIX COUNT: "kept COUNT"; load PREFIX CALLS: "loading"; measure: see Load; metrics:
// "metrics KEPT-AND-VALID LOST EXPIRED LEADER-CHANGES OVERRUNS SLOWEST-STEP-MS".
class Member {
public:
    explicit Member(mortise::Node& node) : node_{node}, load_{node, io_} {}

    std::string obey(const std::string& line) {
        std::istringstream words{line};
        std::string verb;
        std::string name;
        int count = 0;
        words >> verb >> name >> count;
        if (verb == "keep") return keep(name, count);
        if (verb == "metrics") return metrics();
        if (verb == "measure") return on_thread([&] { return load_.measure(); });
        return on_thread([&] {
            load_.start(name, count);
            return std::string{"loading"};
        });
    }

private:
    template <class Function>
    std::string on_thread(Function function) {
        std::string said;
        std::binary_semaphore done{0};
        asio::post(io_, [&] {
            said = function();
            done.release();
        });
        done.acquire();
        return said;
    }

    std::string keep(const std::string& prefix, int count) {
        for (int number = 0; number < count; ++number)
            kept_.push_back(node_.acquire(prefix + std::to_string(number)));
        return "kept " + std::to_string(kept_.size());
    }

    std::string metrics() {
        const auto metrics = node_.metrics();
        const auto valid = std::count_if(kept_.begin(), kept_.end(),
                                         [](const mortise::Hold& hold) { return hold.valid(); });
        std::ostringstream line;
        line << "metrics " << valid << " " << metrics.holds_lost << " " << metrics.sessions_expired
             << " " << metrics.leader_changes << " " << metrics.loop_overruns << " "
             << Milliseconds{metrics.slowest_loop_turn.to_nanoseconds()}.count();
        return line.str();
    }

    mortise::Node& node_;
    asio::io_context io_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    Load load_;
    std::vector<mortise::Hold> kept_;
    std::thread thread_{[this] { io_.run(); }};
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 64;
    try {
        mortise::Node node{mortise::Config::from_file(argv[1])};
        if (!node.wait_ready(Clock::now() + 60s)) return 1;
        std::cout << "ready" << std::endl;
        Member member{node};
        for (std::string line; std::getline(std::cin, line);)
            std::cout << member.obey(line) << std::endl;
        std::_Exit(0);  // the load is still in progress
    } catch (const std::exception& problem) {
        std::cout << "failed " << problem.what() << std::endl;
        return 1;
    }
}
