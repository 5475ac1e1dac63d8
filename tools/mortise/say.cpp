#include "tools/mortise/say.hpp"

#include <climits>
#include <memory>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mortise/config.hpp>
#include <mortise/detail/side_log.hpp>

namespace mortise::cli {

namespace {

// Not set: lines are text.
std::unique_ptr<detail::SideLog>& json_log() {
    static std::unique_ptr<detail::SideLog> log;
    return log;
}

bool has_room(int descriptor) {
    pollfd output{descriptor, POLLOUT, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0;
}

// A second open file of the same pipe or terminal, so that the flag of the one that other processes
// share stays as it is. Only the file of another user cannot be opened again; what has room for
// something has room for a line, mostly.
ssize_t write_without_waiting(int descriptor, std::string_view text) {
    const auto path = "/proc/self/fd/" + std::to_string(descriptor);
    const int again = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (again < 0) return has_room(descriptor) ? ::write(descriptor, text.data(), text.size()) : -1;
    const auto written = ::write(again, text.data(), text.size());
    ::close(again);
    return written;
}

ssize_t write_some(int descriptor, std::string_view text) {
    struct stat about {};
    if (::fstat(descriptor, &about) != 0) return -1;
    if (S_ISSOCK(about.st_mode))
        return ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))
        return write_without_waiting(descriptor, text);
    return ::write(descriptor, text.data(), text.size());
}

}  // namespace

bool write_at_once(int descriptor, std::string text) {
    if (text.size() > PIPE_BUF) {
        text.resize(PIPE_BUF - 1);
        text += '\n';
    }
    return write_some(descriptor, text) == static_cast<ssize_t>(text.size());
}

void say_in_json(NodeId node) {
    LogConfig config;
    config.level = LogLevel::debug;  // what the program says is not filtered
    config.format = LogFormat::json;
    json_log() = std::make_unique<detail::SideLog>(config, node);
}

// The end of the program has a budget of its own, so that no other line takes it away.
void say(std::string_view line, LogLevel level) {
    if (const auto& log = json_log())
        return log->write(level, level == LogLevel::error ? "program_failed" : "program", line);
    static_cast<void>(
        write_at_once(STDERR_FILENO, std::string{"mortise: "}.append(line).append("\n")));
}

}  // namespace mortise::cli
