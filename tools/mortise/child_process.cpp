#include "tools/mortise/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

using Socket = asio::local::stream_protocol::socket;

void check(int error, const char* what) {
    if (error != 0) throw std::system_error{error, std::system_category(), what};
}

// The state in which a child starts: no blocked signals, and no other open descriptors.
class SpawnPlan {
public:
    SpawnPlan(int connection, const std::filesystem::path& output) {
        check(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
        check(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
        constexpr int flags = O_WRONLY | O_CREAT | O_APPEND;
        ::posix_spawn_file_actions_adddup2(&actions_, connection, STDIN_FILENO);
        if (output.empty()) {
            ::posix_spawn_file_actions_adddup2(&actions_, connection, STDOUT_FILENO);
        } else {
            const auto* file = output.c_str();
            ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, file, flags, 0600);
            ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
        }
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
        sigset_t none;
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    pid_t carry_out(const std::string& file, std::vector<std::string> words) {
        std::vector<char*> arguments;
        for (auto& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        pid_t pid = 0;
        check(::posix_spawnp(&pid, file.c_str(), &actions_, &attributes_, arguments.data(),
                             ::environ),
              ("cannot start another process of " + words.front()).c_str());
        return pid;
    }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace

// Reads until the child has ended or the reader is detached.
class ChildProcess::Wire : public std::enable_shared_from_this<Wire> {
public:
    Wire(asio::io_context& io, int descriptor, OnLine on_line)
        : socket_{io, asio::local::stream_protocol{}, descriptor}, on_line_{std::move(on_line)} {}

    void read() {
        asio::async_read_until(socket_, input_, '\n',
                               [self = shared_from_this()](asio::error_code failed, std::size_t) {
                                   if (!failed && self->on_line_) self->take();
                               });
    }
    void say(const std::string& line) {
        asio::error_code ignored;  // the end of the child is detected by reading
        asio::write(socket_, asio::buffer(line), ignored);
    }
    void end() {
        on_line_ = nullptr;
        asio::error_code ignored;
        socket_.close(ignored);
    }

private:
    void take() {
        std::string line;
        std::istream stream{&input_};
        std::getline(stream, line);
        on_line_(line);
        if (on_line_) read();
    }

    Socket socket_;
    OnLine on_line_;
    asio::streambuf input_;
};

ChildProcess::ChildProcess(asio::io_context& io, const Program& program, OnLine on_line) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        check(errno, "cannot make a socket pair");
    wire_ = std::make_shared<Wire>(io, ends[0], std::move(on_line));
    try {
        pid_ = SpawnPlan{ends[1], program.output}.carry_out(program.file, program.words);
    } catch (...) {
        ::close(ends[1]);
        throw;
    }
    ::close(ends[1]);
    wire_->read();
}

ChildProcess::~ChildProcess() {
    kill();
}

bool ChildProcess::is_running() {
    if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ != 0;
}

void ChildProcess::say(const std::string& line) {
    if (pid_ != 0) wire_->say(line + "\n");
}

void ChildProcess::kill() {
    wire_->end();
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
}

}  // namespace mortise::cli
