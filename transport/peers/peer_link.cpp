#include "transport/peers/peer_link.hpp"

#include <utility>

#include <asio/error.hpp>

#include "core/base/overloaded.hpp"
#include "transport/sockets/address.hpp"
#include "transport/sockets/clock.hpp"
#include "transport/sockets/resolver.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::transport {
namespace {

// A valid answer to hello takes four frames.
constexpr FrameLimits hello_limits{hello_frame_words_max, 16};
constexpr FrameLimits answer_limits{.words_max = peer_frame_words_max, .gathers = true};
// The limit of unanswered calls in words. Long calls are answered at once (MessageStream).
constexpr std::size_t words_in_flight_max = 4 * send_bytes_max / word_bytes;
// The overhead of a call besides its messages.
constexpr std::size_t call_words = 64;

LinkOptions link_options(const PeerLinkOptions& options) {
    LinkOptions link;
    link.expected = options.peer.id;
    link.hello_timeout = options.hello_timeout;
    link.connect_timeout = options.hello_timeout;
    return link;
}

std::size_t words_of(const std::vector<core::PeerMessage>& batch) {
    auto words = call_words;
    for (const auto& message : batch)
        words += wire_words(message);
    return words;
}

constexpr const char* says_nothing =
    "it takes connections and says nothing: check which program listens there";

// What the operator can do about it depends on the error.
std::string why_not_dialled(const asio::error_code& error) {
    const auto code = to_std(error);
    if (code == std::errc::connection_refused)
        return "nothing listens there: start it, or correct its address";
    if (code == std::errc::host_unreachable || code == std::errc::network_unreachable)
        return "there is no route to it: check its address, the network, and the firewalls";
    if (code == std::errc::timed_out) return std::string{no_answer_in_words};
    if (error == asio::error::host_not_found || error == asio::error::host_not_found_try_again)
        return "its name does not resolve: correct its address, or the DNS";
    return error.message();
}

}  // namespace

PeerLink::PeerLink(PeerLinkOptions options, LinkOwner& owner, NetworkCounters& counters)
    : options_{std::move(options)},
      owner_{owner},
      counters_{counters},
      machine_{link_options(options_), options_.prng},
      outbox_{options_.lane, options_.outbox},
      timer_{owner.loop().io()},
      self_{std::make_shared<PeerLink*>(this)} {}

PeerLink::~PeerLink() {
    if (dial_) dial_->cancel();
    if (handshake_) handshake_->cancel();
}

void PeerLink::lose() {
    feed(link_event::Lost{attempt_});
}

void PeerLink::feed(const LinkEvent& event) {
    owner_.loop().run([&] {
        for (const auto& action : machine_.on(event, steady_now()))
            std::visit([this](const auto& each) { act(each); }, action);
    });
    set_timer();
}

void PeerLink::set_timer() {
    if (machine_.deadline() == timer_at_) return;
    timer_at_ = machine_.deadline();
    if (timer_at_ == core::Instant::never()) {
        timer_.cancel();
        return;
    }
    timer_.expires_at(time_point_of(timer_at_));
    timer_.async_wait([self = std::weak_ptr{self_}](const asio::error_code& error) {
        const auto alive = self.lock();
        if (error || !alive) return;
        (*alive)->timer_at_ = core::Instant::never();
        (*alive)->note_silence();
        (*alive)->feed(link_event::TimerFired{});
    });
}

void PeerLink::not_reached(const std::string& why) {
    has_reason_ = true;
    owner_.unreached(*this, why);
}

// The time of the present step is over, if there is one. During a pause between attempts there is
// none.
void PeerLink::note_silence() {
    if (dial_)
        not_reached(std::string{no_answer_in_words});
    else if (handshake_ || (connection_ && !remote_))
        not_reached(says_nothing);
}

void PeerLink::act(const link_action::Connect& action) {
    attempt_ = action.attempt;
    // Another endpoint of its address may be the right one.
    if (const auto at = std::exchange(unproven_, std::nullopt)) memory().failed(at_, *at);
    dial_ = Dial::start(owner_.loop().io(), next_target(),
                        [this, attempt = attempt_](const asio::error_code& error, Socket socket) {
                            connected(attempt, error, std::move(socket));
                        });
}

