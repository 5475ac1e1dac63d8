// One attempt to connect to an address.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/ip/tcp.hpp>

#include "transport/sockets/address.hpp"
#include "transport/sockets/socket.hpp"

namespace mortise::transport {

struct DialTarget {
    std::string address;
    // The endpoint of the last connection, which is tried before the name is resolved again.
    std::optional<asio::ip::tcp::endpoint> last_known = std::nullopt;
    // Tries loopback endpoints only; without one the attempt fails with access_denied.
    bool loopback_only = false;
};

class Dial : public std::enable_shared_from_this<Dial> {
public:
    using Done = std::function<void(const asio::error_code&, Socket)>;

    // `done` is never called by this function. An attempt takes as long as the network allows: the
    // caller cancels it after its own time limit.
    static std::shared_ptr<Dial> start(asio::io_context& io, const DialTarget& target, Done done);

    explicit Dial(asio::io_context& io) : io_{io}, socket_{io} {}
    // `done` is not called any more.
    void cancel();

private:
    void begin(const DialTarget& target);
    void connect_to_last_known(const HostPort& at, const asio::ip::tcp::endpoint& last_known);
    void look_up(const HostPort& at);
    void connect(std::vector<asio::ip::tcp::endpoint> endpoints);
    void connect_to(std::size_t position);
    template <class Then>
    void try_endpoint(const asio::ip::tcp::endpoint& endpoint, Then then);
    [[nodiscard]] bool may_be_tried(const asio::ip::tcp::endpoint& endpoint) const;
    [[nodiscard]] bool is_its_own_peer() const;
    void finish(asio::error_code error);

    asio::io_context& io_;
    Socket socket_;
    std::vector<asio::ip::tcp::endpoint> endpoints_;
    bool loopback_only_ = false;
    // Keeps the io_context running during a lookup, which is not work of its own.
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> waiting_;
    Done done_;
};

}  // namespace mortise::transport
