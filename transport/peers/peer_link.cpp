#include "transport/peers/peer_link.hpp"

#include <utility>

#include <asio/error.hpp>

#include "transport/rpc/send_call.hpp"
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
constexpr FrameLimits answer_limits{.words_max = peer_frame_words_max};
// The limit of unanswered calls in words. Long calls are answered at once (MessageStream).
constexpr std::size_t words_in_flight_max = 4 * send_bytes_max / word_bytes;

LinkOptions link_options(const PeerLinkOptions& options) {
    LinkOptions link;
    link.expected = options.peer.id;
    link.hello_timeout = options.hello_timeout;
    link.connect_timeout = options.hello_timeout;
    return link;
}

LinkCalls::Limits call_limits(const PeerLinkOptions& options) {
    return {options.calls_in_flight_max, words_in_flight_max, options.silence_max,
            options.ping_every};
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
    cancel();
}

const PeerCertificate* PeerLink::certificate() const {
    return std::visit(
        [](const auto& stage) -> const PeerCertificate* {
            if constexpr (requires { stage.certificate; }) return stage.certificate.get();
            return nullptr;
        },
        stage_);
}

link_stage::Up* PeerLink::admitted() {
    auto* const up = in<link_stage::Up>();
    return up != nullptr && up->id ? up : nullptr;
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
    reports_.note_reason();
    owner_.unreached(*this, why);
}

// The time of the present step is over, if there is one. During a pause between attempts there is
// none.
void PeerLink::note_silence() {
    if (in<link_stage::Dialling>() != nullptr)
        not_reached(std::string{no_answer_in_words});
    else if (in<link_stage::Handshaking>() != nullptr || in<link_stage::Introducing>() != nullptr)
        not_reached(says_nothing);
}

void PeerLink::act(const link_action::Connect& action) {
    attempt_ = action.attempt;
    const auto target = plan_.next(options_.peer, options_.hello_timeout, memory());
    stage_ = link_stage::Dialling{
        Dial::start(owner_.loop().io(), target,
                    [this, attempt = attempt_](const asio::error_code& error, Socket socket) {
                        connected(attempt, error, std::move(socket));
                    })};
}

EndpointMemory& PeerLink::memory() {
    return asio::use_service<Resolver>(owner_.loop().io()).memory();
}

void PeerLink::connected(Attempt attempt, const asio::error_code& error, Socket socket) {
    stage_ = link_stage::Idle{};
    if (error) {
        not_reached(why_not_dialled(error));
        return feed(link_event::ConnectFailed{attempt});
    }
    // Until something comes back.
    if (!reports_.has_reason()) not_reached(says_nothing);
    asio::error_code gone;
    const auto at = socket.remote_endpoint(gone);
    if (!gone) plan_.connected(at);
    if (!owner_.credentials()) {
        const auto shared = std::make_shared<Socket>(std::move(socket));
        stage_ =
            link_stage::Connected{[shared](KjLoop& loop) {
                                      return kj::Own<SocketStream>{
                                          kj::heap<AsioStream<Socket>>(loop, std::move(*shared))};
                                  },
                                  nullptr};
        return feed(link_event::Connected{attempt});
    }
    stage_ = link_stage::Handshaking{
        Handshake::start(std::move(socket), owner_.credentials(), Handshake::Side::connects,
                         [this, attempt](core::Result<Handshake::Secured> result) {
                             secured(attempt, std::move(result));
                         })};
}

// The node at this address must be the peer: a name or an address proves nothing.
void PeerLink::secured(Attempt attempt, core::Result<Handshake::Secured> secured) {
    stage_ = link_stage::Idle{};
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
    stage_ = link_stage::Connected{std::move(secured->take_stream), std::move(secured->peer)};
    feed(link_event::Connected{attempt});
}

