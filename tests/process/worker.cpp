// One process of a cluster, told what to do by lines on its standard input; it answers by lines on
// its standard output. See commands() for what it understands.
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/recorded_calls.hpp"
#include "tests/process/shared_counter.hpp"
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace {

std::mutex printing;

void say(const std::string& line) {
    const std::scoped_lock lock{printing};
    std::cout << line << std::endl;
}

std::string boot_time() {
    return std::to_string(mortise::tests::boot_nanoseconds());
}

class Worker {
public:
    Worker(mortise::Node& node, mortise::tests::HistoryWriter& history)
        : node_{node}, calls_{node, history} {}

    // acquire NAME: "held NAME TOKEN PREDECESSOR TIME", and "lost NAME TOKEN TIME" if it comes to
    // that.
    void acquire(const std::string& name) {
        in_background([this, name] {
            std::error_code ec;
            auto got = calls_.acquire(name, {}, ec);
            while (mortise::is_retryable(ec))  // after a partition the session is a new one
                got = calls_.acquire(name, {}, ec);
            ec ? say("error " + name + " " + ec.message()) : keep(std::move(got));
        });
    }

    // try NAME: "held ..." or "busy NAME TOKEN-OF-HOLDER".
    void try_acquire(const std::string& name) {
        mortise::LockInfo busy;
        if (auto got = calls_.try_acquire(name, busy)) {
            keep(std::move(*got));
        } else {
            say("busy " + name + " " +
                (busy.holders.empty() ? "?" : to_string(busy.holders.front().token)));
        }
    }

    // release NAME: "released NAME", or "error NAME ...".
    void release(const std::string& name) {
        Kept kept;
        {
            const std::scoped_lock lock{mutex_};
            kept = std::move(holds_.extract(name).mapped());
        }
        const auto ec = calls_.release(*kept.hold);
        say(ec ? "error " + name + " " + ec.message() : "released " + name);
    }

    // load NAME: for ever, "grant NAME TOKEN" for each.
    void load(const std::string& name) {
        in_background([this, name] {
            while (true) {
                std::error_code ec;
                const auto got = calls_.acquire(name, {.wait_max = 5s}, ec);
                if (ec == mortise::Errc::node_stopped) return;
                if (!ec) say("grant " + name + " " + to_string(got.hold.token()));
                std::this_thread::sleep_for(1ms);
                if (!ec) calls_.leave(got);
            }
        });
    }

    // count FILE NAME fenced|bare TIMES PAUSES: adds one to the counter so many times, each under
    // the lock, and stops itself between reading and writing in the first PAUSES of them. "counted
    // WRITES REFUSED" at the end.
    void count(const std::string& file, const std::string& name, const std::string& how, int times,
               int pauses) {
        in_background([this, file, name, how, times, pauses] {
            mortise::tests::SharedCounter counter{file};
            int written = 0;
            int refused = 0;
            while (written < times) {
                std::error_code ec;
                const auto got = calls_.acquire(name, {}, ec);
                if (ec) continue;
                const auto value = counter.read();
                if (got.hold.valid()) {
                    if (written + refused < pauses) raise(SIGSTOP);
                    const bool fenced = how == "fenced";
                    const auto token = got.hold.token().raw();
                    counter.write(value + 1, token, fenced) ? ++written : ++refused;
                }
                calls_.leave(got);
            }
            say("counted " + std::to_string(written) + " " + std::to_string(refused));
        });
    }

    void status() {
        const auto status = node_.status();
        say("status " + std::to_string(status.leader.value_or(0)) + " " +
            std::to_string(status.term) + " " + (status.ready ? "ready" : "not-ready"));
    }

private:
    struct Kept {
        std::unique_ptr<mortise::Hold> hold;
        std::unique_ptr<std::stop_callback<std::function<void()>>> on_lost;
    };

    void keep(mortise::tests::RecordedHold got) {
        const std::scoped_lock lock{mutex_};  // whoever hears of it may release it
        auto& hold = got.hold;
        const auto name = hold.name();
        const auto token = to_string(hold.token());
        say("held " + name + " " + token + " " + std::string{to_string(hold.previous().how)} + " " +
            boot_time());
        Kept kept;
        std::function<void()> lost = [this, name, token, seen_valid = got.seen_valid] {
            calls_.lost(name, token, seen_valid);
            say("lost " + name + " " + token + " " + boot_time());
        };
        kept.on_lost = std::make_unique<std::stop_callback<std::function<void()>>>(hold.lost(),
                                                                                   std::move(lost));
        kept.hold = std::make_unique<mortise::Hold>(std::move(hold));
        holds_[name] = std::move(kept);
    }

    static void in_background(std::function<void()> body) { std::thread{std::move(body)}.detach(); }

    mortise::Node& node_;
    mortise::tests::RecordedCalls calls_;
    std::mutex mutex_;
    std::map<std::string, Kept> holds_;
};

void obey(Worker& worker, const std::string& line) {
    std::istringstream words{line};
    std::string verb;
    std::string name;
    words >> verb >> name;
    if (verb == "acquire") worker.acquire(name);
    if (verb == "try") worker.try_acquire(name);
    if (verb == "release") worker.release(name);
    if (verb == "load") worker.load(name);
    if (verb == "status") worker.status();
    if (verb == "count") {
        std::string lock;
        std::string how;
        int times = 0;
        int pauses = 0;
        words >> lock >> how >> times >> pauses;
        worker.count(name, lock, how, times, pauses);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) return 64;
    try {
        mortise::tests::HistoryWriter history{argc == 3 ? argv[2] : "/dev/null"};
        mortise::Node node{mortise::Config::from_file(argv[1])};
        say("up");
        if (!node.wait_ready(std::chrono::steady_clock::now() + 60s)) return 1;
        say("ready");
        Worker worker{node, history};
        for (std::string line; std::getline(std::cin, line) && line != "quit";)
            obey(worker, line);
        node.close();
        say("closed");
        std::_Exit(0);  // threads of loads and waits may still be about
    } catch (const std::exception& problem) {
        say(std::string{"failed "} + problem.what());
        return 1;
    }
}
