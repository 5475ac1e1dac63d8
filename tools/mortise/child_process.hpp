// A child process of this program. A socket pair connects both: it carries lines of JSON in both
// directions, and the child ends when the parent's end is closed (leash.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <sys/types.h>

#include "tools/mortise/json_form.hpp"

namespace mortise::cli {

class ChildProcess {
public:
    // Called on the thread that runs the io_context.
    using OnLine = std::function<void(const Json& line)>;

    // Runs `mortise member ROLE`; its output is appended to a file. Throws std::system_error.
    ChildProcess(asio::io_context& io, const std::string& role, const std::filesystem::path& output,
                 OnLine on_line);
    // Kills the child.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // False once the child has ended, which this call detects.
    [[nodiscard]] bool is_running();
    // Blocks while the child has much to read. Does nothing if the child has ended.
    void say(const Json& line);
    // Sends SIGKILL, and returns when the child has ended.
    void kill();

private:
    class Wire;

    pid_t pid_ = 0;
    std::shared_ptr<Wire> wire_;
};

}  // namespace mortise::cli
