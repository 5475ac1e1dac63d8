// One connection to a node, from its first byte to its last: hellos, calls, answers, capabilities
// and all other messages of Cap'n Proto's RPC, in any order, and bytes that are not a frame. It is
// answered or closed, and the node serves the next connection normally. The node dials a member
// that answers its hellos, and then says anything as well.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/plain_service.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_callee.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/network/peer_network.hpp"
#include "transport/rpc/rpc_guard.hpp"

namespace mortise::fuzz {
namespace {

using namespace transport;
using namespace transport::test;

constexpr int acts_max = 200;

// Answers at once, or when the input says so.
struct Service : test::PlainService {
    MemberStatus status() const override { return {}; }
    void list(ListRequest request, std::function<void(ListAnswer)> answer) override {
        FUZZ_CHECK(request.limit >= 1);
        ListReply reply;
        reply.locks.resize(3);
        for (auto& lock : reply.locks)
            lock.name = request.prefix + "x";
        waiting.push_back(
            [answer = std::move(answer), reply = std::move(reply)] { answer(reply); });
    }
    void change(core::MembershipGoal /*goal*/, core::Nanoseconds patience,
                std::function<void(ChangeAnswer)> answer) override {
        FUZZ_CHECK(patience >= core::Nanoseconds{0} && patience <= 1h);
        waiting.push_back([answer = std::move(answer)] { answer(core::Changed{}); });
    }
    void break_lock(core::BreakLock request, std::function<void(ChangeAnswer)> answer) override {
        FUZZ_CHECK(core::is_valid_name(request.name) && request.expected.is_set());
        answer(core::Changed{});
    }
    void answer() {
        for (const auto& each : std::exchange(waiting, {}))
            each();
    }
    std::vector<std::function<void()>> waiting;
};

// A node with one connection, which the input controls.
class Door {
public:
    Door() {
        callee_.answer_no_calls();
        events_.own = hello_of(1);
        NetworkOptions options;
        options.self = core::NodeId{1};
        options.listen = "127.0.0.1:0";
        options.peers = {{core::NodeId{1}, "127.0.0.1:1"}, {core::NodeId{2}, callee_.at()}};
        network_ = std::make_unique<PeerNetwork>(io_, options, events_, &service_);
        FUZZ_CHECK(network_->listen());
        network_->start();
    }
    // Does the work that is due; nothing waits for time to pass.
    void run() {
        io_.restart();
        do {
            callee_.run();
        } while (io_.poll() != 0);
    }
    // A message of the node to the member that it dials, which it gets if both are connected.
    void send(std::uint64_t number) {
        network_->send(core::NodeId{2}, numbered(number));
        network_->flush();
    }
    RawCallee& callee() { return callee_; }
    [[nodiscard]] asio::ip::tcp::socket visit() {
        asio::ip::tcp::socket socket{io_};
        socket.connect(endpoint_of(network_->listening_at()));
        socket.non_blocking(true);
        run();
        return socket;
    }
    Service& service() { return service_; }

private:
    asio::io_context io_;
    RawCallee callee_{io_, "127.0.0.1:0", hello_of(2)};
    test::Events events_;
    Service service_;
    std::unique_ptr<PeerNetwork> network_;
};

class Hostile {
public:
    Hostile(Choices& choices, Door& door) : choices_{choices}, door_{door}, socket_{door.visit()} {}

    void run() {
        // Most code is reached only after a valid hello.
        if (choices_.coin()) say(client_hello());
        for (int acts = 0; acts < acts_max && !choices_.is_empty(); ++acts)
            act();
        door_.run();
    }

private:
    void act() {
        switch (choices_.below(16)) {
            case 0: return say(bootstrap(question()));
            case 1: return say(hello_of_anybody());
            case 2: return say(finish(question()));
            case 3: return say(client_hello());
            case 4: return say(choices_.piece());
            case 5: return say(call_of_peer());
            case 6: return say(odd_message());
            case 7: return door_.service().answer();
            case 8:
            case 9: return hear();
            case 10: return say(answer(question()));
            case 14: return door_.send(1 + choices_.byte());
            case 15: return answer_the_node();
            default: return say(call_of_member());
        }
    }
    unsigned question() { return static_cast<unsigned>(choices_.below(8)); }

    void say(const std::string& bytes) {
        asio::error_code ignored;
        socket_.write_some(asio::buffer(bytes), ignored);
        if (!choices_.one_in(4)) door_.run();
    }
    void hear() {
        door_.run();
        std::array<char, 4096> buffer{};
        asio::error_code error;
        while (!error)
            socket_.read_some(asio::buffer(buffer), error);
    }

