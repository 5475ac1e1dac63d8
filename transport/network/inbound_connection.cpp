#include "transport/network/inbound_connection.hpp"

#include <algorithm>
#include <utility>

#include "transport/peers/outbox.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::transport {
namespace {

// A valid hello takes four frames.
constexpr FrameLimits stranger_limits{.words_max = hello_frame_words_max,
                                      .frames_max = 16,
                                      .unsent_bytes_max = unread_bytes_paused,
                                      .rpc = {.questions_max = 4, .only_hello = true}};

// Answers to a peer are short, and it has a few calls in progress at most: a peer that reads is
// never paused, however much it sends.
FrameLimits peer_limits(Lane lane) {
    return {.words_max = frame_words_max(lane),
            .unsent_bytes_max = peer_unread_bytes_paused,
            .rpc = {.questions_max = questions_max, .is_peer = true}};
}

}  // namespace

InboundConnection::InboundConnection(Socket socket, asio::ip::address from, InboundOwner& owner,
                                     core::Instant now)
    : socket_{std::move(socket)},
      from_{std::move(from)},
      owner_{owner},
      since_{now},
      frame_since_{now},
      heard_at_{now},
      read_at_{now},
      paused_since_{now} {}

void InboundConnection::open() {
    auto socket = *std::exchange(socket_, std::nullopt);
    open(kj::heap<AsioStream<Socket>>(owner_.loop(), std::move(socket)));
}

void InboundConnection::open(kj::Own<SocketStream> stream) {
    connection_ = std::make_unique<RpcConnection>(
        kj::mv(stream), capnp::rpc::twoparty::Side::SERVER,
        // NOLINTNEXTLINE(cppcoreguidelines-slicing): every client is the same reference, typed.
        capnp::Capability::Client{make_gate(weak_from_this())}, stranger_limits,
        [this] { owner_.left(*this); });
}

void InboundConnection::secure(const std::shared_ptr<const TlsCredentials>& credentials,
                               std::function<void(const core::Error&)> failed) {
    auto socket = *std::exchange(socket_, std::nullopt);
    handshake_ = Handshake::start(
        std::move(socket), credentials, Handshake::Side::accepts,
        [this, failed = std::move(failed)](core::Result<Handshake::Secured> secured) {
            if (!secured) return failed(secured.error());
            // The credentials may have changed since the handshake began.
            if (auto believed = owner_.credentials()->verify(*secured->peer, false); !believed)
                return failed(believed.error());
            certificate_ = std::move(secured->peer);
            owner_.loop().run([&] { open(secured->take_stream(owner_.loop())); });
        });
}

InboundConnection::~InboundConnection() {
    if (handshake_) handshake_->cancel();
}

void InboundConnection::close() {
    socket_.reset();
    if (handshake_) handshake_->cancel();
    if (connection_) connection_->close();
}

// Nothing is done any more for a connection that is about to be closed.
bool InboundConnection::is_open() const {
    return connection_ && !connection_->is_closed() &&
           connection_->unsent_bytes() <= unread_bytes_max;
}

bool InboundConnection::is_congested() {
    owner_.make_room();
    return !is_open() || connection_->unsent_bytes() > unread_bytes_congested;
}

// Every check must run each time, because each remembers what it saw.
bool InboundConnection::is_stuck(core::Instant now, core::Nanoseconds limit) {
    if (!connection_) return false;
    const bool frame = frame_is_stuck(now, limit);
    const bool reader = reader_is_stuck(now, limit);
    const bool pause = pause_is_stuck(now, limit);
    return frame || reader || pause;
}

bool InboundConnection::frame_is_stuck(core::Instant now, core::Nanoseconds limit) {
    const auto& frames = connection_->frames();
    if (frames.frames() != frame_seen_) heard_at_ = now;
    if (!frames.is_inside_frame() || frames.frames() != frame_seen_) {
        frame_seen_ = frames.frames();
        frame_since_ = now;
        return false;
    }
    return now - frame_since_ > limit;
}

bool InboundConnection::reader_is_stuck(core::Instant now, core::Nanoseconds limit) {
    const auto unread = connection_->unsent_bytes();
    const auto sent = connection_->sent_bytes();
    if (unread > unread_bytes_max) return true;
    if (unread == 0 || sent != sent_seen_) read_at_ = now;
    sent_seen_ = sent;
    return now - read_at_ > limit;
}

// A few bytes at long intervals do not count as reading.
bool InboundConnection::pause_is_stuck(core::Instant now, core::Nanoseconds limit) {
    const auto& frames = connection_->frames();
    if (!frames.is_paused() || frames.pauses() != pause_seen_) {
        pause_seen_ = frames.pauses();
        paused_since_ = now;
        return false;
    }
    return now - paused_since_ > limit;
}

bool InboundConnection::keep_early(core::PeerMessage& message, std::size_t bytes_max,
                                   core::Instant now) {
    const auto bytes = wire_words(message) * word_bytes;
    if (early_bytes_ + bytes > bytes_max) return false;
    if (early_.empty()) early_since_ = now;
    early_bytes_ += bytes;
    early_.push_back(std::move(message));
    return true;
}

std::vector<core::PeerMessage> InboundConnection::take_early() {
    early_bytes_ = 0;
    return std::exchange(early_, {});
}

std::optional<core::Instant> InboundConnection::early_since() const {
    return early_.empty() ? std::nullopt : std::optional{early_since_};
}

void InboundConnection::become_client(FrameLimits limits) {
    is_stranger_ = false;
    connection_->frames().set_limits(limits);
}

void InboundConnection::become_peer(core::NodeId peer, ConnectionId id, Lane lane) {
    is_stranger_ = false;
    peer_ = peer;
    id_ = id;
    connection_->frames().set_limits(peer_limits(lane));
    connection_->frames().take_sends(
        [this, lane](MessageStream::Batch batch) { received(lane, std::move(batch)); });
}

void InboundConnection::received(Lane lane, MessageStream::Batch batch) {
    if (!is_open()) return;
    const bool in_lane = batch && std::ranges::all_of(*batch, [lane](const auto& message) {
                             return lane_of(message) == lane;
                         });
    if (!in_lane) return owner_.malformed(*this);
    if (!batch->empty()) owner_.received(*this, *std::move(batch));
}

}  // namespace mortise::transport
