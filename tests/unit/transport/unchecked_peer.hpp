// The other side of a connection with TLS, by hand: it presents any certificate, says any hello,
// and checks nothing. So whatever is refused is refused by the side that is tested.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <asio/ssl/stream.hpp>

#include "tests/unit/transport/certificate_by_hand.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "transport/peer.capnp.h"
#include "transport/peers/gate.hpp"
#include "transport/rpc/handshake.hpp"
#include "transport/rpc/rpc_connection.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace mortise::transport::test {

inline Greeting greeting_of(core::Hello hello, Purpose purpose = Purpose::replication) {
    Greeting greeting;
    greeting.purpose = purpose;
    greeting.hello = std::move(hello);
    return greeting;
}
inline Greeting greeting_of_client() {
    return greeting_of({}, Purpose::client);
}

// Sessions that present these papers, or nothing, and take whatever the other side presents.
class UncheckedTls {
public:
    explicit UncheckedTls(const Papers& papers, int newest_version = TLS1_3_VERSION) {
        auto* const context = context_.get();
        SSL_CTX_set_max_proto_version(context, newest_version);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
        SSL_CTX_set_security_level(context, 0);
        if (!papers) return;
        const auto chain = certificates_from(papers->certificate);
        SSL_CTX_use_certificate(context, chain->front().get());
        for (std::size_t i = 1; i < chain->size(); ++i)
            SSL_CTX_add1_chain_cert(context, (*chain)[i].get());
        SSL_CTX_use_PrivateKey(context, key_from(papers->key.text())->get());
    }
    // The caller owns it.
    [[nodiscard]] SSL* session() const { return SSL_new(context_.get()); }

private:
    openssl::SessionContext context_{SSL_CTX_new(TLS_method())};
};

// One connection of it. The loop outlives its use; close() ends that.
class UncheckedConnection : public std::enable_shared_from_this<UncheckedConnection> {
public:
    using Stream = asio::ssl::stream<asio::ip::tcp::socket>;
    using Side = asio::ssl::stream_base::handshake_type;

    UncheckedConnection(KjLoop& loop, asio::ip::tcp::socket socket, const UncheckedTls& tls)
        : loop_{loop}, stream_{std::move(socket), tls.session()} {}

    // `done` is told whether the other side was satisfied, as far as this side can know: in TLS 1.3
    // the side that calls does not wait for it.
    void secure(Side side, std::function<void(bool)> done) {
        stream_.async_handshake(side, [self = shared_from_this(),
                                       done = std::move(done)](const asio::error_code& error) {
            if (self->is_closed_) return;
            self->is_ended_ = bool(error);
            done(!error);
        });
    }
    // After that, within KJ.
    RpcConnection& open(capnp::rpc::twoparty::Side side,
                        kj::Maybe<capnp::Capability::Client> offered = nullptr) {
        const FrameLimits limits{.words_max = forwarding_frame_words_max,
                                 .rpc = {.questions_max = questions_max}};
        rpc_ = std::make_unique<RpcConnection>(
            kj::heap<AsioStream<Stream>>(loop_, std::move(stream_)), side, kj::mv(offered), limits,
            [this] { is_ended_ = true; });
        return *rpc_;
    }
    // Within KJ.
    void close() {
        is_closed_ = true;
        asio::error_code ignored;
        if (!rpc_) stream_.lowest_layer().close(ignored);
        if (rpc_) rpc_->close();
        rpc_.reset();
    }
    // Something of the other side waits to be read.
    [[nodiscard]] bool has_bytes() { return stream_.lowest_layer().available() > 0; }
    // The other side has ended it.
    [[nodiscard]] bool is_ended() const { return is_ended_; }
    // By that alert of TLS, in words; empty if by none.
    [[nodiscard]] std::string alert() const { return rpc_ ? tls_alert(rpc_->read_error()) : ""; }

private:
    KjLoop& loop_;
    Stream stream_;
    std::unique_ptr<RpcConnection> rpc_;
    bool is_ended_ = false;
    bool is_closed_ = false;
};

// Connects at once; it waits for begin() with everything else.
class UncheckedCaller {
public:
    UncheckedCaller(asio::io_context& io, const std::string& address, const Papers& papers,
                    int newest_version = TLS1_3_VERSION)
        : loop_{io, {}, [] {}} {
        asio::ip::tcp::socket socket{io};
        socket.connect(endpoint_of(address));
        connection_ = std::make_shared<UncheckedConnection>(loop_, std::move(socket),
                                                            UncheckedTls{papers, newest_version});
    }
    ~UncheckedCaller() noexcept {
        loop_.run([this] {
            gate_.reset();
            peer_.reset();
            member_.reset();
            connection_->close();
        });
    }
    UncheckedCaller(const UncheckedCaller&) = delete;
    UncheckedCaller& operator=(const UncheckedCaller&) = delete;

