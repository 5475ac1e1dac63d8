// An address that takes no connections and does not refuse them, like one behind a firewall that
// drops packets.
#pragma once

#include <array>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <sys/socket.h>

namespace mortise {

// Its queue of connections that nobody accepts is full.
class SilentAddress {
public:
    explicit SilentAddress(const asio::ip::tcp::endpoint& at) {
        acceptor_.open(at.protocol());
        acceptor_.bind(at);
        acceptor_.listen(0);
        for (auto& caller : callers_) {
            caller.open(at.protocol());
            caller.non_blocking(true);
            auto to = acceptor_.local_endpoint();
            static_cast<void>(
                ::connect(caller.native_handle(), to.data(), static_cast<socklen_t>(to.size())));
        }
    }
    [[nodiscard]] asio::ip::tcp::endpoint at() const { return acceptor_.local_endpoint(); }

private:
    asio::io_context io_;
    asio::ip::tcp::acceptor acceptor_{io_};
    // More than the one that the queue takes: only when it is full, the others are dropped.
    std::array<asio::ip::tcp::socket, 4> callers_{
        asio::ip::tcp::socket{io_}, asio::ip::tcp::socket{io_}, asio::ip::tcp::socket{io_},
        asio::ip::tcp::socket{io_}};
};

}  // namespace mortise
