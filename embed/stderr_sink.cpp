#include "embed/stderr_sink.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/ignored_signal.hpp"

namespace mortise::detail {

namespace {

// Another open file of the same pipe or terminal: whether it waits is its own affair, where a flag
// of descriptor 2 would be one of the program's and of every process that shares it.
class Reopened {
public:
    Reopened()
        : descriptor_{::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)} {}
    ~Reopened() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Reopened(const Reopened&) = delete;
    Reopened& operator=(const Reopened&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    const int descriptor_;
};

ssize_t write_if_ready(std::string_view line) {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return -1;
    return ::write(STDERR_FILENO, line.data(), line.size());
}

// A pipe takes as much as PIPE_BUF in one piece or not at all.
ssize_t write_at_once(std::string_view line) {
    struct stat about {};
    if (::fstat(STDERR_FILENO, &about) != 0) return -1;
    if (S_ISSOCK(about.st_mode))
        return ::send(STDERR_FILENO, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode))
        return ::write(STDERR_FILENO, line.data(), line.size());
    const Reopened again;
    if (again.descriptor() < 0) return write_if_ready(line);
    return ::write(again.descriptor(), line.data(), line.size());
}

}  // namespace

void StderrSink::sink_it_(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t buffer;
    formatter_->format(message, buffer);
    std::string_view line{buffer.data(), buffer.size()};
    if (line.size() > PIPE_BUF) line = line.substr(0, PIPE_BUF);
    const int errno_before = errno;
    const storage::IgnoredSignal broken_pipe{SIGPIPE};
    if (write_at_once(line) < 0) ++dropped_;
    errno = errno_before;
}

}  // namespace mortise::detail
