// One inbound connection.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "transport/peers/gate.hpp"
#include "transport/peers/peer_connections.hpp"
#include "transport/rpc/handshake.hpp"
#include "transport/rpc/rpc_connection.hpp"
#include "transport/sockets/address.hpp"
#include "transport/tls/tls_credentials.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {

class InboundConnection;

// The owner of the inbound connections.
class InboundOwner {
public:
    virtual ~InboundOwner() = default;
    virtual KjLoop& loop() = 0;
    // The present credentials; empty without TLS.
    virtual const std::shared_ptr<const TlsCredentials>& credentials() = 0;
    virtual Admittance admit(InboundConnection& inbound, const std::optional<Greeting>& caller) = 0;
    virtual void received(InboundConnection& inbound, std::vector<core::PeerMessage> batch) = 0;
    virtual void malformed(InboundConnection& inbound) = 0;
    virtual void left(InboundConnection& inbound) = 0;
    // If all clients together have too many unread answers, those with the most are closed. The
    // caller may be among them.
    virtual void make_room() = 0;
    // The kept bytes of that client were `before`. Closes likewise.
    virtual void keeps(InboundConnection& inbound, std::size_t before) = 0;
};

class InboundConnection final : public Visit,
                                public std::enable_shared_from_this<InboundConnection> {
public:
    InboundConnection(Socket socket, asio::ip::address from, InboundOwner& owner,
                      core::Instant now);
    ~InboundConnection() override;
    InboundConnection(const InboundConnection&) = delete;
    InboundConnection& operator=(const InboundConnection&) = delete;

    // One of these two is called once, the former within KJ. An opened one must be destroyed
    // within KJ, too. Without TLS the caller may say its hello at once. With TLS it must
    // authenticate first; `failed` gets the reason if that fails.
    void open();
    void secure(const std::shared_ptr<const TlsCredentials>& credentials,
                std::function<void(const core::Error&)> failed);
    void close();
    // Sends the answers that were allowed to wait. Must be called now and then.
    void send_gathered() {
        if (connection_) connection_->send_gathered();
    }
    [[nodiscard]] bool is_waiting() const { return socket_.has_value(); }
    [[nodiscard]] bool is_open() const override;
    [[nodiscard]] bool is_congested() override;
    [[nodiscard]] const core::Identity* identity() const override {
        return certificate_ ? &certificate_->identity : nullptr;
    }
    [[nodiscard]] bool is_local() const override { return is_loopback(from_); }
    [[nodiscard]] std::string address() const override { return to_string(from_); }
    [[nodiscard]] bool is_stranger() const { return is_stranger_; }
    [[nodiscard]] bool is_client() const { return !is_stranger() && !id_; }
    [[nodiscard]] bool sent_bad_frame() const {
        return connection_ && connection_->frames().is_malformed();
    }
    // Why its message was forbidden; null if none was.
    [[nodiscard]] const char* forbidden() const {
        return connection_ ? connection_->frames().forbidden() : nullptr;
    }
    [[nodiscard]] std::size_t unsent_bytes() const {
        return connection_ ? connection_->unsent_bytes() : 0;
    }
    // What is kept for it until it asks for it.
    [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }
    // The certificate of a connection with TLS.
    [[nodiscard]] const PeerCertificate* certificate() const { return certificate_.get(); }
    [[nodiscard]] const asio::ip::address& from() const { return from_; }
    [[nodiscard]] core::Instant since() const { return since_; }
    // Called at intervals. True if a frame began more than `limit` ago and has not ended, if the
    // caller has not read its answers for that time, or if it has too many unread ones.
    [[nodiscard]] bool is_stuck(core::Instant now, core::Nanoseconds limit);
    // True if the caller has closed its side while reading is paused, so that reading does not
    // detect it.
    [[nodiscard]] bool is_gone() const { return connection_ && connection_->is_gone(); }
    // True if the caller waits for an answer that this node has not made yet.
    [[nodiscard]] bool waits() const {
        return connection_ && connection_->frames().is_awaited() &&
               connection_->unsent_bytes() == 0;
    }
    // When is_stuck() last found new data from it.
    [[nodiscard]] core::Instant heard_at() const { return heard_at_; }

    // The caller said a valid hello.
    void become_client(FrameLimits limits);
    void become_peer(core::NodeId peer, ConnectionId id, Lane lane);
    // Not set: it is no client node, or has said nothing yet.
    [[nodiscard]] core::ClientId client_node() const { return client_node_; }
    [[nodiscard]] core::NodeId peer() const { return peer_; }
    [[nodiscard]] std::optional<ConnectionId> id() const { return id_; }

    // Keeps a message that arrived before its peer was up. Takes the message, unless too many are
    // kept.
    bool keep_early(core::PeerMessage& message, std::size_t bytes_max, core::Instant now);
    std::vector<core::PeerMessage> take_early();
    // Since when the oldest such message waits.
    [[nodiscard]] std::optional<core::Instant> early_since() const;

private:
    void open(kj::Own<SocketStream> stream);
    [[nodiscard]] bool frame_is_stuck(core::Instant now, core::Nanoseconds limit);
    [[nodiscard]] bool reader_is_stuck(core::Instant now, core::Nanoseconds limit);
    [[nodiscard]] bool pause_is_stuck(core::Instant now, core::Nanoseconds limit);
    Admittance hello(const std::optional<Greeting>& caller) override {
        return owner_.admit(*this, caller);
    }
    void received(Lane lane, MessageStream::Batch batch);
    void malformed() override { owner_.malformed(*this); }
    void hang_up() override { owner_.left(*this); }
    void speaks_as(core::ClientId client) override { client_node_ = client; }
    void keeps(std::size_t bytes) override {
        if (is_open()) owner_.keeps(*this, std::exchange(kept_bytes_, bytes));
    }

    std::optional<Socket> socket_;  // until it is opened or secured
    asio::ip::address from_;
    InboundOwner& owner_;
    bool is_stranger_ = true;
    core::Instant since_;
    core::ClientId client_node_;
    core::NodeId peer_;
    std::optional<ConnectionId> id_;
    std::vector<core::PeerMessage> early_;
    std::size_t early_bytes_ = 0;
    std::size_t kept_bytes_ = 0;
    core::Instant early_since_;
    std::uint64_t frame_seen_ = 0;
    core::Instant frame_since_;
    core::Instant heard_at_;
    std::uint64_t sent_seen_ = 0;
    core::Instant read_at_;
    std::uint64_t pause_seen_ = 0;
    core::Instant paused_since_;
    std::shared_ptr<Handshake> handshake_;
    std::unique_ptr<PeerCertificate> certificate_;
    std::unique_ptr<RpcConnection> connection_;  // empty during the handshake
};

}  // namespace mortise::transport
