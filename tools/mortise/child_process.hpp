// A child process, which a socket pair connects with this one: it carries lines in both directions,
// and the child should end when the parent's end is closed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <sys/types.h>

namespace mortise::cli {

class ChildProcess {
public:
    // Called on the thread that runs the io_context.
    using OnLine = std::function<void(const std::string& line)>;
    struct Program {
        std::string file;                // or a name, which is searched for in PATH
        std::vector<std::string> words;  // the first is its name
        // Its standard input is its end of the connection, in both directions. What it prints is
        // appended to this file; if that is empty, standard output is the connection as well.
        std::filesystem::path output;
    };

    // Throws std::system_error.
    ChildProcess(asio::io_context& io, const Program& program, OnLine on_line);
    // Kills the child.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // False once the child has ended, which this call detects.
    [[nodiscard]] bool is_running();
    // Blocks while the child has much to read. Does nothing if the child has ended.
    void say(const std::string& line);
    // Sends SIGKILL, and returns when the child has ended.
    void kill();

private:
    class Wire;

    pid_t pid_ = 0;
    std::shared_ptr<Wire> wire_;
};

}  // namespace mortise::cli