// Alternates between the peer's two addresses, and for each between the last endpoint and a new
// lookup. The peer may have moved, or may not answer there.
DialTarget PeerLink::next_target() {
    const auto& peer = options_.peer;
    const std::size_t addresses = peer.also.empty() ? 1 : 2;
    const auto turn = turn_++;
    at_ = turn % addresses == 0 ? peer.address : peer.also;
    const bool is_known = at_ == last_known_at_ && turn / addresses % 2 == 0;
    return {at_, is_known ? last_known_ : std::nullopt, peer.loopback_only, options_.hello_timeout};
}

EndpointMemory& PeerLink::memory() {
    return asio::use_service<Resolver>(owner_.loop().io()).memory();
}

void PeerLink::connected(Attempt attempt, const asio::error_code& error, Socket socket) {
    dial_.reset();
    if (error) {
        not_reached(why_not_dialled(error));
        return feed(link_event::ConnectFailed{attempt});
    }
    // Until something comes back.
    if (!has_reason_) not_reached(says_nothing);
    asio::error_code gone;
    const auto at = socket.remote_endpoint(gone);
    if (!gone) dialled_ = unproven_ = at;
    if (!owner_.credentials()) {
        socket_.emplace(std::move(socket));
        return feed(link_event::Connected{attempt});
    }
    handshake_ =
        Handshake::start(std::move(socket), owner_.credentials(), Handshake::Side::connects,
                         [this, attempt](core::Result<Handshake::Secured> result) {
                             secured(attempt, std::move(result));
                         });
}

// The node at this address must be the peer: a name or an address proves nothing.
void PeerLink::secured(Attempt attempt, core::Result<Handshake::Secured> secured) {
    handshake_.reset();
    if (!secured) {
        report(secured.error().what);
        return feed(link_event::ConnectFailed{attempt});
    }
    const auto& identity = secured->peer->identity;
    if (identity.node != peer() || identity.cluster != owner_.cluster()) {
        report("the certificate there is that of " + identity.name() + " of cluster " +
               identity.cluster);
        counters_.refused.count(Refusal::identity);
        return feed(link_event::Refused{attempt, Refusal::identity});
    }
    // The credentials may have changed since the handshake began.
    if (auto believed = owner_.credentials()->verify(*secured->peer, true); !believed) {
        report(believed.error().what);
        return feed(link_event::ConnectFailed{attempt});
    }
    certificate_ = std::move(secured->peer);
    secured_ = std::move(secured->take_stream);
    feed(link_event::Connected{attempt});
}

kj::Own<SocketStream> PeerLink::take_stream() {
    if (auto take = std::exchange(secured_, nullptr)) return take(owner_.loop());
    auto socket = *std::exchange(socket_, std::nullopt);
    return kj::heap<AsioStream<Socket>>(owner_.loop(), std::move(socket));
}

// The other side checks our certificate after the handshake is done on our side: its alert arrives
// here.
void PeerLink::ended(Attempt attempt) {
    if (!id_ && connection_) {
        const auto alert = tls_alert(connection_->read_error());
        if (!alert.empty())
            report(alert);
        else
            not_reached(
                "it ends the connection: check that a node of Mortise listens "
                "there, and that both nodes use TLS, or neither");
    }
    feed(link_event::Lost{attempt});
}

void PeerLink::act(const link_action::DropFormer& /*action*/) {
    owner_.drop_former(*this);
}

void PeerLink::act(const link_action::SendHello& action) {
    connection_ = std::make_unique<RpcConnection>(
        take_stream(), capnp::rpc::twoparty::Side::CLIENT, nullptr, hello_limits,
        [this, attempt = action.attempt] { ended(attempt); });
    say_hello(action.attempt);
}

void PeerLink::say_hello(Attempt attempt) {
    const auto ours = owner_.hello();
    auto request = connection_->bootstrap().castAs<wire::Gate>().helloRequest();
    Greeting greeting;
    greeting.purpose = purpose_of(options_.lane);
    greeting.hello = ours;
    write(greeting, request.initHello());
    connection_->add(request.send().then(
        [this, attempt, ours](capnp::Response<wire::Gate::HelloResults>&& response) {
            answered(attempt, ours, response.getAnswer());
        }));
}

