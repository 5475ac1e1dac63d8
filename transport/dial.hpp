// One attempt to connect to an address.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <asio/ip/tcp.hpp>

namespace mortise::transport {

class Dial : public std::enable_shared_from_this<Dial> {
public:
    using Done = std::function<void(const asio::error_code&, asio::ip::tcp::socket)>;

    // Never calls back from within. Trying takes as long as the network lets it: whoever has a
    // limit cancels.
    static std::shared_ptr<Dial> start(asio::io_context& io, const std::string& address, Done done);

    explicit Dial(asio::io_context& io) : resolver_{io}, socket_{io} {}
    // Nothing is called any more.
    void cancel();

private:
    using Endpoints = asio::ip::tcp::resolver::results_type;

    void resolve(const std::string& address);
    void connect(const Endpoints& endpoints);
    void finish(const asio::error_code& error);

    asio::ip::tcp::resolver resolver_;
    asio::ip::tcp::socket socket_;
    Done done_;
};

}  // namespace mortise::transport
