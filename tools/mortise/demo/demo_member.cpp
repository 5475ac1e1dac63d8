// One node of the demonstration: a program that links the library, and its workers.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/mortise/member.hpp"

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

constexpr int workers = 2;
constexpr auto status_period = 100ms;
// How late a worker writes after a loss: long enough for another worker to get the lock and write.
constexpr auto late_by = 1500ms;

// The store is in the parent process, and every worker has at most one request in progress.
class RemoteStore {
public:
    RemoteStore(Leash& leash, int worker) : leash_{leash}, worker_{worker} {}

    bool write(const Hold& hold, BootClock::time_point at, bool claims_valid) {
        std::unique_lock lock{mutex_};
        answer_.reset();
        leash_.say({{"write", hold.name()},
                    {"token", hold.token().raw()},
                    {"worker", worker_},
                    {"at", at.time_since_epoch().count()},
                    {"claims_valid", claims_valid}});
        answered_.wait(lock, [this] { return answer_.has_value(); });
        return *answer_;
    }
    void on_answer(bool accepted) {
        const std::scoped_lock lock{mutex_};
        answer_ = accepted;
        answered_.notify_one();
    }

private:
    Leash& leash_;
    int worker_;
    std::mutex mutex_;
    std::condition_variable answered_;
    std::optional<bool> answer_;
};

// The orders of the parent.
struct Orders {
    std::stop_source stop;
    std::atomic<bool> keep = false;  // a worker that holds a lock does not release it
};

class Worker {
public:
    Worker(Node& node, Leash& leash, const Orders& orders, const Json& task, int number)
        : node_{node},
          leash_{leash},
          orders_{orders},
          store_{leash, number},
          number_{number},
          locks_{task.at("locks").get<std::vector<std::string>>()},
          random_{task.at("seed").get<std::uint64_t>() * 1000 + node.id() * 10 +
                  static_cast<std::uint64_t>(number)} {}

    void run() {
        const auto stop = orders_.stop.get_token();
        AcquireOptions options;
        options.label = "worker " + std::to_string(number_);
        options.wait_max = 1s;
        options.cancel = stop;
        while (!stop.stop_requested()) {
            const auto& name = locks_[below(locks_.size())];
            std::error_code ec;
            const auto hold = node_.acquire(name, options, ec);
            if (hold)
                work(hold);
            else if (ec == Errc::node_stopped)
                return;
            else if (ec != Errc::timed_out)
                std::this_thread::sleep_for(50ms);
        }
    }

    RemoteStore& store() { return store_; }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    void work(const Hold& hold) {
        tell("grant", hold);
        {
            const std::stop_callback on_lost{hold.lost(), [&] { tell("lost", hold); }};
            const auto end = std::chrono::steady_clock::now() + 40ms + below(160) * 1ms;
            while (may_go_on(end) && write(hold))
                std::this_thread::sleep_for(10ms + below(20) * 1ms);
            // valid() reads the clock itself, so it may be false before lost() is notified.
            for (int i = 0; i < 1000 && !hold.valid() && !hold.lost().stop_requested(); ++i)
                std::this_thread::sleep_for(1ms);
        }
        if (hold.state() == HoldState::lost && !orders_.stop.stop_requested())
            write_too_late(hold);
        else
            tell("free", hold);
    }
    [[nodiscard]] bool may_go_on(std::chrono::steady_clock::time_point end) const {
        return !orders_.stop.stop_requested() &&
               (orders_.keep || std::chrono::steady_clock::now() < end);
    }

    // Checks the hold before and after reading the clock, so that the log records a time at which
    // it was certainly valid.
    bool write(const Hold& hold) {
        if (!hold.valid()) return false;
        const auto at = BootClock::now();
        return hold.valid() && store_.write(hold, at, true);
    }
    // A write as of a worker that was paused during the loss: the store has to refuse it by its
    // token.
    void write_too_late(const Hold& hold) {
        std::this_thread::sleep_for(late_by);
        store_.write(hold, BootClock::now(), false);
    }

    void tell(const char* what, const Hold& hold) {
        leash_.say({{what, hold.name()},
                    {"token", hold.token().raw()},
                    {"worker", number_},
                    {"at", BootClock::now().time_since_epoch().count()}});
    }

    Node& node_;
    Leash& leash_;
    const Orders& orders_;
    RemoteStore store_;
    int number_;
    std::vector<std::string> locks_;
    std::mt19937_64 random_;
};

// Runs until the parent ends this process, because workers that stop may still wait for an answer.
[[noreturn]] void obey(Leash& leash, Orders& orders, std::vector<std::unique_ptr<Worker>>& crew) {
    while (true) {
        const auto line = leash.next();
        if (line.contains("accepted"))
            crew.at(line.at("worker"))->store().on_answer(line.at("accepted"));
        else if (line.contains("keep"))
            orders.keep = line.at("keep");
        else if (line.contains("stop"))
            orders.stop.request_stop();
    }
}

void tell_status(Leash& leash, const Node& node, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        leash.say(short_status(node));
        const auto metrics = node.metrics();
        leash.say({{"syncs", metrics.log_writes + metrics.background_syncs}});
        std::this_thread::sleep_for(status_period);
    }
}

}  // namespace

ExitCode run_demo_member(Leash& leash) {
    LogConfig log;
    log.record_sink = [&leash](const mortise::LogRecord& record) {
        leash.say({{"note", record.key}});
    };
    auto node = open_member(leash, std::move(log));
    std::jthread status{[&](const std::stop_token& stop) { tell_status(leash, node, stop); }};
    const auto task = leash.next();
    Orders orders;
    std::vector<std::unique_ptr<Worker>> crew;
    crew.reserve(workers);
    for (int i = 0; i < workers; ++i)
        crew.push_back(std::make_unique<Worker>(node, leash, orders, task, i));
    std::vector<std::thread> threads;
    threads.reserve(crew.size());
    for (const auto& worker : crew)
        threads.emplace_back([&worker] { worker->run(); });
    std::thread listener{[&] { obey(leash, orders, crew); }};
    for (auto& thread : threads)
        thread.join();
    status.request_stop();
    status.join();
    node.close();
    leash.say({{"done", true}});
    listener.join();
    return ExitCode::ok;
}

}  // namespace mortise::cli
