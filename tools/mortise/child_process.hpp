// Another process of this program. It is kept on a leash: a socket pair that carries lines of JSON
// in both directions, and whose end is the end of the child.
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
    // Told on the thread that runs the io_context.
    using OnLine = std::function<void(const Json& line)>;

    // Runs `mortise member ROLE`; what it prints goes to the end of a file. Throws
    // std::system_error.
    ChildProcess(asio::io_context& io, const std::string& role, const std::filesystem::path& output,
                 OnLine on_line);
    // Kills it.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // False once it ended, which is noticed when it is asked for.
    [[nodiscard]] bool is_running();
    // Blocks while the child has much to read. Says nothing to a child that ended.
    void say(const Json& line);
    // SIGKILL. Returns when it is gone.
    void kill();

private:
    class Wire;

    pid_t pid_ = 0;
    std::shared_ptr<Wire> wire_;
};

}  // namespace mortise::cli
