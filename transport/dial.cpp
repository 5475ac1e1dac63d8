#include "transport/dial.hpp"

#include <utility>

#include <asio/connect.hpp>
#include <asio/post.hpp>

#include "transport/address.hpp"

namespace mortise::transport {
namespace {

// Without a look-up, which takes a thread of its own.
std::optional<asio::ip::tcp::endpoint> numeric(const HostPort& at) {
    asio::error_code error;
    const auto address = asio::ip::make_address(at.host, error);
    if (error) return std::nullopt;
    return asio::ip::tcp::endpoint{address, static_cast<std::uint16_t>(std::stoul(at.port))};
}

}  // namespace

std::shared_ptr<Dial> Dial::start(asio::io_context& io, const std::string& address, Done done) {
    auto dial = std::make_shared<Dial>(io);
    dial->done_ = std::move(done);
    dial->resolve(address);
    return dial;
}

void Dial::cancel() {
    done_ = nullptr;
    resolver_.cancel();
    asio::error_code ignored;
    socket_.close(ignored);
}

void Dial::resolve(const std::string& address) {
    const auto at = parse_address(address);
    if (!at) {
        asio::post(socket_.get_executor(),
                   [self = shared_from_this()] { self->finish(asio::error::invalid_argument); });
        return;
    }
    if (const auto endpoint = numeric(*at)) {
        connect(Endpoints::create(*endpoint, at->host, at->port));
        return;
    }
    resolver_.async_resolve(
        at->host, at->port, asio::ip::tcp::resolver::numeric_service,
        [self = shared_from_this()](const asio::error_code& error, const Endpoints& found) {
            if (!self->done_) return;
            if (error) return self->finish(error);
            self->connect(found);
        });
}

void Dial::connect(const Endpoints& endpoints) {
    asio::async_connect(
        socket_, endpoints,
        [self = shared_from_this()](const asio::error_code& error, const asio::ip::tcp::endpoint&) {
            self->finish(error);
        });
}

void Dial::finish(const asio::error_code& error) {
    if (!done_) return;
    if (!error) prepare(socket_);
    std::exchange(done_, nullptr)(error, std::move(socket_));
}

}  // namespace mortise::transport
