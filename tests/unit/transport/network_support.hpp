// Networks of nodes without a core, on real sockets.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <unistd.h>

#include "tests/support/silent_address.hpp"
#include "transport/clients/client_service.hpp"
#include "transport/network/peer_network.hpp"
#include "transport/sockets/address.hpp"
#include "transport/sockets/resolver.hpp"

namespace mortise::transport::test {

using namespace std::chrono_literals;

// An address of the loopback network that no other test uses. Outgoing connections start at
// 127.0.0.1, so none of them occupies the port while it is free.
inline std::string free_address() {
    const auto pid = static_cast<unsigned>(::getpid());
    const auto host = "127." + std::to_string(1 + (pid >> 16U) % 200) + "." +
                      std::to_string((pid >> 8U) % 256) + "." + std::to_string(1 + pid % 250);
    asio::io_context io;
    const asio::ip::tcp::endpoint any{asio::ip::make_address(host), 0};
    const asio::ip::tcp::acceptor acceptor{io, any};
    return to_string(acceptor.local_endpoint());
}

inline asio::ip::tcp::endpoint endpoint_of(const std::string& address) {
    const auto at = parse_address(address);
    return {asio::ip::make_address(at->host), static_cast<std::uint16_t>(std::stoul(at->port))};
}

// Long enough for a busy machine; it is used up only by a failure.
template <class Done>
bool run_until(asio::io_context& io, Done done, std::chrono::milliseconds limit = 20s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    io.restart();
    while (!done()) {
        if (std::chrono::steady_clock::now() > end) return false;
        io.run_one_for(10ms);
        if (io.stopped()) io.restart();
    }
    return true;
}

inline void run_for(asio::io_context& io, std::chrono::milliseconds time) {
    run_until(
        io, [] { return false; }, time);
}

struct Events : NetworkEvents {
    core::Hello hello() override { return own; }
    void peer_up(core::Hello peer) override {
        ups.push_back(peer);
        if (on_up) on_up(peer);
    }
    void peer_down(core::NodeId peer) override { downs.push_back(peer); }
    void received(core::NodeId from, core::PeerMessage message) override {
        messages.emplace_back(from, std::move(message));
        if (on_message) on_message();
    }

    void introduced(core::Hello caller) override { callers.push_back(std::move(caller)); }
    void refused(core::NodeId by, Refusal why) override { refusals.emplace_back(by, why); }
    void unreached(core::NodeId /*peer*/, const std::string& why) override { reason = why; }

    core::Hello own;
    std::vector<core::Hello> ups;
    std::vector<std::pair<core::NodeId, Refusal>> refusals;
    std::vector<core::Hello> callers;  // those that are not peers
    std::vector<core::NodeId> downs;
    std::string reason;  // why the newest attempt failed
    std::vector<std::pair<core::NodeId, core::PeerMessage>> messages;
    std::function<void(const core::Hello&)> on_up;
    std::function<void()> on_message;
};

inline core::Hello hello_of(std::uint64_t id, std::uint64_t boot_epoch = 1) {
    return {core::NodeId{id},
            {core::Incarnation{1000 + id}, core::BootEpoch{boot_epoch}},
            {},
            {core::NodeId{1}, core::NodeId{2}, core::NodeId{3}}};
}

// Messages that can be distinguished.
inline core::PeerMessage numbered(std::uint64_t number) {
    return core::RaftMessage{core::ReadRequest{core::Term{1}, core::ReadId{number}}};
}
inline std::uint64_t number_of(const core::PeerMessage& message) {
    return std::get<core::ReadRequest>(std::get<core::RaftMessage>(message)).id.raw();
}

// One of nodes 1, 2, ... at the given addresses.
struct Node {
    Node(asio::io_context& io, std::uint64_t id, const std::vector<std::string>& addresses,
         std::function<void(NetworkOptions&, core::Hello&)> change = {},
         ClientService* clients = nullptr) {
        events.own = hello_of(id);
        options.self = core::NodeId{id};
        options.listen = addresses.at(id - 1);
        for (std::size_t i = 0; i < addresses.size(); ++i)
            options.peers.push_back(
                {.id = core::NodeId{i + 1}, .address = addresses[i], .is_member = true});
        options.election_timeout = 400ms;
        options.heartbeat = 40ms;
        options.seed = id;
        if (change) change(options, events.own);
        network = std::make_unique<PeerNetwork>(io, options, events, clients);
    }

    core::Result<void> start() {
        auto listening = network->listen();
        if (listening) network->start();
        return listening;
    }
    void send(core::NodeId to, core::PeerMessage message) {
        network->send(to, std::move(message));
        network->flush();
    }
    [[nodiscard]] bool is_up(std::uint64_t peer) const {
        std::size_t ups = 0;
        std::size_t downs = 0;
        for (const auto& hello : events.ups)
            ups += hello.node.raw() == peer ? 1 : 0;
        for (const auto id : events.downs)
            downs += id.raw() == peer ? 1 : 0;
        return ups > downs;
    }

    Events events;
    NetworkOptions options;
    std::unique_ptr<PeerNetwork> network;
};

// Two endpoints with one port, of which only the second is there.
struct HalfSilentName {
    explicit HalfSilentName(asio::io_context& io) {
        asio::use_service<Resolver>(io).look_up_with(
            [silent = silent.at(), here = here()](const HostPort&) {
                return Resolver::Found{{}, {silent, here}};
            });
    }
    // Where a node is to listen.
    [[nodiscard]] asio::ip::tcp::endpoint here() const { return endpoint_of(address); }
    [[nodiscard]] std::string name() const {
        return "half.example:" + std::to_string(here().port());
    }

    // Beside the addresses of free_address(), because any port of 127.0.0.1 may be that of an
    // outgoing connection.
    [[nodiscard]] asio::ip::address_v4 silent_host() const {
        auto bytes = here().address().to_v4().to_bytes();
        bytes[3] = 251;
        return asio::ip::address_v4{bytes};
    }

    std::string address = free_address();
    SilentAddress silent{{silent_host(), here().port()}};
};

// A program outside the cluster, which sends anything.
class Stranger {
public:
    Stranger(asio::io_context& io, const std::string& address,
             const std::string& from = "127.0.0.1")
        : socket_{io, asio::ip::tcp::endpoint{asio::ip::make_address(from), 0}} {
        socket_.connect(endpoint_of(address));
        socket_.non_blocking(true);
    }

    void say(const std::string& bytes) {
        asio::error_code ignored;
        asio::write(socket_, asio::buffer(bytes), ignored);
    }
    // Reads what has arrived; true once the other side has closed.
    bool is_closed() {
        std::array<char, 1024> buffer{};
        asio::error_code error;
        while (!error)
            socket_.read_some(asio::buffer(buffer), error);
        return error != asio::error::would_block;
    }

private:
    asio::ip::tcp::socket socket_;
};

}  // namespace mortise::transport::test
