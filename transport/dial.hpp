// One attempt to connect to an address.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/ip/tcp.hpp>

#include "transport/address.hpp"
#include "transport/socket.hpp"

namespace mortise::transport {

struct DialTarget {
    std::string address;
    // Where it was the last time, tried before its name is looked up again.
    std::optional<asio::ip::tcp::endpoint> last_known = std::nullopt;
    // No other endpoint is tried; without one the attempt ends with access_denied.
    bool loopback_only = false;
};

class Dial : public std::enable_shared_from_this<Dial> {
public:
    using Done = std::function<void(const asio::error_code&, Socket)>;

    // Never calls back from within. Trying takes as long as the network lets it: whoever has a
    // limit cancels.
    static std::shared_ptr<Dial> start(asio::io_context& io, const DialTarget& target, Done done);

    explicit Dial(asio::io_context& io) : io_{io}, socket_{io} {}
    // Nothing is called any more.
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
    // While a name is looked up, which is no work of the io_context's own.
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> waiting_;
    Done done_;
};

}  // namespace mortise::transport
