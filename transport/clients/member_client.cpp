#include "transport/clients/member_client.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "transport/rpc/handshake.hpp"
#include "transport/rpc/rpc_connection.hpp"
#include "transport/sockets/address.hpp"
#include "transport/sockets/dial.hpp"
#include "transport/sockets/resolver.hpp"
#include "transport/tls/tls_credentials.hpp"
#include "transport/tls/tls_peer.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/message_limits.hpp"

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace mortise::transport {
namespace {

core::Error failure(std::errc code, std::string what) {
    return {std::make_error_code(code), std::move(what)};
}
core::Error nonsense() {
    return failure(std::errc::bad_message, "the member's answer is invalid");
}

}  // namespace

class MemberClient::Impl final : public std::enable_shared_from_this<Impl> {
public:
    Impl(asio::io_context& io, core::ClusterId cluster,
         std::shared_ptr<const TlsCredentials> credentials, Log log)
        : loop_{io, std::move(log), [this] { settle(); }},
          timer_{io},
          cluster_{cluster},
          credentials_{std::move(credentials)} {}

    void connect(const std::string& address, core::Nanoseconds timeout, Done<core::Hello> done);
    core::Result<void> set_credentials(std::shared_ptr<const TlsCredentials> credentials);
    [[nodiscard]] core::NodeId certified() const {
        return certificate_ ? certificate_->identity.node : core::NodeId{};
    }
    void close();

    // Sends a request to the member, now or when earlier ones were answered, and passes on what
    // `take` reads from the response.
    template <class T, class Make, class Take>
    void call(Done<T> done, Make make, Take take);
    // Runs `what` in a later turn, when KJ is not on the stack any more.
    void later(std::function<void()> what) {
        if (!closed_) to_call_.push_back(std::move(what));
    }

private:
    template <class T, class Make, class Take>
    void ask(Done<T> done, Make make, Take take);
    template <class T>
    void not_answered(Done<T> done, const char* what) {
        later([done, what] { done(failure(std::errc::connection_reset, what)); });
    }
    void answered();
    void connected(const asio::error_code& error, Socket socket);
    void secured(core::Result<Handshake::Secured> secured);
    [[nodiscard]] core::Error not_a_node(const core::Identity& identity) const;
    void say_hello(kj::Own<SocketStream> stream);
    void greeted(wire::HelloAnswer::Reader answer);
    void give_up(core::Error error);
    void broken();
    void settle();
    [[nodiscard]] EndpointMemory& memory() {
        return asio::use_service<Resolver>(loop_.io()).memory();
    }
    // Runs `work` for a call of the program. Callbacks are called later, never from within it.
    template <class Work>
    void run(Work work);

    KjLoop loop_;
    asio::steady_timer timer_;
    core::ClusterId cluster_;
    std::shared_ptr<const TlsCredentials> credentials_;
    std::string address_;
    std::shared_ptr<Dial> dial_;
    std::optional<asio::ip::tcp::endpoint> dialled_;
    std::shared_ptr<Handshake> handshake_;
    std::unique_ptr<PeerCertificate> certificate_;  // of the member, with TLS
    Done<core::Hello> connecting_;
    std::unique_ptr<RpcConnection> connection_;
    std::optional<wire::Member::Client> member_;
    std::deque<std::function<void()>> to_call_;
    // The member closes a connection with too many open questions.
    std::size_t in_flight_ = 0;
    std::deque<std::function<void()>> waiting_;
    bool closed_ = false;
    bool settling_ = false;
    bool in_call_ = false;
};

void MemberClient::Impl::connect(const std::string& address, core::Nanoseconds timeout,
                                 Done<core::Hello> done) {
    address_ = address;
    connecting_ = std::move(done);
    timer_.expires_after(timeout);
    timer_.async_wait([self = weak_from_this()](const asio::error_code& error) {
        const auto alive = self.lock();
        if (error || !alive) return;
        alive->loop_.run([&] {
            alive->give_up(failure(std::errc::timed_out, alive->address_ + " does not answer"));
        });
    });
    DialTarget target{address};
    target.patience = timeout;
    dial_ = Dial::start(loop_.io(), target, [this](const asio::error_code& error, Socket socket) {
        connected(error, std::move(socket));
    });
}

void MemberClient::Impl::connected(const asio::error_code& error, Socket socket) {
    dial_.reset();
    loop_.run([&] {
        if (error)
            return give_up(
                {to_std(error), "cannot connect to " + address_ + ": " + error.message()});
        asio::error_code gone;
        const auto at = socket.remote_endpoint(gone);
        if (!gone) dialled_ = at;
        if (!credentials_) return say_hello(kj::heap<AsioStream<Socket>>(loop_, std::move(socket)));
        handshake_ = Handshake::start(
            std::move(socket), credentials_, Handshake::Side::connects,
            [this](core::Result<Handshake::Secured> result) { secured(std::move(result)); });
    });
}

void MemberClient::Impl::secured(core::Result<Handshake::Secured> secured) {
    handshake_.reset();
    loop_.run([&] {
        if (!secured)
            return give_up({secured.error().code, address_ + ": " + secured.error().what});
        const auto& identity = secured->peer->identity;
        const bool is_expected =
            identity.node.is_set() && identity.cluster == credentials_->identity().cluster;
        if (!is_expected) return give_up(not_a_node(identity));
        // The credentials may have changed since the handshake began.
        if (auto believed = credentials_->verify(*secured->peer, true); !believed)
            return give_up({believed.error().code, address_ + ": " + believed.error().what});
        certificate_ = std::move(secured->peer);
        say_hello(secured->take_stream(loop_));
    });
}

core::Result<void> MemberClient::Impl::set_credentials(
    std::shared_ptr<const TlsCredentials> credentials) {
    credentials_ = std::move(credentials);
    if (!certificate_) return {};
    return credentials_->verify(*certificate_, true);
}

core::Error MemberClient::Impl::not_a_node(const core::Identity& identity) const {
    return failure(std::errc::permission_denied,
                   address_ + ": the certificate there is that of " + identity.name() +
                       " of cluster " + identity.cluster + ", not of a node of cluster " +
                       credentials_->identity().cluster);
}

void MemberClient::Impl::say_hello(kj::Own<SocketStream> stream) {
    connection_ =
        std::make_unique<RpcConnection>(kj::mv(stream), capnp::rpc::twoparty::Side::CLIENT, nullptr,
                                        FrameLimits{answer_frame_words_max}, [this] { broken(); });
    auto request = connection_->bootstrap().castAs<wire::Gate>().helloRequest();
    Greeting greeting;
    greeting.purpose = Purpose::client;
    greeting.hello.cluster = cluster_;
    write(greeting, request.initHello());
    connection_->add(
        request.send().then([this](capnp::Response<wire::Gate::HelloResults>&& response) {
            greeted(response.getAnswer());
        }));
}

void MemberClient::Impl::greeted(wire::HelloAnswer::Reader answer) {
    if (!connecting_) return;  // cancelled
    if (answer.isRefused()) {
        const auto refusal = read(answer.getRefused());
        return give_up(
            {make_error_code(refusal), address_ + ": " + std::string{to_string(refusal)}});
    }
    const auto greeting = read_guarded([&] { return answer.getHello(); });
    if (!greeting || !answer.isMember()) return give_up(nonsense());
    member_.emplace(answer.getMember());
    timer_.cancel();
    if (dialled_) memory().worked(address_, *dialled_);
    later([this, hello = greeting->hello] { std::exchange(connecting_, nullptr)(hello); });
}

void MemberClient::Impl::give_up(core::Error error) {
    timer_.cancel();
    if (dial_) dial_->cancel();
    if (handshake_) handshake_->cancel();
    if (connection_) connection_->close();
    if (member_ || !connecting_) return;
    // Another endpoint of the address may be that of a member.
    if (dialled_) memory().failed(address_, *dialled_);
    later([done = std::exchange(connecting_, nullptr), error = std::move(error)] { done(error); });
}

void MemberClient::Impl::broken() {
    if (member_) return;  // RPC fails all pending calls
    auto error = failure(std::errc::connection_reset, "the connection to " + address_ + " broke");
    if (!credentials_)
        error.what +=
            "; a cluster with TLS wants a certificate, its key and the authorities "
            "(--cert, --key, --ca)";
    if (const auto alert = tls_alert(connection_->read_error()); !alert.empty())
        error = failure(std::errc::permission_denied, address_ + ": " + alert);
    give_up(std::move(error));
}

template <class Work>
void MemberClient::Impl::run(Work work) {
    const bool nested = std::exchange(in_call_, true);
    loop_.run(work);
    in_call_ = nested;
    loop_.wake();
}

template <class T, class Make, class Take>
void MemberClient::Impl::call(Done<T> done, Make make, Take take) {
    run([&] {
        if (!member_ || connection_->is_closed()) return not_answered(done, "not connected");
        auto begin = [this, done, make, take] { ask(done, make, take); };
        if (in_flight_ < own_questions_max) return begin();
        waiting_.push_back(std::move(begin));
    });
}

template <class T, class Make, class Take>
void MemberClient::Impl::ask(Done<T> done, Make make, Take take) {
    ++in_flight_;
    connection_->add(make(*member_).send().then(
        [this, done, take](auto&& result) mutable {
            later([done, answer = take(result)] { done(answer); });
            answered();
        },
        [this, done](kj::Exception&& failed) {
            const bool is_older = failed.getType() == kj::Exception::Type::UNIMPLEMENTED;
            not_answered(done, is_older ? "its version does not know this question"
                                        : "the connection broke");
            answered();
        }));
}

void MemberClient::Impl::answered() {
    --in_flight_;
    if (waiting_.empty()) return;
    const auto begin = std::move(waiting_.front());
    waiting_.pop_front();
    begin();
}

void MemberClient::Impl::close() {
    if (std::exchange(closed_, true)) return;
    timer_.cancel();
    if (dial_) dial_->cancel();
    if (handshake_) handshake_->cancel();
    to_call_.clear();
    if (connection_) connection_->close();
    if (!settling_) loop_.run([] {});
}

void MemberClient::Impl::settle() {
    if (in_call_ || std::exchange(settling_, true)) return;
    const auto alive = weak_from_this().lock();
    while (!closed_ && !to_call_.empty()) {
        const auto what = std::move(to_call_.front());
        to_call_.pop_front();
        what();
    }
    if (closed_ && connection_) {
        loop_.run([this] {
            member_.reset();
            connection_.reset();
        });
    }
    settling_ = false;
    // The loop must not be destroyed while it is on the stack.
    if (alive.use_count() == 1) asio::post(loop_.io(), [alive] {});
}

MemberClient::MemberClient(asio::io_context& io, core::ClusterId cluster,
                           std::shared_ptr<const TlsCredentials> credentials, Log log)
    : impl_{std::make_shared<Impl>(io, cluster, std::move(credentials), std::move(log))} {}

MemberClient::~MemberClient() {
    try {
        close();
    } catch (...) {  // what cannot be closed is destroyed with the members
    }
}

void MemberClient::connect(const std::string& address, core::Nanoseconds timeout,
                           Done<core::Hello> done) {
    impl_->connect(address, timeout, std::move(done));
}

namespace {

constexpr auto take_answer = [](auto& response) {
    return read_guarded([&] { return response.getAnswer(); });
};

// Asks with `Call` for what the request says.
template <auto Call>
auto asks(const auto& request) {
    return [request](wire::Member::Client& member) {
        auto call = (member.*Call)(nullptr);
        write(request, call.initRequest());
        return call;
    };
}

}  // namespace

void MemberClient::status(Done<MemberStatus> done) {
    impl_->call(
        std::move(done), [](wire::Member::Client& member) { return member.statusRequest(); },
        [](auto& response) { return read_guarded([&] { return response.getStatus(); }); });
}

void MemberClient::list(const ListRequest& request, Done<ListAnswer> done) {
    if (!request.is_exact)
        return impl_->call(std::move(done), asks<&wire::Member::Client::listRequest>(request),
                           take_answer);
    const auto make = [request](wire::Member::Client& member) {
        auto call = member.inspectRequest();
        call.setName(data_of(request.prefix));
        call.setLocal(request.local);
        return call;
    };
    impl_->call(std::move(done), make, take_answer);
}

void MemberClient::change(const core::MembershipGoal& goal, core::Nanoseconds patience,
                          Done<ChangeAnswer> done) {
    const auto make = [goal, patience](wire::Member::Client& member) {
        auto call = member.changeRequest();
        write(goal, call.initGoal());
        call.setPatienceNs(static_cast<std::uint64_t>(std::max<std::int64_t>(patience.count(), 0)));
        return call;
    };
    impl_->call(std::move(done), make, take_answer);
}

void MemberClient::break_lock(const core::BreakLock& request, Done<ChangeAnswer> done) {
    const auto make = [request](wire::Member::Client& member) {
        auto call = member.breakLockRequest();
        call.setName(data_of(request.name));
        call.setToken(request.expected.raw());
        call.setReason(data_of(request.reason));
        call.setImmediate(request.immediate);
        return call;
    };
    impl_->call(std::move(done), make, take_answer);
}

void MemberClient::evict(const core::EvictSession& request, Done<ChangeAnswer> done) {
    const auto make = [request](wire::Member::Client& member) {
        auto call = member.evictRequest();
        call.setSession(request.session.raw());
        call.setReason(data_of(request.reason));
        call.setImmediate(request.immediate);
        return call;
    };
    impl_->call(std::move(done), make, take_answer);
}

void MemberClient::say(std::string piece, Done<void> done) {
    const auto make = [piece = std::move(piece)](wire::Member::Client& member) {
        auto call = member.sayRequest();
        call.setPiece(data_of(piece));
        return call;
    };
    impl_->call(std::move(done), make, [](auto&) { return core::Result<void>{}; });
}

void MemberClient::hear(Done<std::string> done) {
    impl_->call(
        std::move(done), [](wire::Member::Client& member) { return member.hearRequest(); },
        [](auto& response) -> core::Result<std::string> {
            return std::string{bytes_of(response.getPiece())};
        });
}

void MemberClient::observe(const ObserveRequest& request, Done<ObserveAnswer> done) {
    impl_->call(std::move(done), asks<&wire::Member::Client::observeRequest>(request), take_answer);
}

void MemberClient::sessions(const SessionsRequest& request, Done<SessionsAnswer> done) {
    impl_->call(std::move(done), asks<&wire::Member::Client::sessionsRequest>(request),
                take_answer);
}

void MemberClient::activity(std::string prefix, Done<ActivityAnswer> done) {
    const auto make = [prefix = std::move(prefix)](wire::Member::Client& member) {
        auto call = member.activityRequest();
        call.setPrefix(data_of(prefix));
        return call;
    };
    impl_->call(std::move(done), make, take_answer);
}

core::Result<void> MemberClient::set_credentials(
    std::shared_ptr<const TlsCredentials> credentials) {
    return impl_->set_credentials(std::move(credentials));
}

core::NodeId MemberClient::certified() const {
    return impl_->certified();
}

void MemberClient::close() {
    impl_->close();
}

}  // namespace mortise::transport
