// The command watch: the changes of holds and values, as they happen.
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <iostream>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/event_text.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/say.hpp"
#include "tools/mortise/terminal.hpp"
#include "tools/mortise/typed_name.hpp"
#include <mortise/escaped.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

struct WatchCommand {
    Access access;
    std::string prefix;
    bool escaped = false;
    bool one_name = false;  // the name that equals the prefix
    std::string from;       // a position; empty: begin with the present state
};

// Requests a stop when the program is asked to end, or when nobody reads its output any more. The
// signals are blocked in this thread and in those that it starts.
class EndOfWatch {
public:
    EndOfWatch() {
        ::sigemptyset(&signals_);
        ::sigaddset(&signals_, SIGINT);
        ::sigaddset(&signals_, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        thread_ = std::jthread{[this](const std::stop_token& end) { wait(end); }};
    }
    ~EndOfWatch() { thread_.request_stop(); }
    EndOfWatch(const EndOfWatch&) = delete;
    EndOfWatch& operator=(const EndOfWatch&) = delete;

    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
    void request() { stop_.request_stop(); }
    // To be called after the stop. Nothing may have been written since the reader went away.
    [[nodiscard]] ExitCode code() const { return code_; }

private:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::seconds patience{1};

    void wait(const std::stop_token& end) {
        while (!end.stop_requested() && !stop_.stop_requested()) {
            const bool is_asked = is_asked_to_end();
            if (is_asked) code_ = ExitCode::ok;
            if (is_asked || output_has_no_reader()) stop_.request_stop();
            if (is_asked) leave_a_write(end);
        }
    }
    // Whoever watches may be in a write that nobody reads, and would never see the request.
    void leave_a_write(const std::stop_token& end) const {
        const auto until = Clock::now() + patience;
        while (!end.stop_requested()) {
            if (Clock::now() >= until) ::_exit(static_cast<int>(ExitCode::ok));
            static_cast<void>(is_asked_to_end());
        }
    }
    [[nodiscard]] bool is_asked_to_end() const {
        constexpr timespec glance{0, 100'000'000};
        return ::sigtimedwait(&signals_, nullptr, &glance) > 0;
    }

    sigset_t signals_{};
    std::stop_source stop_;
    std::atomic<ExitCode> code_{ExitCode::reader_gone};
    std::jthread thread_;
};

// Says on stderr why the events do not come from a member any more; each problem once until there
// are events, also while several members have one in turn.
class Moves {
public:
    void tell(std::string_view problem) {
        if (told_.size() >= problems_max) told_.clear();
        if (told_.emplace(problem).second) say(escaped(problem) + "; trying the next member");
    }
    void has_news() { told_.clear(); }

private:
    static constexpr std::size_t problems_max = 100;

    std::set<std::string> told_;
};

ObserveOptions options_of(const WatchCommand& command) {
    ObserveOptions options;
    options.only_this_name = command.one_name;
    if (command.from.empty()) return options;
    options.from = Position::from_string(command.from);
    if (!options.from)
        throw Failure{ExitCode::usage, "--from: \"" + escaped(command.from) +
                                           "\" is not a position: write one "
                                           "that mortise watch printed, for example 4711.2"};
    return options;
}

ExitCode run(const WatchCommand& command) {
    const auto options = options_of(command);
    const auto prefix = looked_up_name_of(command.prefix, command.escaped);
    auto remote = remote_of(command.access);
    EndOfWatch end;
    Moves moves;
    const bool bold = is_terminal();
    if (!command.access.json) std::cout << event_titles(bold) << std::flush;
    const auto print_event = [&](const Event& event) {
        moves.has_news();
        if (command.access.json)
            std::cout << json_of(event, with_values).dump() << '\n' << std::flush;
        else
            std::cout << text_of(event) << std::flush;
        if (!std::cout) end.request();
    };
    try {
        remote.observe(
            prefix, print_event, options, end.token(),
            [&](std::string_view /*address*/, std::string_view problem) { moves.tell(problem); });
    } catch (const LockError&) {
        throw;
    } catch (const std::system_error& error) {
        nobody_answered(line_of(error));
    }
    return end.code();
}

}  // namespace

Command watch_command() {
    const auto self = std::make_shared<WatchCommand>();
    return {
        .name = "mortise watch",
        .purpose = "Show how holds and values are, and each change of them",
        .arguments = {option("PREFIX", value(self->prefix, Kind::lock),
                             "Only names with this prefix")},
        .options = {escaped_flag(self->escaped, "PREFIX"),
                    flag("--exact", self->one_name, "Only the name that equals PREFIX"),
                    option(
                        "--from POSITION", value(self->from),
                        "Begin after this position, which was printed before, instead of with the "
                        "present state")},
        .examples = {{"mortise watch orders/ --peer 10.0.0.1:7401 --peer 10.0.0.2:7401",
                      "Shows the holds and values of those names, and then each change."},
                     {"mortise watch --json --from 4711.2 --peer 10.0.0.1:7401",
                      "Prints one JSON object per line, beginning after a position that was "
                      "printed before."}},
        .exit_codes = {{0, "it was interrupted by SIGINT or SIGTERM"}},
        .run = [self] { return run(*self); },
        .access = &self->access};
}

}  // namespace mortise::cli
