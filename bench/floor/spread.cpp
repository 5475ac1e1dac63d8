#include "bench/floor/spread.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure/closed_loop.hpp"
#include "bench/measure/usage.hpp"

namespace mortise::bench {

void Link::send(const Heading& heading, const std::vector<char>& bytes) {
    const auto* first = reinterpret_cast<const char*>(&heading);
    out_.assign(first, first + sizeof heading);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    socket_.send(out_);
    ++sent_;
}

template <class Take>
bool Link::receive(const Take& take) {
    constexpr std::size_t at_once = std::size_t{1} << 18U;
    const auto had = in_.size();
    in_.resize(had + at_once);
    const auto got = socket_.receive({in_.data() + had, at_once});
    in_.resize(had + got);
    std::size_t taken = 0;
    for (Heading heading; in_.size() - taken >= sizeof heading;) {
        std::memcpy(&heading, in_.data() + taken, sizeof heading);
        if (in_.size() - taken < sizeof heading + heading.bytes) break;
        taken += sizeof heading;
        take(heading, std::span<const char>{in_.data() + taken, heading.bytes});
        taken += heading.bytes;
    }
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(taken));
    return got != 0;
}

namespace {

constexpr std::size_t followers = 2;

struct Counted {
    std::atomic<std::uint64_t> entries = 0;
    std::atomic<std::uint64_t> commands = 0;
    std::atomic<std::uint64_t> syncs = 0;
    std::atomic<std::uint64_t> messages = 0;
};

template <std::size_t N>
void await(std::array<pollfd, N>& ready) {
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR)
        throw std::system_error{errno, std::system_category(), "poll"};
}

// One process: its file, its callers, and the thread that serves them.
class Process {
public:
    explicit Process(const std::filesystem::path& file) : log_{file} {}

    // The callers have returned.
    void end() { desk_.submit({}); }

protected:
    void append(std::span<const char> bytes) {
        log_.append_durably(bytes);
        durable_ += bytes.size();
        ++counted_.syncs;
    }

    LogFile log_;
    std::uint64_t durable_ = 0;

public:
    Desk desk_;
    Counted counted_;
    std::atomic<bool> is_ending_ = false;
};

class SpreadFollower : public Process {
public:
    SpreadFollower(Socket leader, const std::filesystem::path& file)
        : Process{file}, leader_{std::move(leader)} {}

    // Returns when the leader has ended.
    void serve() {
        std::vector<char> wanted;
        for (bool ended = false; !ended;) {
            std::array<pollfd, 2> ready{
                {{desk_.descriptor(), POLLIN, 0}, {leader_.descriptor(), POLLIN, 0}}};
            await(ready);
            if (ready[1].revents != 0) ended = !take_entries();
            wanted.clear();
            desk_.take(wanted);
            if (ended || (wanted.empty() && durable_ == told_durable_)) continue;
            told_durable_ = durable_;
            leader_.send({static_cast<std::uint32_t>(wanted.size()), 0, durable_, is_ending_},
                         wanted);
            ++counted_.messages;
        }
    }

private:
    bool take_entries() {
        std::vector<char> entries;
        std::size_t committed = 0;
        const bool goes_on = leader_.receive([&](const Heading& heading, auto bytes) {
            entries.insert(entries.end(), bytes.begin(), bytes.end());
            committed += heading.committed;
        });
        desk_.done(committed);
        if (!entries.empty()) append(entries);
        return goes_on;
    }

    Link leader_;
    std::uint64_t told_durable_ = 0;
};

class SpreadLeader : public Process {
public:
    SpreadLeader(Listener& listener, const std::filesystem::path& file)
        : Process{file},
          others_{{Other{Link{listener.accept()}}, Other{Link{listener.accept()}}}} {}

    // Returns when nobody has callers any more.
    void serve() {
        const auto has_ended = [](const Other& other) { return other.ended; };
        while (!is_ending_ || !std::ranges::all_of(others_, has_ended)) {
            std::array<pollfd, 1 + followers> ready{};
            ready[0] = {desk_.descriptor(), POLLIN, 0};
            for (std::size_t i = 0; i < followers; ++i)
                ready[i + 1] = {others_[i].link.descriptor(), POLLIN, 0};
            await(ready);
            for (std::size_t i = 0; i < followers; ++i)
                if (ready[i + 1].revents != 0) take_from(others_[i]);
            take_own();
            go_on();
        }
        hang_up();
    }

private:
    // Reads until the others have closed, so that no answer meets a closed connection.
    void hang_up() {
        for (auto& other : others_)
            other.link.end();
        for (auto& other : others_)
            while (other.link.receive([](const Heading&, auto) {})) {
            }
    }

    struct Other {
        Link link;
        std::uint64_t durable = 0;
        std::uint32_t gathered = 0;   // of its commands, for the next entry
        std::uint32_t under_way = 0;  // in the present entry
        std::uint32_t committed = 0;  // that it was not told of
        bool ended = false;
    };

