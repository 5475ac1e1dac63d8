// One process of a cluster. It reads commands on its standard input and writes answers to its
// standard output. See verbs() for the commands.
#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/kept_holds.hpp"
#include "tests/process/recorded_calls.hpp"
#include "tests/process/said.hpp"
#include "tests/process/shared_counter.hpp"
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace mortise::tests {
namespace {

using Words = std::vector<std::string>;

void in_background(std::function<void()> body) {
    std::thread{std::move(body)}.detach();
}

// max_hold=2s min_hold=2s progress_timeout=2s lock_delay=2s suspend watch
AcquireOptions options_of(const Words& words) {
    // The tests follow what the cluster does with each acquire; torture has cached names as well.
    AcquireOptions options{.caching = Caching::off};
    const std::map<std::string, Duration*> bounds{{"max_hold", &options.max_hold},
                                                  {"min_hold", &options.min_hold},
                                                  {"progress_timeout", &options.progress_timeout},
                                                  {"lock_delay", &options.lock_delay}};
    for (std::size_t i = 2; i < words.size(); ++i) {
        const auto sign = words[i].find('=');
        if (words[i] == "suspend") options.on_uncertain = OnUncertain::suspend;
        if (sign == std::string::npos) continue;
        *bounds.at(words[i].substr(0, sign)) = Duration::parse(words[i].substr(sign + 1)).value();
    }
    return options;
}

// "at-risk NAME", "suspended NAME", "contended NAME MODE WAITERS REASON".
void print_notifications(const std::string& name, AcquireOptions& options) {
    options.on_at_risk = [name](Duration) { say("at-risk " + name); };
    options.on_contended = [name](LockMode mode, std::size_t waiters, std::string_view reason) {
        say("contended " + name + " " + std::string{to_string(mode)} + " " +
            std::to_string(waiters) + " " + std::string{reason});
    };
    if (options.on_uncertain == OnUncertain::suspend)
        options.on_suspended = [name] { say("suspended " + name); };
}

class Worker {
public:
    Worker(Node& node, HistoryWriter& history) : node_{node}, calls_{node, history} {}

    // Executes the line, if it is a known command.
    void obey(const Words& words) {
        const auto found = verbs().find(words.empty() ? "" : words.front());
        if (found != verbs().end()) found->second(*this, words);
    }

private:
    using Verb = std::function<void(Worker&, const Words&)>;

    static const std::map<std::string, Verb>& verbs() {
        static const std::map<std::string, Verb> all{
            // acquire NAME [OPTION...]: "held ..."; with options it prints notifications of the
            // hold
            {"acquire", [](Worker& w, const Words& words) { w.acquire(words); }},
            // try NAME: "held ..." or "busy NAME TOKEN-OF-HOLDER"
            {"try", [](Worker& w, const Words& words) { w.try_acquire(words.at(1)); }},
            // load NAME: endlessly, "grant NAME TOKEN" for each grant
            {"load", [](Worker& w, const Words& words) { w.load(words.at(1)); }},
            // count FILE NAME fenced|bare TIMES PAUSES
            {"count", [](Worker& w, const Words& words) { w.count(words); }},
            // break NAME TOKEN: "broke NAME"
            {"break", [](Worker& w, const Words& words) { w.break_lock(words); }},
            // ask NAME REASON: "asked NAME"
            {"ask", [](Worker& w, const Words& words) { w.request_release(words); }},
            // look NAME: "looks NAME HOLDERS VALUE clean|dirty"
            {"look", [](Worker& w, const Words& words) { w.look(words.at(1)); }},
            // status: "status LEADER TERM ready|not-ready CONNECTED-MEMBER..."
            {"status", [](Worker& w, const Words&) { w.status(); }},
            // For these see KeptHolds.
            {"release", [](Worker& w, const Words& words) { w.holds_.release(words.at(1)); }},
            {"valid", [](Worker& w, const Words& words) { w.holds_.is_valid(words.at(1)); }},
            {"confirm", [](Worker& w, const Words& words) { w.holds_.confirm(words.at(1)); }},
            {"write",
             [](Worker& w, const Words& words) { w.holds_.write(words.at(1), words.at(2)); }},
            {"vouch", [](Worker& w, const Words& words) { w.holds_.vouch(words.at(1)); }},
            {"work", [](Worker& w, const Words& words) { w.holds_.work(words.at(1)); }},
            {"rest", [](Worker& w, const Words& words) { w.holds_.rest(words.at(1)); }},
        };
        return all;
    }

    void acquire(const Words& words) {
        const auto& name = words.at(1);
        auto options = options_of(words);
        if (words.size() > 2) print_notifications(name, options);
        in_background([this, name, options] {
            std::error_code ec;
            auto got = calls_.acquire(name, options, ec);
            while (is_retryable(ec))  // after a partition there is another session
                got = calls_.acquire(name, options, ec);
            ec ? say("error " + name + " " + ec.message()) : holds_.keep(std::move(got));
        });
    }

    void try_acquire(const std::string& name) {
        LockInfo busy;
        if (auto got = calls_.try_acquire(name, busy)) {
            holds_.keep(std::move(*got));
        } else {
            say("busy " + name + " " +
                (busy.holders.empty() ? "?" : to_string(busy.holders.front().token)));
        }
    }

    void load(const std::string& name) {
        in_background([this, name] {
            while (true) {
                std::error_code ec;
                const auto got =
                    calls_.acquire(name, {.wait_max = 5s, .caching = Caching::off}, ec);
                if (ec == Errc::node_stopped) return;
                if (!ec) say("grant " + name + " " + to_string(got.hold.token()));
                std::this_thread::sleep_for(1ms);
                if (!ec) calls_.leave(got);
            }
        });
    }

    // Increments the counter so many times, each time under the lock, and stops itself between
    // reading and writing in the first PAUSES times. Prints "counted WRITES REFUSED" at the end.
    void count(const Words& words) {
        in_background([this, file = words.at(1), name = words.at(2),
                       fenced = words.at(3) == "fenced", times = std::stoi(words.at(4)),
                       pauses = std::stoi(words.at(5))] {
            SharedCounter counter{file};
            int written = 0;
            int refused = 0;
            while (written < times) {
                std::error_code ec;
                const auto got = calls_.acquire(name, {.caching = Caching::off}, ec);
                if (ec) continue;
                const auto value = counter.read();
                if (got.hold.valid()) {
                    if (written + refused < pauses) raise(SIGSTOP);
                    const auto token = got.hold.token().raw();
                    counter.write(value + 1, token, fenced) ? ++written : ++refused;
                }
                calls_.leave(got);
            }
            say("counted " + std::to_string(written) + " " + std::to_string(refused));
        });
    }

    // Repeats a call without a result. If the answer to a break was lost, its token is gone.
    void until_answered(const std::string& done, const std::string& name,
                        std::function<void(std::error_code&)> call) {
        in_background([=] {
            std::error_code ec;
            do {
                call(ec);
            } while (is_retryable(ec) || ec == Errc::outcome_unknown);
            say_outcome(ec, done, name);
        });
    }
    void break_lock(const Words& words) {
        const auto token = FencingToken::from_raw(std::stoll(words.at(2)));
        until_answered("broke", words.at(1), [this, name = words.at(1), token](auto& ec) {
            node_.break_lock(name, token, "stuck", ec);
        });
    }
    void request_release(const Words& words) {
        until_answered("asked", words.at(1),
                       [this, name = words.at(1), reason = words.at(2)](auto& ec) {
                           node_.request_release(name, reason, ec);
                       });
    }

    void look(const std::string& name) {
        const auto info = node_.inspect(name);
        const auto value = info.value.value_or(LockValue{"-"});
        say("looks " + name + " " + std::to_string(info.holders.size()) + " " + value.bytes + " " +
            (value.dirty ? "dirty" : "clean"));
    }

    void status() {
        const auto status = node_.status();
        auto line = "status " + std::to_string(status.leader.value_or(0)) + " " +
                    std::to_string(status.term) + " " + (status.ready ? "ready" : "not-ready");
        for (const auto& member : status.members) {
            if (member.connected) line += " " + std::to_string(member.id);
        }
        say(line);
    }

    Node& node_;
    RecordedCalls calls_;
    KeptHolds holds_{calls_};
};

Words words_of(const std::string& line) {
    std::istringstream in{line};
    Words words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

void run(const std::string& config, const std::string& history_file) {
    HistoryWriter history{history_file};
    Node node{Config::from_file(config)};
    say("up");
    if (!node.wait_ready(std::chrono::steady_clock::now() + 60s))
        throw std::runtime_error{"not ready in time"};
    say("ready");
    Worker worker{node, history};
    for (std::string line; std::getline(std::cin, line) && line != "quit";)
        worker.obey(words_of(line));
    node.close();
    say("closed");
    std::_Exit(0);  // threads of loads and waits may still run
}

}  // namespace
}  // namespace mortise::tests

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) return 64;
    try {
        mortise::tests::run(argv[1], argc == 3 ? argv[2] : "/dev/null");
    } catch (const std::exception& problem) {
        mortise::tests::say(std::string{"failed "} + problem.what());
    }
    return 1;
}
