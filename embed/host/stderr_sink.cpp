#include "embed/host/stderr_sink.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "storage/base/descriptors.hpp"
#include "storage/base/ignored_signal.hpp"

namespace mortise::detail {

namespace {

// A second open file of the same pipe or terminal, which has its own flags. A flag on descriptor 2
// would affect the program and every process that shares it.
class Reopened {
public:
    Reopened() {
        storage::occupy_standard_descriptors();
        descriptor_ = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    ~Reopened() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Reopened(const Reopened&) = delete;
    Reopened& operator=(const Reopened&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_ = -1;
};

// For a file that cannot be opened again, for example one of another user. Kernels before 6.4
// cannot guarantee that a write to a pipe does not wait; there only the check before the write
// protects.
ssize_t write_if_ready(std::string_view line) {
    iovec part{const_cast<char*>(line.data()), line.size()};  // NOLINT: it is only read
    const auto written = ::pwritev2(STDERR_FILENO, &part, 1, -1, RWF_NOWAIT);
    if (written >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS)) return written;
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return -1;
    return ::write(STDERR_FILENO, line.data(), line.size());
}

ssize_t write_at_once(std::string line) {
    struct stat about {};
    if (::fstat(STDERR_FILENO, &about) != 0) return -1;
    if (S_ISSOCK(about.st_mode))
        return ::send(STDERR_FILENO, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode))
        return ::write(STDERR_FILENO, line.data(), line.size());
    if (line.size() > PIPE_BUF) {  // a pipe takes a piece of this size entirely or not at all
        line.resize(PIPE_BUF - 1);
        line += '\n';
    }
    const Reopened again;
    if (again.descriptor() < 0) return write_if_ready(line);
    return ::write(again.descriptor(), line.data(), line.size());
}

}  // namespace

void StderrSink::sink_it_(const spdlog::details::log_msg& message) {
    const int errno_before = errno;
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    {
        const storage::IgnoredSignal broken_pipe{SIGPIPE};
        const storage::IgnoredSignal file_too_large{SIGXFSZ};
        if (write_at_once({line.data(), line.size()}) < 0) ++dropped_;
    }
    errno = errno_before;
}

}  // namespace mortise::detail
