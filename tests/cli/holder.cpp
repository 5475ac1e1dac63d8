// A program that links the library and serves as a target for the command line, until its standard
// input ends.
#include <cstdio>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <asio/use_future.hpp>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

namespace {

using namespace std::chrono_literals;

void wait_for_the_end() {
    while (std::getchar() != EOF) {
    }
}

void say(const char* line) {
    std::puts(line);
    std::fflush(stdout);
}

// It holds orders/42 and has a second request for it.
int hold_one(mortise::Node& node) {
    mortise::AcquireOptions options;
    options.label = "the holder";
    auto hold = node.acquire("orders/42", options);
    std::printf("holds %s\n", to_string(hold.token()).c_str());
    std::fflush(stdout);
    std::jthread waiter{[&node] {
        mortise::AcquireOptions patient;
        patient.mode = mortise::LockMode::shared;
        patient.label = "the waiter";
        const auto second = node.acquire("orders/42", patient);
    }};
    wait_for_the_end();
    return hold.release() ? 1 : 0;
}

// It holds nothing any more, and both names are closed nevertheless.
int close_two(mortise::Node& node) {
    mortise::AcquireOptions terms;
    terms.min_hold = 10min;
    if (node.acquire("closed/min_hold", terms).release()) return 1;
    terms.min_hold = 0ms;
    terms.max_hold = 50ms;
    terms.lock_delay = 10min;
    auto hold = node.acquire("closed/lock_delay", terms);
    while (hold.valid() || !node.inspect("closed/lock_delay").is_closed)
        std::this_thread::sleep_for(10ms);
    say("closed");
    wait_for_the_end();
    return 0;
}

// More holders and waiters than one answer contains.
int crowd(mortise::Node& node) {
    mortise::AcquireOptions shared;
    shared.mode = mortise::LockMode::shared;
    std::vector<mortise::Hold> holds;
    holds.reserve(1'100);
    for (int i = 0; i < 1'100; ++i)
        holds.push_back(node.acquire("crowd", shared));
    std::vector<std::future<mortise::Hold>> waits;
    waits.reserve(2'000);
    for (int i = 0; i < 2'000; ++i)
        waits.push_back(mortise::async_acquire(node, "crowd", asio::use_future));
    while (node.inspect("crowd").waiters.size() < 2'000)
        std::this_thread::sleep_for(10ms);
    say("crowded");
    wait_for_the_end();
    return 0;
}

// Names and labels with arbitrary bytes.
int names(mortise::Node& node) {
    using namespace std::string_literals;
    const std::vector<std::string> all{"tab\there",     "\xff\xfe"s, "nul\0nul"s,
                                       "\xed\xa0\x80"s, "\"\\'",     "\x7f\x1b[2J",
                                       "a\x1b",         R"(a\x1b)",  std::string(512, '\xc3')};
    std::vector<mortise::Hold> holds;
    for (const auto& name : all) {
        mortise::AcquireOptions options;
        options.label = name.substr(0, 256);
        holds.push_back(node.acquire(name, options));
    }
    say("named");
    wait_for_the_end();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const std::string_view what = argc > 2 ? argv[2] : "one";
    mortise::Node node{mortise::Config::from_file(argv[1])};
    if (what == "closed") return close_two(node);
    if (what == "crowd") return crowd(node);
    if (what == "names") return names(node);
    return hold_one(node);
}
