#include "transport/sockets/dial.hpp"

#include <algorithm>
#include <utility>

#include <asio/post.hpp>
#include <asio/socket_base.hpp>

#include "transport/sockets/clock.hpp"
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

// The system may give a caller the port that it calls, if nothing listens there, and connect the
// socket with itself. It must be closed at once, because otherwise the node that should listen
// there could not start.
bool is_its_own_peer(const Socket& socket) {
    asio::error_code error;
    const auto here = socket.local_endpoint(error);
    const auto there = socket.remote_endpoint(error);
    return !error && here == there;
}

void close_at_once(Socket& socket) {
    asio::error_code ignored;
    socket.set_option(asio::socket_base::linger{true, 0}, ignored);
    socket.close(ignored);
}

// A machine without one of the two families says so of each endpoint of it, which tells nothing
// about the member.
bool says_little(const asio::error_code& error) {
    return error == asio::error::network_unreachable ||
           error == asio::error::address_family_not_supported;
}

}  // namespace

Dial::Dial(asio::io_context& io, const DialTarget& target)
    : io_{io}, target_{target}, race_{target.patience}, timer_{io} {}

std::shared_ptr<Dial> Dial::start(asio::io_context& io, const DialTarget& target, Done done) {
    auto dial = std::make_shared<Dial>(io, target);
    dial->done_ = std::move(done);
    dial->begin();
    return dial;
}

void Dial::cancel() {
    done_ = nullptr;
    waiting_.reset();
    timer_.cancel();
    open_.clear();
}

void Dial::begin() {
    if (target_.address.empty()) return failed_later(asio::error::host_not_found);
    const auto at = parse_address(target_.address);
    if (!at) return failed_later(asio::error::invalid_argument);
    if (const auto endpoint = numeric(*at)) {
        add({*endpoint});
    } else {
        to_look_up_ = *at;
        if (target_.last_known) add({*target_.last_known});
    }
    go_on();
}

void Dial::look_up() {
    const auto at = *std::exchange(to_look_up_, std::nullopt);
    looks_up_ = true;
    waiting_.emplace(io_.get_executor());
    asio::use_service<Resolver>(io_).resolve(
        at, [self = shared_from_this()](const Resolver::Found& found) {
            if (!self->done_) return;
            self->looks_up_ = false;
            self->waiting_.reset();
            if (found.error) return self->failed(found.error);
            const auto& memory = asio::use_service<Resolver>(self->io_).memory();
            self->add(memory.in_order(self->target_.address, found.endpoints));
            self->go_on();
        });
}

// The last known endpoint may be among those of the name.
void Dial::add(const Endpoints& endpoints) {
    for (const auto& each : endpoints) {
        const bool is_new = std::ranges::find(endpoints_, each) == endpoints_.end();
        const bool may_be_tried = !target_.loopback_only || is_loopback(each.address());
        if (!may_be_tried) error_ = asio::error::access_denied;
        if (!may_be_tried || !is_new) continue;
        endpoints_.push_back(each);
        race_.add(1);
    }
}

void Dial::go_on() {
    const auto now = steady_now();
    while (const auto begin = race_.take_due(now))
        begin_attempt(*begin);
    if (to_look_up_ && race_.wants_more(now)) look_up();
    const bool is_lost = race_.is_lost() && !to_look_up_ && !looks_up_;
    is_lost ? failed_later(error_) : set_timer();
}

// Asio would create the socket without close-on-exec.
void Dial::begin_attempt(const EndpointRace::Begin& begin) {
    if (begin.instead_of) open_.erase(*begin.instead_of);
    const auto& endpoint = endpoints_.at(begin.place);
    auto& socket = open_.try_emplace(begin.place, io_).first->second;
    const auto ended = [self = shared_from_this(), place = begin.place](asio::error_code error) {
        if (self->done_ && self->open_.contains(place)) self->attempt_ended(place, error);
    };
    asio::error_code error;
    socket.open(endpoint.protocol(), error);
    if (error) return asio::post(io_, [ended, error] { ended(error); });
    socket.async_connect(endpoint, ended);
}

void Dial::attempt_ended(std::size_t place, asio::error_code error) {
    auto socket = std::move(open_.extract(place).mapped());
    if (!error && is_its_own_peer(socket)) {
        close_at_once(socket);
        error = asio::error::connection_refused;
    }
    if (!error) return finish({}, std::move(socket));
    race_.failed(place);
    failed(error);
}

void Dial::failed(asio::error_code error) {
    if (!error_ || !says_little(error)) error_ = error;
    go_on();
}

void Dial::failed_later(asio::error_code error) {
    asio::post(io_, [self = shared_from_this(), error] {
        if (self->done_) self->finish(error, Socket{self->io_});
    });
}

void Dial::set_timer() {
    const bool waits = to_look_up_ || !race_.has_begun_all();
    if (!waits) return;
    timer_.expires_at(time_point_of(race_.due()));
    timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
        if (!error && self->done_) self->go_on();
    });
}

void Dial::finish(const asio::error_code& error, Socket socket) {
    timer_.cancel();
    open_.clear();
    if (!error) prepare(socket);
    std::exchange(done_, nullptr)(error, std::move(socket));
}

}  // namespace mortise::transport
