#include "embed/runtime/member_connection.hpp"

#include <utility>

#include "transport/wire/message_limits.hpp"

namespace mortise::detail {

MemberConnection::MemberConnection(asio::io_context& io, Target target, transport::Log log,
                                   Events events)
    : target_{std::move(target)},
      events_{std::move(events)},
      client_{io, target_.cluster, target_.credentials, std::move(log)} {}

void MemberConnection::connect() {
    client_.connect(target_.address, target_.patience,
                    [weak = weak_from_this()](const core::Result<core::Hello>& hello) {
                        if (const auto self = weak.lock()) self->connected(hello);
                    });
}

void MemberConnection::connected(const core::Result<core::Hello>& hello) {
    if (closed_) return;
    if (!hello) return end(hello.error().what);
    is_up_ = true;
    for (std::size_t i = 0; i < transport::own_hears; ++i)
        hear();
    events_.up(*hello);
    say();
}

void MemberConnection::send(const core::ClientMessage& message) {
    out_.add(core::encode(message));
    say();
}

void MemberConnection::say() {
    while (is_up_ && !closed_ && saying_ < transport::own_says_max && !out_.is_empty()) {
        ++saying_;
        client_.say(out_.take(transport::said_bytes_max),
                    [weak = weak_from_this()](const core::Result<void>& said) {
                        const auto self = weak.lock();
                        if (!self || self->closed_) return;
                        --self->saying_;
                        if (!said) return self->end(said.error().what);
                        self->say();
                    });
    }
}

void MemberConnection::hear() {
    client_.hear([weak = weak_from_this()](const core::Result<std::string>& piece) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        if (!piece) return self->end(piece.error().what);
        self->hear();
        self->take(*piece);
    });
}

void MemberConnection::take(const std::string& piece) {
    const auto messages = in_.take(piece);
    if (!messages) return end("the member sent a notice that is too long");
    for (const auto& bytes : *messages) {
        if (closed_) return;
        auto notice = core::decode_client_notice(bytes);
        if (!notice) return end("the member sent a notice that is not valid");
        events_.heard(std::move(*notice));
    }
}

void MemberConnection::set_credentials(
    std::shared_ptr<const transport::TlsCredentials> credentials) {
    if (closed_) return;
    const auto believed = client_.set_credentials(std::move(credentials));
    if (!believed) end(believed.error().what);
}

void MemberConnection::end(const std::string& why) {
    if (closed_) return;
    close();
    events_.down(why);
}

void MemberConnection::close() {
    if (std::exchange(closed_, true)) return;
    client_.close();
}

}  // namespace mortise::detail
