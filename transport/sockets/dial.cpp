#include "transport/sockets/dial.hpp"

#include <utility>

#include <asio/post.hpp>
#include <asio/socket_base.hpp>

#include "transport/sockets/address.hpp"
#include "transport/sockets/resolver.hpp"

namespace mortise::transport {
namespace {

// The endpoint of a numerical address, without a lookup.
std::optional<asio::ip::tcp::endpoint> numeric(const HostPort& at) {
    asio::error_code error;
    const auto address = asio::ip::make_address(at.host, error);
    if (error) return std::nullopt;
    return asio::ip::tcp::endpoint{address, static_cast<std::uint16_t>(std::stoul(at.port))};
}

}  // namespace

std::shared_ptr<Dial> Dial::start(asio::io_context& io, const DialTarget& target, Done done) {
    auto dial = std::make_shared<Dial>(io);
    dial->done_ = std::move(done);
    dial->begin(target);
    return dial;
}

void Dial::cancel() {
    done_ = nullptr;
    waiting_.reset();
    asio::error_code ignored;
    socket_.close(ignored);
}

void Dial::begin(const DialTarget& target) {
    loopback_only_ = target.loopback_only;
    const auto at = parse_address(target.address);
    if (!at) {
        asio::post(socket_.get_executor(),
                   [self = shared_from_this()] { self->finish(asio::error::invalid_argument); });
    } else if (const auto endpoint = numeric(*at)) {
        connect({*endpoint});
    } else if (target.last_known && may_be_tried(*target.last_known)) {
        connect_to_last_known(*at, *target.last_known);
    } else {
        look_up(*at);
    }
}

void Dial::connect_to_last_known(const HostPort& at, const asio::ip::tcp::endpoint& last_known) {
    try_endpoint(last_known, [self = shared_from_this(), at](const asio::error_code& error) {
        if (!error) return self->finish(error);
        self->look_up(at);
    });
}

void Dial::look_up(const HostPort& at) {
    waiting_.emplace(io_.get_executor());
    asio::use_service<Resolver>(io_).resolve(
        at, [self = shared_from_this()](const Resolver::Found& found) {
            if (!self->done_) return;
            self->waiting_.reset();
            if (found.error) return self->finish(found.error);
            self->connect(found.endpoints);
        });
}

bool Dial::may_be_tried(const asio::ip::tcp::endpoint& endpoint) const {
    return !loopback_only_ || is_loopback(endpoint.address());
}

void Dial::connect(std::vector<asio::ip::tcp::endpoint> endpoints) {
    endpoints_ = std::move(endpoints);
    std::erase_if(endpoints_, [this](const auto& each) { return !may_be_tried(each); });
    if (endpoints_.empty()) {
        return asio::post(socket_.get_executor(), [self = shared_from_this()] {
            self->finish(asio::error::access_denied);
        });
    }
    connect_to(0);
}

// Tries the endpoints in order until one answers.
void Dial::connect_to(std::size_t position) {
    try_endpoint(
        endpoints_.at(position), [self = shared_from_this(), position](asio::error_code error) {
            const bool is_last = position + 1 == self->endpoints_.size();
            return error && !is_last ? self->connect_to(position + 1) : self->finish(error);
        });
}

// Asio would create the socket without close-on-exec.
template <class Then>
void Dial::try_endpoint(const asio::ip::tcp::endpoint& endpoint, Then then) {
    asio::error_code failed;
    socket_.close(failed);
    socket_.open(endpoint.protocol(), failed);
    if (failed) {
        return asio::post(socket_.get_executor(),
                          [self = shared_from_this(), then = std::move(then), failed] {
                              if (self->done_) then(failed);
                          });
    }
    socket_.async_connect(endpoint, [self = shared_from_this(),
                                     then = std::move(then)](const asio::error_code& error) {
        if (self->done_) then(error);
    });
}

// The system may give a caller the port that it calls, if nothing listens there, and connect the
// socket with itself. It must be closed at once, because otherwise the node that should listen
// there could not start.
bool Dial::is_its_own_peer() const {
    asio::error_code error;
    const auto here = socket_.local_endpoint(error);
    const auto there = socket_.remote_endpoint(error);
    return !error && here == there;
}

void Dial::finish(asio::error_code error) {
    if (!done_) return;
    if (!error && is_its_own_peer()) {
        error = asio::error::connection_refused;
        asio::error_code ignored;
        socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
        socket_.close(ignored);
    }
    if (!error) prepare(socket_);
    std::exchange(done_, nullptr)(error, std::move(socket_));
}

}  // namespace mortise::transport