    // Secures the connection, and says that hello.
    void begin(const Greeting& greeting) {
        connection_->secure(asio::ssl::stream_base::client, [this, greeting](bool is_secured) {
            if (!is_secured) return;
            loop_.run([&] {
                rpc_ = &connection_->open(capnp::rpc::twoparty::Side::CLIENT);
                gate_.emplace(rpc_->bootstrap().castAs<wire::Gate>());
            });
            greet(greeting);
        });
    }
    // Says another hello.
    void greet(const Greeting& greeting) {
        refusal_.reset();
        loop_.run([&] {
            auto request = gate_->helloRequest();
            write(greeting, request.initHello());
            rpc_->add(request.send().then([this](auto&& response) { take(response.getAnswer()); }));
        });
    }
    [[nodiscard]] bool is_accepted() const { return peer_ || member_; }
    [[nodiscard]] std::optional<Refusal> refusal() const { return refusal_; }
    [[nodiscard]] bool is_ended() const { return connection_->is_ended(); }
    // Whether the answer is known, or that none will come.
    [[nodiscard]] bool is_answered() const { return is_accepted() || refusal_ || is_ended(); }
    [[nodiscard]] std::string alert() const { return connection_->alert(); }

private:
    void take(wire::HelloAnswer::Reader answer) {
        if (answer.isRefused()) refusal_ = read(answer.getRefused());
        if (answer.isPeer()) peer_.emplace(answer.getPeer());
        if (answer.isMember()) member_.emplace(answer.getMember());
    }

    KjLoop loop_;
    std::shared_ptr<UncheckedConnection> connection_;
    RpcConnection* rpc_ = nullptr;
    std::optional<wire::Gate::Client> gate_;
    std::optional<wire::Peer::Client> peer_;
    std::optional<wire::Member::Client> member_;
    std::optional<Refusal> refusal_;
};

// Accepts each connection, and answers each hello with its own.
class UncheckedServer {
public:
    UncheckedServer(asio::io_context& io, const std::string& address, const Papers& papers,
                    Greeting own)
        : loop_{io, {}, [] {}},
          acceptor_{io, endpoint_of(address)},
          tls_{papers},
          own_{std::move(own)} {
        accept();
    }
    ~UncheckedServer() noexcept {
        acceptor_.close();
        loop_.run([this] {
            for (const auto& connection : connections_)
                connection->close();
        });
    }
    UncheckedServer(const UncheckedServer&) = delete;
    UncheckedServer& operator=(const UncheckedServer&) = delete;

    // The connections wait for go_on() before they are secured.
    void hold() { is_held_ = true; }
    // On how many of those the caller has begun its handshake.
    [[nodiscard]] std::size_t begun() const {
        std::size_t begun = 0;
        for (auto i = secured_from_; i < connections_.size(); ++i)
            begun += connections_[i]->has_bytes() ? 1 : 0;
        return begun;
    }
    void go_on() {
        is_held_ = false;
        for (auto i = secured_from_; i < connections_.size(); ++i)
            secure(*connections_[i]);
        secured_from_ = connections_.size();
    }

    // On how many the caller was satisfied with the certificate, and on how many it was not.
    [[nodiscard]] std::size_t satisfied() const { return satisfied_; }
    [[nodiscard]] std::size_t unsatisfied() const { return unsatisfied_; }
    [[nodiscard]] const std::vector<Greeting>& hellos() const { return hellos_; }
    // The connections that the callers have not ended.
    [[nodiscard]] std::size_t open() const {
        std::size_t open = 0;
        for (const auto& connection : connections_)
            open += connection->is_ended() ? 0 : 1;
        return open;
    }

private:
    struct AnyMember final : wire::Member::Server {};

    // NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
    class Gate final : public wire::Gate::Server {
    public:
        explicit Gate(UncheckedServer& server) : server_{server} {}
        kj::Promise<void> hello(HelloContext context) override {
            const auto heard = read(context.getParams().getHello());
            if (heard) server_.hellos_.push_back(*heard);
            const auto lane = heard ? lane_of(heard->purpose) : std::nullopt;
            auto answer = context.getResults().initAnswer();
            write(server_.own_, answer.initHello());
            if (lane)
                answer.setPeer(make_peer());
            else
                answer.setMember(kj::heap<AnyMember>());
            return kj::READY_NOW;
        }

    private:
        UncheckedServer& server_;
    };

    void accept() {
        acceptor_.async_accept([this, alive = std::weak_ptr{alive_}](const asio::error_code& error,
                                                                     asio::ip::tcp::socket socket) {
            if (error || alive.expired()) return;
            connections_.push_back(
                std::make_shared<UncheckedConnection>(loop_, std::move(socket), tls_));
            if (!is_held_) go_on();
            accept();
        });
    }
    void secure(UncheckedConnection& connection) {
        connection.secure(asio::ssl::stream_base::server, [this, &connection](bool is_secured) {
            ++(is_secured ? satisfied_ : unsatisfied_);
            if (!is_secured) return;
            loop_.run([&] {
                // NOLINTNEXTLINE(cppcoreguidelines-slicing): every client is the same reference
                connection.open(capnp::rpc::twoparty::Side::SERVER,
                                capnp::Capability::Client{kj::heap<Gate>(*this)});
            });
        });
    }

    KjLoop loop_;
    asio::ip::tcp::acceptor acceptor_;
    UncheckedTls tls_;
    Greeting own_;
    std::vector<std::shared_ptr<UncheckedConnection>> connections_;
    std::vector<Greeting> hellos_;
    std::size_t secured_from_ = 0;
    std::size_t satisfied_ = 0;
    std::size_t unsatisfied_ = 0;
    bool is_held_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // for a handler that comes later
};

}  // namespace mortise::transport::test

#pragma GCC diagnostic pop
