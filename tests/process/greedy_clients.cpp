// Client nodes that want as much as they can get: each asks for new names all the time, whatever is
// answered, and releases none; every second one does not read what it is told. They keep to the
// protocol, but not to the window of requests that a client of this library has under way.
//
//     greedy_clients COUNT NAMES SECONDS HOST:PORT...
//
// Each asks for that many names every 5 ms, as long as the member takes them. They use TLS if
// GREEDY_CERT, GREEDY_KEY and GREEDY_CA name files. Prints "asking" when all of them have a
// session, and "asked N, closed M times" in the end, which SIGTERM makes come sooner.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "core/client/client_codec.hpp"
#include "core/codec/command_codec.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/tls/tls_credentials.hpp"
#include "transport/wire/message_limits.hpp"
#include "transport/wire/pieces.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using Credentials = std::shared_ptr<const transport::TlsCredentials>;

Credentials credentials() {
    const char* const certificate = std::getenv("GREEDY_CERT");
    if (certificate == nullptr) return {};
    auto loaded = transport::TlsCredentials::load(
        {certificate, std::getenv("GREEDY_KEY"), std::getenv("GREEDY_CA")});
    if (!loaded) throw std::runtime_error{loaded.error().what};
    return *loaded;
}

struct Greed {
    asio::io_context io{1};
    std::size_t count = 0;
    std::uint64_t names = 0;
    std::chrono::seconds time{};
    std::vector<std::string> members;
    Credentials credentials = detail::credentials();
    std::size_t asking = 0;
    std::uint64_t asked = 0;
    std::uint64_t closed = 0;  // connections, and the last of them for this reason
    std::string why_closed;
    std::random_device random;
};

// A connection to a member, as MemberConnection is one.
class Connection {
public:
    struct Events {
        std::function<void()> up;
        std::function<void(const std::string& why)> down;  // once
        std::function<void(const core::ClientNotice& notice)> heard;
    };
    Connection(Greed& greed, const std::string& member, Events events)
        : events_{std::move(events)}, client_{greed.io, core::ClusterId{}, greed.credentials} {
        client_.connect(member, 5s, [this](const core::Result<core::Hello>& hello) {
            if (!hello) return end(hello.error().what);
            is_up_ = true;
            for (std::size_t i = 0; i < transport::own_hears; ++i)
                hear();
            events_.up();
        });
    }

    [[nodiscard]] bool has_room() const { return out_.size() < transport::said_bytes_max; }
    void send(const core::ClientMessage& message) {
        out_.add(core::encode(message));
        say();
    }
    void be_deaf() { is_deaf_ = true; }

private:
    void say() {
        while (is_up_ && saying_ < transport::own_says_max && !out_.is_empty()) {
            ++saying_;
            client_.say(out_.take(transport::said_bytes_max), [this](core::Result<void> said) {
                --saying_;
                if (!said) return end(said.error().what);
                say();
            });
        }
    }
    void hear() {
        client_.hear([this](core::Result<std::string> piece) {
            if (!piece) return end(piece.error().what);
            if (!is_deaf_) hear();
            const auto messages = in_.take(*piece);
            for (const auto& bytes : messages.value())
                events_.heard(core::decode_client_notice(bytes).value());
        });
    }
    void end(const std::string& why) {
        if (!std::exchange(has_ended_, true)) events_.down(why);
    }

    Events events_;
    transport::MemberClient client_;
    transport::PieceWriter out_;
    transport::PieceReader in_{core::client_notice_bytes_max};
    std::size_t saying_ = 0;  // calls that are not answered
    bool is_up_ = false;
    bool is_deaf_ = false;
    bool has_ended_ = false;
};

