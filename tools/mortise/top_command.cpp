// The command top: what is contended, and how busy the cluster is, at a glance.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/terminal.hpp"
#include "tools/mortise/top/frame.hpp"
#include "tools/mortise/top/screen.hpp"
#include "tools/mortise/typed_name.hpp"
#include <mortise/errc.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto interval = 1s;

struct TopCommand {
    Access access;
    std::string prefix;
    bool escaped = false;
    bool once = false;
};

// Asks the cluster each second, on a thread of its own: keys have their effect also while no member
// answers.
class Questions {
public:
    struct News {
        std::optional<Activity> activity;  // the newest one
        std::string problem;               // why there is none since; empty: there is
        std::exception_ptr end;            // it makes no sense to ask again
    };

    Questions(Remote remote, std::string prefix)
        : remote_{std::move(remote)}, prefix_{std::move(prefix)}, thread_{[this](const auto& stop) {
              run(stop);
          }} {}
    // Whoever asks may be in a call, which would hold up the end: nothing of it is waited for.
    ~Questions() {
        thread_.request_stop();
        std::unique_lock lock{mutex_};
        if (changed_.wait_for(lock, 100ms, [&] { return has_ended_; })) return;
        std::cout.flush();
        ::_exit(static_cast<int>(ExitCode::ok));
    }
    Questions(const Questions&) = delete;
    Questions& operator=(const Questions&) = delete;

    [[nodiscard]] News news() {
        const std::lock_guard lock{mutex_};
        return news_;
    }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            ask();
            std::unique_lock lock{mutex_};
            changed_.wait_for(lock, stop, interval, [] { return false; });
        }
        const std::lock_guard lock{mutex_};
        has_ended_ = true;
        changed_.notify_all();
    }
    void ask() {
        News news;
        try {
            news.activity = remote_.activity(prefix_);
        } catch (const LockError& error) {
            if (error.code() == Errc::permission_denied) news.end = std::current_exception();
            news.problem = line_of(error);
        } catch (const std::system_error& error) {
            news.problem = "no member answered: " + line_of(error);
        }
        const std::lock_guard lock{mutex_};
        if (!news.activity) news.activity = std::move(news_.activity);
        news_ = std::move(news);
    }

    Remote remote_;
    const std::string prefix_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    News news_;
    bool has_ended_ = false;
    std::jthread thread_;  // uses all of the above
};

FrameForm form_of(const std::string& prefix, bool on_screen) {
    FrameForm form;
    form.glyphs = glyphs_of_terminal();
    form.bold = is_terminal();
    form.prefix = prefix;
    const auto size = screen_size();
    form.columns = size.columns;
    if (on_screen) form.rows = size.rows;
    return form;
}

void print_frame(const Activity& activity, const std::string& prefix) {
    for (const auto& line : frame_of(activity, form_of(prefix, false)))
        std::cout << line << '\n';
}

// Until the key q or a signal.
void show(Screen& screen, Questions& questions, Activity shown, const std::string& prefix) {
    while (true) {
        const auto news = questions.news();
        if (news.end) std::rethrow_exception(news.end);
        if (news.activity) shown = *news.activity;
        auto form = form_of(prefix, true);
        form.problem = news.problem;
        screen.draw(frame_of(shown, form));
        switch (screen.wait_for(250ms)) {
            case Screen::News::asked_to_end: return;
            case Screen::News::key:
                if (screen.key() == 'q' || screen.key() == 'Q') return;
                break;
            default: break;
        }
    }
}

ExitCode run(const TopCommand& command) {
    const auto prefix = looked_up_name_of(command.prefix, command.escaped);
    // The first answer decides whether it can be asked at all.
    auto first = answer_of(command.access, [&](Remote& remote) { return remote.activity(prefix); });
    if (command.access.json) {
        print(json_of(first));
    } else if (command.once || !has_screen()) {
        print_frame(first, prefix);
    } else {
        block_signals_of_a_screen();
        // The end of the questions may end the program, and finds the terminal as it was.
        Questions questions{remote_of(command.access), prefix};
        Screen screen;
        show(screen, questions, std::move(first), prefix);
    }
    return ExitCode::ok;
}

}  // namespace

Command top_command() {
    const auto self = std::make_shared<TopCommand>();
    return {.name = "mortise top",
            .purpose = "Show who waits for which names, and how busy the cluster is",
            .options = {option("--prefix PREFIX", value(self->prefix, Kind::lock),
                               "Only names with this prefix"),
                        escaped_flag(self->escaped, "PREFIX"),
                        flag("--once", self->once,
                             "Print it once; also without a terminal, and with --json")},
            .examples = {{"mortise top --peer 10.0.0.1:7401",
                          "Shows it, each second anew, until the key q."},
                         {"mortise top --once --prefix orders/ --peer 10.0.0.1:7401",
                          "Prints it once, with the names that begin with orders/."}},
            .exit_codes = {{0, "it was printed, or ended with the key q, SIGINT or SIGTERM"}},
            .run = [self] { return run(*self); },
            .access = &self->access};
}

}  // namespace mortise::cli