    void take_from(Other& other) {
        const bool is_there = other.link.receive([&](const Heading& heading, auto bytes) {
            other.durable = heading.durable;
            other.ended = other.ended || heading.ends != 0;
            other.gathered += static_cast<std::uint32_t>(bytes.size() / sizeof(Command));
            next_.insert(next_.end(), bytes.begin(), bytes.end());
        });
        if (!is_there) throw std::system_error{EPIPE, std::system_category(), "a follower"};
    }

    void take_own() {
        const auto had = next_.size();
        desk_.take(next_);
        own_gathered_ += (next_.size() - had) / sizeof(Command);
    }

    // Its own disk is one of the majority, so one more is enough.
    void go_on() {
        const auto has_it = [this](const Other& other) { return other.durable >= durable_; };
        if (has_entry_ && !std::ranges::any_of(others_, has_it)) return;
        if (has_entry_) commit();
        if (!next_.empty()) begin_entry();
        tell({});
        // Callers are woken last: whatever the others wait for has left.
        desk_.done(std::exchange(own_committed_, 0));
    }

    void commit() {
        has_entry_ = false;
        ++counted_.entries;
        counted_.commands += entry_.size() / sizeof(Command);
        own_committed_ = std::exchange(own_under_way_, 0);
        for (auto& other : others_)
            other.committed += std::exchange(other.under_way, 0);
    }

    void begin_entry() {
        has_entry_ = true;
        std::swap(entry_, next_);
        next_.clear();
        own_under_way_ = std::exchange(own_gathered_, 0);
        for (auto& other : others_)
            other.under_way = std::exchange(other.gathered, 0);
        tell(entry_);
        desk_.done(std::exchange(own_committed_, 0));
        append(entry_);
    }

    // An entry takes the news of the last commit along.
    void tell(const std::vector<char>& entry) {
        for (auto& other : others_) {
            if (entry.empty() && other.committed == 0) continue;
            other.link.send(
                {static_cast<std::uint32_t>(entry.size()), std::exchange(other.committed, 0), 0},
                entry);
            ++counted_.messages;
        }
    }

    std::array<Other, followers> others_;
    std::vector<char> next_;
    std::vector<char> entry_;
    bool has_entry_ = false;
    std::size_t own_gathered_ = 0;
    std::size_t own_under_way_ = 0;
    std::size_t own_committed_ = 0;
};

nlohmann::json counters_of(const Process& process) {
    const auto used = own_usage();
    return {{"cpu_ns", used.cpu_ns},
            {"wakeups", used.wakeups},
            {"entries", process.counted_.entries.load()},
            {"commands", process.counted_.commands.load()},
            {"syncs", process.counted_.syncs.load()},
            {"messages", process.counted_.messages.load()}};
}

nlohmann::json load(Desk& desk, const SpreadTask& task, std::size_t callers, Window& window) {
    const Command command;
    return closed_loop(callers, window, [&](std::size_t) {
        const auto begin = Clock::now();
        desk.commit(command);
        const auto acquired = Clock::now();
        if (task.awaited)
            desk.commit(command);
        else
            desk.submit(command);
        return acquired - begin;
    });
}

std::filesystem::path result_of(const SpreadTask& task, std::size_t number) {
    return task.directory / ("result-" + std::to_string(number));
}

// `number` is that of the process, from 0.
template <class OneProcess>
void live(OneProcess& process, const SpreadTask& task, std::size_t number) {
    std::exception_ptr failure;
    std::thread serving{[&] {
        try {
            process.serve();
        } catch (...) {
            failure = std::current_exception();
        }
        process.desk_.fail();
    }};
    Window window{Seconds{task.warm_up}, Seconds{task.seconds},
                  [&] { return counters_of(process); }};
    const auto processes = followers + 1;
    const auto callers = task.callers / processes + (number < task.callers % processes ? 1 : 0);
    const auto result = load(process.desk_, task, callers, window);
    process.is_ending_ = true;
    process.end();
    serving.join();
    if (failure) std::rethrow_exception(failure);
    std::ofstream{result_of(task, number)} << result.dump() << '\n';
}

void live_as_follower(const Listener& listener, const SpreadTask& task, std::size_t number) {
    SpreadFollower process{Socket::connect_to(listener.port()),
                           task.directory / std::to_string(number)};
    live(process, task, number);
}

pid_t start_follower(const Listener& listener, const SpreadTask& task, std::size_t number) {
    const auto process = ::fork();
    if (process < 0) throw std::system_error{errno, std::system_category(), "fork"};
    if (process != 0) return process;
    int code = 0;
    try {
        live_as_follower(listener, task, number);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "a follower of the floor: %s\n", error.what());
        code = 1;
    }
    ::_exit(code);
}

}  // namespace

void run_spread(const SpreadTask& task) {
    Listener listener;
    std::array<pid_t, followers> started{};
    for (std::size_t i = 0; i < followers; ++i)
        started[i] = start_follower(listener, task, i + 1);
    {
        SpreadLeader process{listener, task.directory / "0"};
        live(process, task, 0);
    }
    for (const auto process : started)
        while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
    for (std::size_t number = 0; number <= followers; ++number)
        std::cout << std::ifstream{result_of(task, number)}.rdbuf();
}

}  // namespace mortise::bench