void PeerLink::answered(Attempt attempt, const core::Hello& ours,
                        wire::HelloAnswer::Reader answer) {
    if (attempt != attempt_ || !connection_) return;
    if (answer.isRefused()) {
        const auto refusal = read(answer.getRefused());
        ++counters_.refused_by_peers;
        report(to_string(refusal));
        feed(link_event::Refused{attempt, refusal});
        return owner_.refused(*this, refusal);
    }
    auto theirs = read_guarded([&] { return answer.getHello(); });
    if (!theirs || !answer.isPeer()) {
        ++counters_.malformed_messages;
        return feed(link_event::Lost{attempt});
    }
    if (certificate_) theirs->hello.access = certificate_->identity.access;
    remote_.emplace(answer.getPeer());
    connection_->frames().set_limits(answer_limits);
    feed(link_event::Greeted{attempt, ours, *theirs});
    if (const auto refusal = machine_.refusal()) {
        counters_.refused.count(*refusal);
        report(to_string(*refusal));
    }
}

void PeerLink::act(const link_action::PublishUp& action) {
    in_flight_ = 0;
    words_in_flight_ = 0;
    suspect_ = false;
    last_sent_ = last_progress_ = steady_now();
    if (const auto timeout = action.theirs.hello.timing.election_timeout; timeout.count() > 0)
        timeout_of_peer_ = timeout;
    // It counts as connected once it has called back.
    not_reached(
        "it is reached, and does not reach this node: check the address that "
        "it has for this node, and the firewalls");
    id_ = owner_.link_up(*this, action.theirs);
    if (!id_) return feed(link_event::Lost{action.attempt});
    reported_.clear();
    has_reason_ = false;
    last_known_ = dialled_;
    if (const auto proven = std::exchange(unproven_, std::nullopt)) memory().worked(at_, *proven);
    last_known_at_ = at_;
    turn_ = at_ == options_.peer.address ? 0 : 1;  // the next attempt begins with that address
}

void PeerLink::act(const link_action::PublishDown& /*action*/) {
    if (const auto id = std::exchange(id_, std::nullopt)) owner_.link_down(*id);
}

void PeerLink::act(const link_action::Close& /*action*/) {
    if (dial_) dial_->cancel();
    dial_.reset();
    if (handshake_) handshake_->cancel();
    handshake_.reset();
    socket_.reset();
    secured_ = nullptr;
    certificate_.reset();
    remote_.reset();
    timeout_of_peer_.reset();
    if (connection_) {
        if (connection_->frames().is_malformed()) ++counters_.malformed_frames;
        if (const auto* cause = connection_->frames().forbidden()) owner_.forbidden(at_, cause);
        connection_->close();
        owner_.bury(std::move(connection_));
    }
}

void PeerLink::flush() {
    while (id_ && in_flight_ < options_.calls_in_flight_max &&
           words_in_flight_ < words_in_flight_max) {
        auto batch = outbox_.take_batch();
        if (batch.empty()) return;
        send(batch);
    }
}

void PeerLink::send(const std::vector<core::PeerMessage>& batch) {
    const auto words = words_of(batch);
    if (words > frame_words_max(options_.lane)) {  // the other side would not accept such a message
        counters_.messages_dropped += batch.size();
        return;
    }
    auto request = remote_->sendRequest(capnp::MessageSize{words, 0});
    write(batch, request.initMessages(static_cast<kj::uint>(batch.size())));
    last_sent_ = steady_now();
    if (in_flight_++ == 0) last_progress_ = last_sent_;
    words_in_flight_ += words;
    ++counters_.batches_sent;
    counters_.messages_sent += batch.size();
    connection_->add(request.send().then(
        [this, attempt = attempt_, words](capnp::Response<wire::Peer::SendResults>&&) {
            returned(attempt, words);
        }));
}

void PeerLink::returned(Attempt attempt, std::size_t words) {
    if (!id_ || attempt != attempt_) return;
    --in_flight_;
    words_in_flight_ -= words;
    suspect_ = false;
    last_progress_ = steady_now();
    flush();
}

// What has gathered here, that answers were received, travels with the next call.
void PeerLink::tick(core::Instant now) {
    if (!id_) return;
    if (in_flight_ == 0) {
        if (now - last_sent_ >= options_.ping_every) owner_.loop().run([&] { send({}); });
        return;
    }
    if (now - last_progress_ < options_.silence_max) return;
    // The peer is suspected first, not lost at once: this process may have been paused, with
    // answers waiting to be read.
    if (!std::exchange(suspect_, true)) return;
    ++counters_.lost_silent;
    lose();
}

// Reported once, until the problem changes or ends.
void PeerLink::report(std::string_view problem) {
    not_reached(std::string{problem});
    auto& reported = reported_[at_];
    if (reported == problem) return;
    reported = problem;
    owner_.log(LogLevel::warning,
               "peer " + std::to_string(peer().raw()) + " at " + at_ + ": " + reported);
}

}  // namespace mortise::transport
