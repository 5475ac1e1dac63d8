// A member that is dialled: it answers each hello and call, and says anything after that.
// Everything happens in run(), without Cap'n Proto's RPC.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <capnp/capability.h>
#include <capnp/rpc.capnp.h>
#include <capnp/serialize.h>

#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/frame_check.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport::test {

// Capabilities have the given numbers.
inline std::string answer_to_bootstrap(unsigned question, unsigned capability) {
    return frame([&](auto message) {
        auto answer = message.initReturn();
        answer.setAnswerId(question);
        auto results = answer.initResults();
        capnp::BuilderCapabilityTable table;
        table.imbue(results.getContent())
            .template setAs<capnp::Capability>(capnp::Capability::Client{capnp::newBrokenCap("")});
        results.initCapTable(1)[0].setSenderHosted(capability);
    });
}
inline std::string answer_to_hello(const Greeting& own, unsigned question, unsigned capability) {
    return frame([&](auto message) {
        auto answer = message.initReturn();
        answer.setAnswerId(question);
        auto results = answer.initResults();
        capnp::BuilderCapabilityTable table;
        auto hello = table.imbue(results.getContent())
                         .template initAs<wire::Gate::HelloResults>()
                         .initAnswer();
        write(own, hello.initHello());
        hello.setPeer(wire::Peer::Client{capnp::newBrokenCap("")});
        results.initCapTable(1)[0].setSenderHosted(capability);
    });
}
inline std::string answer(unsigned question) {
    return frame([&](auto message) {
        auto answer = message.initReturn();
        answer.setAnswerId(question);
        answer.initResults();
    });
}
inline std::string exception(unsigned question) {
    return frame([&](auto message) {
        auto answer = message.initReturn();
        answer.setAnswerId(question);
        answer.initException().setReason("no");
    });
}

class RawCallee {
public:
    RawCallee(asio::io_context& io, const std::string& address, core::Hello own)
        : acceptor_{io, endpoint_of(address)}, own_{std::move(own)} {
        acceptor_.non_blocking(true);
    }

    [[nodiscard]] std::string at() const { return to_string(acceptor_.local_endpoint()); }

    void run() {
        asio::error_code error;
        auto socket = acceptor_.accept(error);
        if (!error) {
            socket.non_blocking(true);
            connections_.push_back(std::make_unique<Connection>(std::move(socket)));
        }
        for (const auto& connection : connections_)
            read(*connection);
    }
    // On the newest connection for replication. Nothing happens before there is one.
    void say(const std::string& bytes) {
        if (auto* const connection = newest()) write(*connection, bytes);
    }
    void answer_no_calls() { answers_calls_ = false; }
    [[nodiscard]] bool is_greeted() const { return newest() != nullptr; }
    [[nodiscard]] bool is_closed() const { return newest() != nullptr && newest()->is_closed; }
    // The numbers of the calls of Peer.send and of the Finishes that came there after the hello.
    [[nodiscard]] std::vector<unsigned> calls() const {
        return newest() != nullptr ? newest()->calls : std::vector<unsigned>{};
    }
    [[nodiscard]] std::vector<unsigned> finished() const {
        return newest() != nullptr ? newest()->finished : std::vector<unsigned>{};
    }

private:
    struct Connection {
        explicit Connection(asio::ip::tcp::socket the_socket) : socket{std::move(the_socket)} {}
        asio::ip::tcp::socket socket;
        std::string bytes;
        bool is_closed = false;
        bool is_for_replication = false;
        std::vector<unsigned> calls;
        std::vector<unsigned> finished;
    };

    [[nodiscard]] Connection* newest() const {
        for (auto at = connections_.rbegin(); at != connections_.rend(); ++at) {
            if ((*at)->is_for_replication) return at->get();
        }
        return nullptr;
    }
    void read(Connection& connection) {
        std::array<char, 4096> buffer{};
        asio::error_code error;
        while (!error) {
            const auto got = connection.socket.read_some(asio::buffer(buffer), error);
            connection.bytes.append(buffer.data(), got);
        }
        if (error != asio::error::would_block) connection.is_closed = true;
        while (true) {
            const auto check = check_frame(connection.bytes, forwarding_frame_words_max);
            const auto* const size = std::get_if<FrameSize>(&check);
            if (size == nullptr || connection.bytes.size() < size->words() * word_bytes) return;
            auto words = kj::heapArray<capnp::word>(size->words());
            std::memcpy(words.begin(), connection.bytes.data(), words.asBytes().size());
            connection.bytes.erase(0, words.asBytes().size());
            on_frame(connection, words);
        }
    }
    void on_frame(Connection& connection, kj::ArrayPtr<const capnp::word> words) {
        capnp::FlatArrayMessageReader reader{words};
        const auto message = reader.getRoot<rpc::Message>();
        if (message.isFinish() && connection.is_for_replication)
            connection.finished.push_back(message.getFinish().getQuestionId());
        if (!message.isCall()) return;
        const auto call = message.getCall();
        if (call.getInterfaceId() == capnp::typeId<wire::Peer>()) {
            connection.calls.push_back(call.getQuestionId());
            if (answers_calls_) write(connection, answer(call.getQuestionId()));
        }
        if (call.getInterfaceId() == capnp::typeId<wire::Gate>()) greet(connection, call);
    }
    void greet(Connection& connection, rpc::Call::Reader call) {
        const auto params = call.getParams().getContent().getAs<wire::Gate::HelloParams>();
        Greeting own;
        own.purpose = transport::read(params.getHello())->purpose;
        own.hello = own_;
        connection.is_for_replication = own.purpose == Purpose::replication;
        write(connection,
              answer_to_bootstrap(0, 0) + answer_to_hello(own, call.getQuestionId(), 1));
    }
    static void write(Connection& connection, const std::string& bytes) {
        asio::error_code ignored;
        asio::write(connection.socket, asio::buffer(bytes), ignored);
    }

    asio::ip::tcp::acceptor acceptor_;
    core::Hello own_;
    bool answers_calls_ = true;
    std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace mortise::transport::test
