#include "bench/floor/follower.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "bench/floor/log_file.hpp"

namespace mortise::bench {

namespace {

void follow(Socket leader, const std::filesystem::path& file) {
    LogFile log{file};
    std::vector<char> buffer(std::size_t{1} << 20U);
    std::uint64_t durable = 0;
    while (const auto got = leader.receive(buffer)) {
        log.append_durably({buffer.data(), got});
        durable += got;
        leader.send({reinterpret_cast<const char*>(&durable), sizeof durable});
    }
}

[[noreturn]] void live_as_follower(std::uint16_t port, const std::filesystem::path& file) {
    int code = 0;
    try {
        follow(Socket::connect_to(port), file);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "a follower of the floor: %s\n", error.what());
        code = 1;
    }
    ::_exit(code);
}

}  // namespace

Follower::Follower(Listener& listener, const std::filesystem::path& file) : process_{::fork()} {
    if (process_ < 0) throw std::system_error{errno, std::system_category(), "fork"};
    if (process_ == 0) live_as_follower(listener.port(), file);
    socket_.emplace(listener.accept());
}

Follower::~Follower() {
    socket_.reset();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Follower::take_answer() {
    std::uint64_t answer = 0;
    std::span<char> rest{reinterpret_cast<char*>(&answer), sizeof answer};
    while (!rest.empty()) {
        const auto got = socket_->receive(rest);
        if (got == 0) throw std::system_error{EPIPE, std::system_category(), "a follower"};
        rest = rest.subspan(got);
    }
    durable_ = answer;
    ++answers_;
}

}  // namespace mortise::bench