// The other side checks our certificate after the handshake is done on our side: its alert arrives
// here.
void PeerLink::ended(Attempt attempt) {
    if (const auto* const unanswered = in<link_stage::Introducing>()) {
        const auto alert = tls_alert(unanswered->connection->read_error());
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
    auto* const connected = in<link_stage::Connected>();
    if (connected == nullptr) return;  // an event of the former connection has stopped the link
    auto connection = std::make_unique<RpcConnection>(
        connected->take_stream(owner_.loop()), capnp::rpc::twoparty::Side::CLIENT, nullptr,
        hello_limits, [this, attempt = action.attempt] { ended(attempt); });
    auto certificate = std::move(connected->certificate);
    stage_ = link_stage::Introducing{std::move(certificate), std::move(connection)};
    say_hello(*in<link_stage::Introducing>()->connection, action.attempt);
}

void PeerLink::say_hello(RpcConnection& connection, Attempt attempt) {
    const auto ours = owner_.hello();
    auto request = connection.bootstrap().castAs<wire::Gate>().helloRequest();
    Greeting greeting;
    greeting.purpose = purpose_of(options_.lane);
    greeting.hello = ours;
    write(greeting, request.initHello());
    connection.add(request.send().then(
        [this, attempt, ours](capnp::Response<wire::Gate::HelloResults>&& response) {
            answered(attempt, ours, response.getAnswer());
        }));
}

void PeerLink::answered(Attempt attempt, const core::Hello& ours,
                        wire::HelloAnswer::Reader answer) {
    auto* const introducing = in<link_stage::Introducing>();
    if (attempt != attempt_ || introducing == nullptr) return;
    if (answer.isRefused()) {
        const auto refusal = read(answer.getRefused());
        ++counters_.refused_by_peers;
        // An empty node is nobody's member before it is added: it says why it is not ready.
        const bool is_expected = refusal == Refusal::unknown_node && ours.is_empty();
        report(to_string(refusal), is_expected ? LogLevel::debug : LogLevel::warning);
        feed(link_event::Refused{attempt, refusal});
        return owner_.refused(*this, refusal);
    }
    auto theirs = read_guarded([&] { return answer.getHello(); });
    auto& frames = introducing->connection->frames();
    if (!theirs || !answer.isPeer() || !frames.has_offer()) {
        ++counters_.malformed_messages;
        return feed(link_event::Lost{attempt});
    }
    if (introducing->certificate) theirs->hello.access = introducing->certificate->identity.access;
    introducing->remote.emplace(answer.getPeer());
    frames.set_limits(answer_limits);
    frames.take_answers([this, attempt](std::uint32_t question) { returned(attempt, question); });
    feed(link_event::Greeted{attempt, ours, *theirs});
    if (const auto refusal = machine_.refusal()) {
        counters_.refused.count(*refusal);
        report(to_string(*refusal));
    }
}

void PeerLink::act(const link_action::PublishUp& action) {
    auto former = std::get<link_stage::Introducing>(std::exchange(stage_, link_stage::Idle{}));
    std::optional<core::Nanoseconds> timeout;
    if (const auto its = action.theirs.hello.timing.election_timeout; its.count() > 0)
        timeout = its;
    stage_ = link_stage::Up{std::move(former.certificate), std::move(former.connection),
                            *std::move(former.remote), timeout,
                            LinkCalls{call_limits(options_), steady_now()}};
    // It counts as connected once it has called back.
    not_reached(
        "it is reached, and does not reach this node: check the address that "
        "it has for this node, and the firewalls");
    const auto id = owner_.link_up(*this, action.theirs);
    if (!id) return feed(link_event::Lost{action.attempt});
    auto* const up = in<link_stage::Up>();
    if (up == nullptr) return owner_.link_down(*id);  // it has stopped the link
    up->id = id;
    reports_.clear();
    plan_.proven(options_.peer, memory());
}

void PeerLink::act(const link_action::PublishDown& /*action*/) {
    auto* const up = in<link_stage::Up>();
    if (up == nullptr) return;
    if (const auto id = std::exchange(up->id, std::nullopt)) owner_.link_down(*id);
}

void PeerLink::act(const link_action::Close& /*action*/) {
    cancel();
    auto connection = take_connection();
    stage_ = link_stage::Idle{};
    if (!connection) return;
    if (connection->frames().is_malformed()) ++counters_.malformed_frames;
    if (const auto* cause = connection->frames().forbidden())
        owner_.forbidden(plan_.address(), cause);
    connection->close();
    owner_.bury(std::move(connection));
}

void PeerLink::cancel() {
    if (const auto* const dialling = in<link_stage::Dialling>()) dialling->dial->cancel();
    if (const auto* const begun = in<link_stage::Handshaking>()) begun->handshake->cancel();
}

// Null if there is none.
std::unique_ptr<RpcConnection> PeerLink::take_connection() {
    if (auto* const introducing = in<link_stage::Introducing>())
        return std::move(introducing->connection);
    if (auto* const up = in<link_stage::Up>()) return std::move(up->connection);
    return nullptr;
}

void PeerLink::flush() {
    auto* const up = admitted();
    while (up != nullptr && up->calls.has_room()) {
        auto batch = outbox_.take_batch();
        if (batch.empty()) return;
        send(*up, batch);
    }
}

void PeerLink::send(link_stage::Up& up, const std::vector<core::PeerMessage>& batch) {
    const auto words = words_of(batch);
    if (words > frame_words_max(options_.lane)) {  // the other side would not accept such a message
        counters_.messages_dropped += batch.size();
        return;
    }
    const auto call = up.calls.sent(words, steady_now());
    up.connection->frames().send(send_questions_from + static_cast<std::uint32_t>(call), batch,
                                 words);
    ++counters_.batches_sent;
    counters_.messages_sent += batch.size();
}

void PeerLink::returned(Attempt attempt, std::uint32_t question) {
    auto* const up = admitted();
    if (up == nullptr || attempt != attempt_) return;
    up->calls.answered(question - send_questions_from, steady_now());
    flush();
}

// What has gathered here, that answers were received, travels with the next call.
void PeerLink::tick(core::Instant now) {
    auto* const up = admitted();
    if (up == nullptr) return;
    switch (up->calls.tick(now)) {
        case LinkCalls::Need::nothing: return;
        case LinkCalls::Need::ping: return owner_.loop().run([&] { send(*up, {}); });
        case LinkCalls::Need::close: ++counters_.lost_silent; return lose();
    }
}

// Reported once, until the problem changes or ends.
void PeerLink::report(std::string_view problem, LogLevel level) {
    not_reached(std::string{problem});
    const auto& address = plan_.address();
    if (!reports_.note_problem(address, problem)) return;
    owner_.log(level, "peer " + std::to_string(peer().raw()) + " at " + address + ": " +
                          std::string{problem});
}

}  // namespace mortise::transport