    Greeting greeting() {
        Greeting greeting;
        greeting.purpose = static_cast<Purpose>(choices_.below(3));
        const auto node = 1 + choices_.below(3);
        greeting.hello = hello_of(node, 1 + choices_.below(2));
        if (choices_.one_in(8)) greeting.features = choices_.byte();
        if (choices_.one_in(8)) greeting.lowest = 0;
        if (choices_.one_in(8)) greeting.hello.cluster = {choices_.byte(), 1};
        return greeting;
    }
    // Each choice is on a line of its own, because the compiler may evaluate arguments in any
    // order.
    std::string hello_of_anybody() {
        auto who = greeting();
        const auto number = question();
        const auto of = question();
        return hello(std::move(who), number, of);
    }
    std::string call_of_member() {
        const auto method = static_cast<unsigned>(choices_.below(methods + 1));
        const bool is_odd = choices_.one_in(4);
        return member_call(question(), method, [&](rpc::Call::Builder call) {
            if (is_odd) change(call);
        });
    }
    std::string call_of_peer() {
        std::vector<core::PeerMessage> batch(choices_.below(3));
        const bool is_odd = choices_.one_in(8);
        const auto number = question();
        for (auto& message : batch)
            message = numbered(1 + choices_.byte());
        return send_call(number, batch, [&](rpc::Call::Builder call) {
            if (is_odd) change(call);
        });
    }
    // Plays the member that the node has dialled.
    void answer_the_node() {
        const auto number = send_questions_from + question();
        door_.callee().say(choices_.coin() ? test::answer(number) : answer(number));
        door_.run();
    }
    // Makes it a message that no program of ours sends.
    void change(rpc::Call::Builder call) {
        switch (choices_.below(8)) {
            case 0: return call.setMethodId(choices_.byte());
            case 1: return call.setInterfaceId(choices_.next());
            case 2: return call.initTarget().setImportedCap(question());
            case 3: {
                auto answer = call.initTarget().initPromisedAnswer();
                answer.setQuestionId(question());
                for (auto step : answer.initTransform(static_cast<unsigned>(choices_.below(4)))) {
                    if (choices_.coin()) step.setGetPointerField(choices_.byte());
                }
                return;
            }
            case 4: return call.initSendResultsTo().setYourself();
            case 5: return offer(call.getParams());
            case 6: return garble(call.getParams().getContent());
            default: call.initParams(); return;
        }
    }
    void offer(rpc::Payload::Builder payload) {
        for (auto each : payload.initCapTable(static_cast<unsigned>(choices_.below(3)))) {
            switch (choices_.below(5)) {
                case 0: each.setSenderHosted(question()); break;
                case 1: each.setSenderPromise(question()); break;
                case 2: each.setReceiverHosted(question()); break;
                case 3: each.initReceiverAnswer().setQuestionId(question()); break;
                default: break;
            }
        }
    }
    void garble(capnp::AnyPointer::Builder content) {
        const auto bytes = choices_.piece();
        content.initAs<capnp::Data>(static_cast<unsigned>(bytes.size()));
    }
    std::string answer(unsigned to) {
        return frame([&](auto message) {
            auto answer = message.initReturn();
            answer.setAnswerId(to);
            switch (choices_.below(4)) {
                case 0: answer.setCanceled(); break;
                case 1: answer.initException().setReason("no"); break;
                case 2: answer.setTakeFromOtherQuestion(question()); break;
                default: offer(answer.initResults());
            }
        });
    }
    std::string odd_message() {
        return frame([&](auto message) {
            switch (choices_.below(7)) {
                case 0: {
                    auto release = message.initRelease();
                    release.setId(question());
                    release.setReferenceCount(choices_.byte());
                    break;
                }
                case 1: message.initAbort().setReason("enough"); break;
                case 2: message.initUnimplemented().initBootstrap(); break;
                case 3: message.initResolve().setPromiseId(question()); break;
                case 4: message.initDisembargo().initContext().setSenderLoopback(question()); break;
                case 5: message.initProvide().setQuestionId(question()); break;
                default: break;
            }
        });
    }

    Choices& choices_;
    Door& door_;
    asio::ip::tcp::socket socket_;
};

// A client that follows the protocol is served.
void check_serves(Door& door) {
    auto socket = door.visit();
    asio::write(socket, asio::buffer(client_hello() + member_call(2, status)));
    door.run();
    std::array<char, 4096> buffer{};
    asio::error_code error;
    const auto got = socket.read_some(asio::buffer(buffer), error);
    FUZZ_CHECK(!error && got > 0);
}

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mortise::fuzz;
    Choices choices{data, size};
    Door door;
    Hostile{choices, door}.run();
    check_serves(door);
    return 0;
}
