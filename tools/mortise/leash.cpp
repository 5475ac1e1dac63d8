#include "tools/mortise/leash.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/mortise/exit_code.hpp"

namespace mortise::cli {

namespace {

// Ends without destructors, which would inform the other members and take time.
[[noreturn]] void end_with_parent() {
    ::_exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

Leash::Leash() {
    struct stat about {};
    if (::fstat(STDIN_FILENO, &about) != 0 || !S_ISSOCK(about.st_mode))
        throw Failure{ExitCode::usage, "this command is for processes that mortise starts itself"};
    // A terminal sends SIGINT to the whole group of processes; the parent decides what it means.
    std::signal(SIGINT, SIG_IGN);
}

void Leash::say(const Json& line) {
    const auto text = line.dump() + "\n";
    const std::scoped_lock lock{saying_};
    std::size_t done = 0;
    while (done < text.size()) {
        const auto sent =
            ::send(STDIN_FILENO, text.data() + done, text.size() - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) end_with_parent();
        if (sent > 0) done += static_cast<std::size_t>(sent);
    }
}

Json Leash::next() {
    while (true) {
        if (const auto end = input_.find('\n'); end != std::string::npos) {
            const auto line = input_.substr(0, end);
            input_.erase(0, end + 1);
            return Json::parse(line);
        }
        std::array<char, 4096> buffer{};
        const auto got = ::recv(STDIN_FILENO, buffer.data(), buffer.size(), 0);
        if (got == 0 || (got < 0 && errno != EINTR)) end_with_parent();
        if (got > 0) input_.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace mortise::cli
