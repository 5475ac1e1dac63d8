// Sockets in a host process: no program that it starts inherits one, not even one that is started
// while the socket is made. A number that the program took away from a socket is left to its new
// owner (docs/decisions/0034).
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <sys/types.h>

namespace mortise::transport {

// Identifies the socket of a descriptor: each socket has its own inode.
class SocketIdentity {
public:
    SocketIdentity() = default;
    explicit SocketIdentity(int descriptor) noexcept : inode_{inode_of(descriptor)} {}
    // False if the process closed it; the number may belong to another file by now.
    [[nodiscard]] bool is_at(int descriptor) const noexcept {
        return inode_ != 0 && inode_of(descriptor) == inode_;
    }

private:
    static ino_t inode_of(int descriptor) noexcept;

    ino_t inode_ = 0;
};

// A new socket, closed on exec, with a number other than 0, 1 and 2. Negative with errno set on an
// error.
[[nodiscard]] int make_socket(const asio::ip::tcp& protocol) noexcept;
// The next connection that waits at `listener`; the same otherwise.
[[nodiscard]] int accept_socket(int listener) noexcept;

// A connection, before and after it is established.
class Socket : public asio::ip::tcp::socket {
public:
    using Base = asio::ip::tcp::socket;

    explicit Socket(asio::io_context& io) : Base{io} {}
    // For a socket that was opened in another way.
    Socket(Base&& other) noexcept;  // NOLINT(google-explicit-constructor): it is one
    Socket(Socket&& other) noexcept = default;
    Socket& operator=(Socket&& other) noexcept;
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket();

    void open(const asio::ip::tcp& protocol, asio::error_code& error);
    // Takes ownership of the descriptor, also on an error.
    void take(const asio::ip::tcp& protocol, int descriptor, asio::error_code& error);
    void close(asio::error_code& error);

    // True if it should be open and its number refers to something else.
    [[nodiscard]] bool is_taken_away();
    // If so, closes nothing: operations end, and the socket is not open any more.
    void let_go_if_taken_away() noexcept;

private:
    SocketIdentity identity_;
};

}  // namespace mortise::transport
