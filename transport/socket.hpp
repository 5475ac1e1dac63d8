// Sockets in somebody else's process: no program that it starts inherits one, not even one that is
// started while the socket is made, and a number that the process took away from a socket is left
// to whatever has it now (docs/decisions/0034).
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <sys/types.h>

namespace mortise::transport {

// Which socket a descriptor stands for: each has an inode of its own.
class SocketIdentity {
public:
    SocketIdentity() = default;
    explicit SocketIdentity(int descriptor) noexcept : inode_{inode_of(descriptor)} {}
    // False when the process closed it; the number may be that of another file by now.
    [[nodiscard]] bool is_at(int descriptor) const noexcept {
        return inode_ != 0 && inode_of(descriptor) == inode_;
    }

private:
    static ino_t inode_of(int descriptor) noexcept;

    ino_t inode_ = 0;
};

// A new one, closed on exec and not in the place of 0, 1 or 2. Below zero with errno set.
[[nodiscard]] int make_socket(const asio::ip::tcp& protocol) noexcept;
// The next connection that waits at `listener`, likewise.
[[nodiscard]] int accept_socket(int listener) noexcept;

// A connection, or what is to become one.
class Socket : public asio::ip::tcp::socket {
public:
    using Base = asio::ip::tcp::socket;

    explicit Socket(asio::io_context& io) : Base{io} {}
    // Of one that was opened otherwise.
    Socket(Base&& other) noexcept;  // NOLINT(google-explicit-constructor): it is one
    Socket(Socket&& other) noexcept = default;
    Socket& operator=(Socket&& other) noexcept;
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket();

    void open(const asio::ip::tcp& protocol, asio::error_code& error);
    // Takes the descriptor, also when it fails.
    void take(const asio::ip::tcp& protocol, int descriptor, asio::error_code& error);
    void close(asio::error_code& error);

    // It is open as far as we know, and its number stands for something else.
    [[nodiscard]] bool is_taken_away();
    // Closes nothing then: operations end, and it is not open any more.
    void let_go_if_taken_away() noexcept;

private:
    SocketIdentity identity_;
};

}  // namespace mortise::transport
