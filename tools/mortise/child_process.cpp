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

#include "tools/mortise/leash.hpp"

namespace mortise::cli {

namespace {

using Socket = asio::local::stream_protocol::socket;

void check(int error, const char* what) {
    if (error != 0) throw std::system_error{error, std::system_category(), what};
}

// The state in which a child starts: our program, no blocked signals, and four open descriptors.
class SpawnPlan {
public:
    SpawnPlan(int leash, const std::filesystem::path& output) {
        check(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
        check(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
        constexpr int flags = O_WRONLY | O_CREAT | O_APPEND;
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(), flags, 0600);
        ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, leash, leash_descriptor);
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, leash_descriptor + 1);
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

    pid_t carry_out(std::string role) {
        std::string program = "mortise";
        std::string command = "member";
        char* words[] = {program.data(), command.data(), role.data(), nullptr};
        pid_t pid = 0;
        check(::posix_spawn(&pid, "/proc/self/exe", &actions_, &attributes_, words, ::environ),
              "cannot start another process of this program");
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
        // If a process is killed while it writes a line, the incomplete line is dropped.
        if (const auto json = Json::parse(line, nullptr, false); !json.is_discarded())
            on_line_(json);
        if (on_line_) read();
    }

    Socket socket_;
    OnLine on_line_;
    asio::streambuf input_;
};

ChildProcess::ChildProcess(asio::io_context& io, const std::string& role,
                           const std::filesystem::path& output, OnLine on_line) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        check(errno, "cannot make a socket pair");
    wire_ = std::make_shared<Wire>(io, ends[0], std::move(on_line));
    try {
        pid_ = SpawnPlan{ends[1], output}.carry_out(role);
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

void ChildProcess::say(const Json& line) {
    if (pid_ != 0) wire_->say(line.dump() + "\n");
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