class Client {
public:
    Client(Greed& greed, std::size_t number)
        : greed_{greed},
          timer_{greed.io},
          member_{greed.members[number % greed.members.size()]},
          is_deaf_{number % 2 == 1} {
        connect();
    }

private:
    void connect() {
        nonce_ = (std::uint64_t{greed_.random()} << 32U) + greed_.random();
        session_ = {};
        next_ = core::Seq{1};
        connection_ = std::make_unique<Connection>(
            greed_, member_,
            Connection::Events{[this] {
                                   connection_->send(core::Attach{nonce_, core::LogIndex{}});
                               },
                               [this](const std::string& why) { closed(why); },
                               [this](const core::ClientNotice& notice) { hear(notice); }});
    }

    // It comes back with another session.
    void closed(const std::string& why) {
        ++greed_.closed;
        greed_.why_closed = why;
        after(100ms, [this] { connect(); });
    }

    void hear(const core::ClientNotice& notice) {
        if (notice.state && notice.state->session.is_set()) begin(notice.state->session);
        if (notice.state && !notice.state->session.is_set()) open();
        for (const auto& [at, outcome] : notice.outcomes) {
            if (const auto* opened = std::get_if<core::SessionOpened>(&outcome))
                begin(opened->session);
        }
        if (notice.gap.is_set()) next_ = notice.gap;
    }

    void open() {
        core::OpenSession opening;
        opening.nonce = nonce_;
        opening.ttl_ms = 10'000;
        opening.rho_ppm = 10'000;
        core::BatchBuilder batch;
        batch.add(opening);
        connection_->send(core::Forward{batch.take(), std::nullopt});
    }

    void begin(core::SessionId session) {
        if (session_.is_set()) return;
        session_ = session;
        if (is_deaf_) connection_->be_deaf();
        if (++greed_.asking == greed_.count) {
            std::printf("asking\n");
            std::fflush(stdout);
        }
        ask();
    }

    void ask() {
        const bool is_time_to_renew = ++ticks_ % 400 == 0;
        if (connection_->has_room() || is_time_to_renew) ask_for_more(is_time_to_renew);
        after(5ms, [this] { ask(); });
    }

    void ask_for_more(bool renews) {
        core::BatchBuilder batch;
        for (std::uint64_t i = 0; i < greed_.names; ++i, next_ = next_.next()) {
            core::Acquire acquire;
            acquire.names.push_back(
                {"greedy/" + std::to_string(session_.raw()) + "/" + std::to_string(next_.raw())});
            batch.add(core::Request{session_, next_, std::move(acquire)});
        }
        greed_.asked += greed_.names;
        std::optional<core::Renewal> renewal;
        if (renews) renewal = core::Renewal{session_, ticks_};
        connection_->send(core::Forward{batch.take(), renewal});
    }

    // Instead of what was to be done before.
    template <class Work>
    void after(std::chrono::milliseconds pause, Work work) {
        timer_.expires_after(pause);
        timer_.async_wait([work](std::error_code error) {
            if (!error) work();
        });
    }

    Greed& greed_;
    std::uint64_t nonce_ = 0;
    asio::steady_timer timer_;
    const std::string& member_;
    bool is_deaf_;
    std::unique_ptr<Connection> connection_;
    core::SessionId session_;
    core::Seq next_{1};
    std::uint64_t ticks_ = 0;
};

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 4) return 64;
    Greed greed;
    greed.count = std::stoul(arguments[0]);
    greed.names = std::stoul(arguments[1]);
    greed.time = std::chrono::seconds{std::stoul(arguments[2])};
    greed.members.assign(arguments.begin() + 3, arguments.end());
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < greed.count; ++i)
        clients.push_back(std::make_unique<Client>(greed, i));
    asio::signal_set told_to_end{greed.io, SIGTERM};
    told_to_end.async_wait([&](std::error_code, int) { greed.io.stop(); });
    greed.io.run_for(greed.time);
    std::printf("asked %llu, closed %llu times %s\n", static_cast<unsigned long long>(greed.asked),
                static_cast<unsigned long long>(greed.closed), greed.why_closed.c_str());
    return 0;
}

}  // namespace
}  // namespace mortise::detail

int main(int count, char** arguments) {
    return mortise::detail::run({arguments + 1, arguments + count});
}
