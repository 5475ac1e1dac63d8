// A malicious client, for hostile_test.py:
//
//   hostile_client HOST PORT ATTACK CONNECTIONS SECONDS
//
// It prints how much it sent, and exits without closing its connections. It belongs to no cluster:
// it links only the protocol.
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>

#include "tests/unit/transport/raw_frames.hpp"

namespace {

using namespace mortise::transport;
using namespace mortise::transport::test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string list_to(unsigned question, bool yourself) {
    return member_call(question, Method::list, [&](rpc::Call::Builder call) {
        if (yourself) call.initSendResultsTo().setYourself();
    });
}

std::string with_capabilities(unsigned question) {
    return member_call(question, change, [&](rpc::Call::Builder call) {
        auto table = call.getParams().initCapTable(100'000);
        for (unsigned i = 0; i < table.size(); ++i)
            table[i].setSenderPromise(question * 100'000 + i);
    });
}

std::string on_the_one_before(unsigned question) {
    return member_call(question, status, [&](rpc::Call::Builder call) {
        if (question > 2) call.initTarget().initPromisedAnswer().setQuestionId(question - 1);
    });
}

using Attack = std::string (*)(unsigned question);

const std::map<std::string, Attack> attacks{
    {"bootstraps", [](unsigned q) { return bootstrap(q); }},
    {"deaf-status", [](unsigned q) { return member_call(q, status) + finish(q); }},
    {"deaf-list", [](unsigned q) { return list_to(q, false) + finish(q); }},
    {"unfinished-status", [](unsigned q) { return member_call(q, status); }},
    {"kept-lists", [](unsigned q) { return list_to(q, true); }},
    {"capabilities", with_capabilities},
    {"chain", on_the_one_before},
};

struct Client {
    explicit Client(const asio::ip::tcp::endpoint& to) {
        socket.connect(to);
        socket.non_blocking(true);
        waiting = client_hello();
    }
    // Sends a little; false if the connection was closed.
    bool go_on(Attack attack) {
        if (waiting.size() < 65'536) {
            for (int i = 0; i < 200 && waiting.size() < 1'000'000; ++i)
                waiting += attack(question++);
        }
        asio::error_code error;
        const auto sent = socket.write_some(asio::buffer(waiting), error);
        waiting.erase(0, sent);
        total += sent;
        return !error || error == asio::error::would_block;
    }

    asio::io_context io;
    asio::ip::tcp::socket socket{io};
    std::string waiting;
    unsigned question = 2;
    std::size_t total = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6 || !attacks.contains(argv[3])) return 64;
    try {
        const asio::ip::tcp::endpoint to{asio::ip::make_address(argv[1]),
                                         static_cast<std::uint16_t>(std::stoul(argv[2]))};
        const auto attack = attacks.at(argv[3]);
        const auto count = std::stoul(argv[4]);
        const auto end = Clock::now() + std::chrono::seconds{std::stoul(argv[5])};
        std::vector<std::unique_ptr<Client>> clients;
        std::size_t total = 0;
        std::size_t closed = 0;
        while (Clock::now() < end) {
            while (clients.size() < count)
                clients.push_back(std::make_unique<Client>(to));
            const auto before = clients.size();
            std::erase_if(clients, [&](const auto& client) {
                const auto sent_before = client->total;
                const bool goes_on = client->go_on(attack);
                total += client->total - sent_before;
                return !goes_on;
            });
            closed += before - clients.size();
            std::this_thread::sleep_for(1ms);
        }
        std::printf("sent %zu bytes, closed %zu times\n", total, closed);
        return 0;
    } catch (const std::exception& problem) {
        std::printf("failed: %s\n", problem.what());
        return 1;
    }
}
