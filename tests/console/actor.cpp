// A program that links the library and holds what it is told to, for the console to show:
//
//   acquire NAME MODE LABEL            "held NAME TOKEN", and after a loss "lost NAME REASON"
//   release NAME                       "released NAME"
//   readers NAME COUNT                 "read NAME", once so many hold it in shared mode, all of
//   them
//                                      granted by one release
//   permits NAME LIMIT COUNT LABEL     "held NAME 0"
//   latch NAME COUNT                   "done NAME"
//   arrive NAME PARTIES                at a barrier; prints nothing
//   min_hold NAME                      "closed NAME", for ten minutes
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <mortise/mortise.hpp>

namespace {

using namespace std::chrono_literals;
using mortise::AcquireOptions;
using mortise::LockMode;
using Words = std::vector<std::string>;

std::mutex saying;

void say(const std::string& line) {
    const std::lock_guard lock{saying};
    std::cout << line << std::endl;
}

LockMode mode_of(const std::string& word) {
    for (const auto mode : {LockMode::shared, LockMode::update, LockMode::intent_shared,
                            LockMode::intent_exclusive, LockMode::shared_intent_exclusive}) {
        if (word == to_string(mode)) return mode;
    }
    return LockMode::exclusive;
}

class Actor {
public:
    explicit Actor(mortise::Node& node) : node_{node} {}

    void obey(const Words& words) {
        if (words.empty()) return;
        const auto& verb = words[0];
        if (verb == "acquire") in_background([this, words] { acquire(words); });
        if (verb == "release") release(words.at(1));
        if (verb == "readers") in_background([this, words] { read(words.at(1), words.at(2)); });
        if (verb == "permits") in_background([this, words] { take_permits(words); });
        if (verb == "arrive") in_background([this, words] { arrive(words); });
        if (verb == "latch") {
            mortise::Latch{node_, words.at(1), static_cast<std::uint32_t>(std::stoul(words.at(2)))}
                .count_down();
            say("done " + words.at(1));
        }
        if (verb == "min_hold") {
            (void)node_.acquire(words.at(1), {.min_hold = 10min}).release();
            say("closed " + words.at(1));
        }
    }

private:
    using OnLost = std::stop_callback<std::function<void()>>;
    struct Kept {
        std::shared_ptr<mortise::Hold> hold;
        std::unique_ptr<OnLost> on_lost;
    };

    static void in_background(std::function<void()> body) { std::thread{std::move(body)}.detach(); }

    void acquire(const Words& words) {
        std::error_code ec;
        const AcquireOptions options{
            .mode = mode_of(words.at(2)), .label = words.at(3), .caching = mortise::Caching::off};
        auto hold = node_.acquire(words.at(1), options, ec);
        ec ? say("failed " + words.at(1) + " " + ec.message()) : keep(std::move(hold));
    }
    void keep(mortise::Hold got) {
        const auto hold = std::make_shared<mortise::Hold>(std::move(got));
        const auto name = hold->name();
        say("held " + name + " " + to_string(hold->token()));
        const std::lock_guard lock{mutex_};
        auto lost = [name, hold = hold.get()] {
            say("lost " + name + " " + std::string{to_string(hold->why_lost())});
        };
        holds_[name] = {hold, std::make_unique<OnLost>(hold->lost(), std::move(lost))};
    }
    void release(const std::string& name) {
        Kept kept;
        {
            const std::lock_guard lock{mutex_};
            kept = std::move(holds_.extract(name).mapped());
        }
        kept.on_lost.reset();
        (void)kept.hold->release();
        say("released " + name);
    }
    // They end with the process.
    void read(const std::string& name, const std::string& count) {
        const auto readers_count = std::stoul(count);
        auto writer = node_.acquire(name, {.caching = mortise::Caching::off});
        std::vector<std::thread> readers;
        for (std::size_t i = 0; i < readers_count; ++i) {
            readers.emplace_back([this, name, label = "reader-" + std::to_string(i)] {
                const AcquireOptions options{.mode = LockMode::shared, .label = label};
                auto hold = node_.acquire(name, options);
                const std::lock_guard lock{mutex_};
                reading_.push_back(std::move(hold));
            });
        }
        while (node_.inspect(name).waiters.size() < readers_count)
            std::this_thread::sleep_for(10ms);
        (void)writer.release();
        for (auto& reader : readers)
            reader.join();
        say("read " + name);
    }
    void take_permits(const Words& words) {
        mortise::Semaphore semaphore{node_, words.at(1),
                                     static_cast<std::uint32_t>(std::stoul(words.at(2)))};
        mortise::AcquireOptions options;
        options.label = words.at(4);
        std::error_code ec;
        auto hold =
            semaphore.acquire(static_cast<std::uint32_t>(std::stoul(words.at(3))), options, ec);
        ec ? say("failed " + words.at(1) + " " + ec.message()) : keep(std::move(hold));
    }
    void arrive(const Words& words) {
        mortise::Barrier barrier{node_, words.at(1),
                                 static_cast<std::uint32_t>(std::stoul(words.at(2)))};
        std::error_code ec;
        (void)barrier.arrive_and_wait(ec);
    }

    mortise::Node& node_;
    std::mutex mutex_;
    std::map<std::string, Kept> holds_;
    std::vector<mortise::Hold> reading_;
};

Words words_of(const std::string& line) {
    std::istringstream in{line};
    Words words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 64;
    try {
        mortise::Node node{mortise::Config::from_file(argv[1])};
        if (!node.wait_ready(std::chrono::steady_clock::now() + 60s)) return 1;
        say("ready");
        Actor actor{node};
        for (std::string line; std::getline(std::cin, line);)
            actor.obey(words_of(line));
        node.close();
    } catch (const std::exception& problem) {
        say(std::string{"failed "} + problem.what());
    }
    std::_Exit(0);  // threads that wait may still run
}
