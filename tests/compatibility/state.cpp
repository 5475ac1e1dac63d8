// A member for write.py and read.py. It tells what it did on standard output.
//   state CONFIG fill GATE     something of everything that a cluster stores; until its input ends
//   state CONFIG doomed        holds a name with a value; it is killed
//   state CONFIG look          "token T" of a name that nobody had, then until its input ends
//   state GATE gate            "gate ADMITTED..." of a directory that `fill` wrote
#include <chrono>
#include <deque>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/process/said.hpp"
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace mortise::tests {
namespace {

void wait_for_the_end() {
    while (std::cin.get() != std::char_traits<char>::eof()) {
    }
}

[[noreturn]] void end_at_once() {
    std::_Exit(0);
}

// Waiters need threads, which never return: this process is killed.
void in_background(std::function<void()> body) {
    std::thread{[body = std::move(body)] {
        try {
            body();
        } catch (const std::exception& problem) {
            say(std::string{"ended "} + problem.what());
        }
    }}.detach();
}

class Filler {
public:
    explicit Filler(Node& node) : node_{node} {}

    void fill() {
        locks();
        queue();
        values();
        several_names();
        closed_names();
        counted();
    }

private:
    AcquireOptions labelled(std::string label, LockMode mode = LockMode::exclusive) {
        AcquireOptions options;
        options.mode = mode;
        options.label = std::move(label);
        options.caching = Caching::off;
        return options;
    }
    void keep(Hold hold) { holds_.push_back(std::move(hold)); }

    void locks() {
        for (const auto mode :
             {LockMode::exclusive, LockMode::shared, LockMode::update, LockMode::intent_shared,
              LockMode::intent_exclusive, LockMode::shared_intent_exclusive}) {
            const auto name = "modes/" + std::string{to_string(mode)};
            keep(node_.acquire(name, labelled("of that mode", mode)));
        }
        auto terms = labelled("with terms");
        terms.max_hold = 1h;
        terms.min_hold = 1min;
        terms.lock_delay = 2min;
        terms.locker = Locker{node_, "a locker"};
        keep(node_.acquire("terms", terms));
        keep(node_.acquire(std::string{"bytes\0\xff", 7}, labelled("\xfe")));
        keep(node_.acquire("cached"));
    }

    // A holder, and waiters of different kinds in a fixed order.
    void queue() {
        keep(node_.acquire("queue", labelled("first", LockMode::shared)));
        auto options = labelled("later, more urgent");
        options.priority = 5;
        options.queue_policy = QueuePolicy::fifo;
        keep(node_.acquire("queue/fifo", options));
        wait_behind("queue/fifo", 1, [=, this] { (void)node_.acquire("queue/fifo", options); });
        wait_behind("queue", 1, [this] { (void)node_.acquire("queue", labelled("second")); });
        wait_behind("queue", 2,
                    [this] { (void)node_.acquire("queue", labelled("third", LockMode::shared)); });
    }
    void wait_behind(const std::string& name, std::size_t waiters, std::function<void()> body) {
        in_background(std::move(body));
        while (node_.inspect(name).waiters.size() < waiters)
            std::this_thread::sleep_for(10ms);
    }

    void values() {
        auto hold = node_.acquire("values/clean", labelled("writer"));
        hold.set_value(std::string{"some\0bytes", 10});
        keep(std::move(hold));
        auto gone = node_.acquire("values/without holder", labelled("former writer"));
        gone.set_value("kept");
        if (gone.release()) throw std::runtime_error{"not released"};
    }

    void several_names() {
        const std::vector<LockRequest> names{{"set/a"}, {"set/b", LockMode::shared}, {"set/c"}};
        sets_.push_back(node_.acquire_all(names, labelled("all of them")));
    }

    void closed_names() {
        auto terms = labelled("left early");
        terms.min_hold = 1h;
        if (node_.acquire("closed/min_hold", terms).release())
            throw std::runtime_error{"not released"};
    }

    void counted() {
        Semaphore semaphore{node_, "semaphore", 5};
        keep(semaphore.acquire(3, labelled("three permits")));
        semaphore.resize(7);
        wait_behind("semaphore", 1, [this] {
            (void)Semaphore{node_, "semaphore", 5}.acquire(6, labelled("too many"));
        });
        Latch latch{node_, "latch", 4};
        latch.count_down();
        wait_behind("latch", 1, [this] { Latch{node_, "latch", 4}.wait(); });
        wait_behind("barrier", 1, [this] { Barrier{node_, "barrier", 3}.arrive_and_wait(); });
        Election election{node_, "election"};
        keep(election.campaign("127.0.0.1:80"));
    }

    Node& node_;
    std::deque<Hold> holds_;
    std::deque<HoldSet> sets_;
};

const auto newest = FencingToken::from_raw(1'000'000'007);

void fill_gate(const std::string& directory) {
    auto gate = FenceGate::open(directory);
    if (!gate.admit("orders", newest, [] {})) throw std::runtime_error{"not admitted"};
    if (!gate.admit("permits", 3, newest, [] {})) throw std::runtime_error{"not admitted"};
}

// Which tokens a gate admits: the one before the newest, which it must not, and the newest.
void look_at_gate(const std::string& directory) {
    auto gate = FenceGate::open(directory);
    const auto older = FencingToken::from_raw(newest.raw() - 1);
    std::string line = "gate";
    for (const auto token : {older, newest}) {
        line += gate.admit("orders", token, [] {}) ? " yes" : " no";
        line += gate.admit("permits", 3, token, [] {}) ? " yes" : " no";
    }
    say(line + (gate.admit("permits", 4, older, [] {}) ? " yes" : " no"));
}

void run_as_member(const std::vector<std::string>& words) {
    Node node{Config::from_file(words.at(0))};
    say("up");
    if (!node.wait_ready(std::chrono::steady_clock::now() + 60s))
        throw std::runtime_error{"not ready in time"};
    if (words.at(1) == "fill") {
        Filler filler{node};
        filler.fill();
        fill_gate(words.at(2));
        say("filled");
        wait_for_the_end();
        end_at_once();
    } else if (words.at(1) == "doomed") {
        auto hold = node.acquire("values/dirty");
        hold.set_value("of a process that died");
        say("holds");
        wait_for_the_end();
        end_at_once();
    }
    const auto hold = node.acquire("compatibility/new");
    say("token " + to_string(hold.token()));
    wait_for_the_end();
}

void run(const std::vector<std::string>& words) {
    if (words.at(1) == "gate")
        look_at_gate(words.at(0));
    else
        run_as_member(words);
}

}  // namespace
}  // namespace mortise::tests

int main(int argc, char** argv) {
    try {
        mortise::tests::run({argv + 1, argv + argc});
    } catch (const std::exception& problem) {
        mortise::tests::say(std::string{"failed "} + problem.what());
        return 1;
    }
    return 0;
}
