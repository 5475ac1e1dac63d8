// The other two processes of the floor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include <sys/types.h>

#include "bench/floor/socket.hpp"

namespace mortise::bench {

// A process that appends to its file what it receives, and answers each time with the number of
// bytes that it has on disk. It ends when the connection does, and the destructor waits for that.
class Follower {
public:
    // Forks: call it before there are threads.
    Follower(Listener& listener, const std::filesystem::path& file);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    [[nodiscard]] pid_t process() const { return process_; }
    void send(std::span<const char> bytes) { socket_->send(bytes); }
    [[nodiscard]] int descriptor() const { return socket_->descriptor(); }
    // Reads an answer, for which it may wait.
    void take_answer();
    // The number of bytes that are on its disk, by its newest answer.
    [[nodiscard]] std::uint64_t durable() const { return durable_; }
    [[nodiscard]] std::uint64_t answers() const { return answers_; }

private:
    pid_t process_;
    std::optional<Socket> socket_;
    std::uint64_t durable_ = 0;
    std::uint64_t answers_ = 0;
};

}  // namespace mortise::bench
