// Loads that need no thread for each caller. The handlers run on a thread of the node.
#include <atomic>
#include <cstdint>
#include <deque>
#include <latch>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/measure/histogram.hpp"
#include "bench/node/tasks.hpp"
#include <mortise/async.hpp>

namespace mortise::bench {

namespace {

// What all callers write down. A mutex that nobody competes for costs less than a histogram each.
class Record {
public:
    void add(Clock::duration acquire) {
        const std::scoped_lock lock{mutex_};
        acquire_.add(acquire);
        ++cycles_;
    }
    void fail(std::error_code why) {
        const std::scoped_lock lock{mutex_};
        failure_ = why.message();
    }
    void put_into(nlohmann::json& result) {
        const std::scoped_lock lock{mutex_};
        result["cycles"] = nlohmann::json::array({cycles_});
        result["acquire"] = acquire_.to_json();
        result["failure"] = failure_;
    }

private:
    std::mutex mutex_;
    Histogram acquire_;
    std::uint64_t cycles_ = 0;
    std::string failure_;
};

// One of many that are under way at once: acquires, releases, begins again.
class Chain {
public:
    Chain(const Node& node, std::string name, const Window& window, Record& record,
          std::latch& ended)
        : node_{node}, name_{std::move(name)}, window_{window}, record_{record}, ended_{ended} {}

    void begin() {
        if (!window_.is_open()) return ended_.count_down();
        begin_ = Clock::now();
        async_acquire(node_, name_, uncached, [this](std::error_code failed, Hold held) {
            if (failed) return end(failed);
            took_ = Clock::now() - begin_;
            release(std::move(held));
        });
    }

private:
    void release(Hold held) {
        async_release(std::move(held), [this](std::error_code failed) {
            if (failed) return end(failed);
            if (window_.counts()) record_.add(took_);
            begin();
        });
    }
    void end(std::error_code why) {
        record_.fail(why);
        ended_.count_down();
    }

    const Node& node_;
    std::string name_;
    const Window& window_;
    Record& record_;
    std::latch& ended_;
    Clock::time_point begin_;
    Clock::duration took_{};
};

// Begins acquires by the clock, from a thread of its own.
class Arrivals {
public:
    Arrivals(Node& node, const Load& load, double rate, const Window& window, Record& record)
        : node_{node}, load_{load}, period_{1.0 / rate}, window_{window}, record_{record} {}

    void run() {
        const auto first = Clock::now();
        for (std::uint64_t i = 0; window_.is_open(); ++i) {
            const auto due = first + std::chrono::duration_cast<Clock::duration>(
                                         static_cast<double>(i) * period_);
            std::this_thread::sleep_until(due);
            arrive(i, due);
        }
        while (under_way_.load() != 0)
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }

private:
    // Enough names that nobody waits for an earlier holder.
    static constexpr std::uint64_t names_ = 100'000;

    void arrive(std::uint64_t number, Clock::time_point due) {
        ++under_way_;
        async_acquire(node_, load_.name_of(node_, number % names_), uncached,
                      [this, due](std::error_code failed, Hold held) {
                          if (failed) record_.fail(failed);
                          if (!failed && window_.counts()) record_.add(Clock::now() - due);
                          held.unlock();
                          --under_way_;
                      });
    }

    Node& node_;
    const Load& load_;
    Seconds period_;
    const Window& window_;
    Record& record_;
    std::atomic<std::uint64_t> under_way_ = 0;
};

}  // namespace

nlohmann::json async_load(Node& node, const Load& load) {
    Window window{load.warm_up, load.seconds, [&node] { return counters_of(node); }};
    Record record;
    std::latch ended{static_cast<std::ptrdiff_t>(load.callers)};
    std::deque<Chain> chains;
    for (std::size_t i = 0; i < load.callers; ++i)
        chains.emplace_back(node, load.name_of(node, i), window, record, ended).begin();
    auto result = window.run();
    ended.wait();
    record.put_into(result);
    return result;
}

nlohmann::json open_load(Node& node, const Load& load, double rate) {
    Window window{load.warm_up, load.seconds, [&node] { return counters_of(node); }};
    Record record;
    Arrivals arrivals{node, load, rate, window, record};
    std::thread thread{[&arrivals] { arrivals.run(); }};
    auto result = window.run();
    thread.join();
    record.put_into(result);
    return result;
}

}  // namespace mortise::bench
