// The connection of a client node to a member (S49).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <asio/io_context.hpp>

#include "core/client/client_codec.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/wire/pieces.hpp"

namespace mortise::detail {

// Runs on the core thread. Its owner may let it go in a callback, after which none comes any more.
class MemberConnection : public std::enable_shared_from_this<MemberConnection> {
public:
    struct Events {
        std::function<void(const core::Hello& member)> up;
        std::function<void(const std::string& why)> down;  // once
        std::function<void(core::ClientNotice notice)> heard;
    };
    struct Target {
        std::string address;
        core::Nanoseconds patience{};  // for the connection and the hello
        core::ClusterId cluster{};     // not set: any
        std::shared_ptr<const transport::TlsCredentials> credentials{};
    };

    MemberConnection(asio::io_context& io, Target target, transport::Log log, Events events);

    void connect();
    void send(const core::ClientMessage& message);
    // For what any client may ask.
    [[nodiscard]] transport::MemberClient& client() { return client_; }
    // Ends if the member is not trusted by the new ones.
    void set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials);
    void close();

private:
    void connected(const core::Result<core::Hello>& hello);
    void say();
    void hear();
    void take(const std::string& piece);
    void end(const std::string& why);

    Target target_;
    Events events_;
    transport::MemberClient client_;
    transport::PieceWriter out_;
    transport::PieceReader in_{core::client_notice_bytes_max};
    std::size_t saying_ = 0;  // calls that are not answered
    bool is_up_ = false;
    bool closed_ = false;
};

}  // namespace mortise::detail
