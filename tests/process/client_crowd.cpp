// Many client nodes in one process, on one thread: each holds a lock of its own.
//
//     client_crowd COUNT SESSION_TTL_MS HOST:PORT...
//
// Prints "holding N" once all hold theirs; then "counted", with how many hold it and how many lost
// it since, for each line on standard input; and ends with the input.
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>

#include "core/client/client_core.hpp"
#include "embed/runtime/member_connection.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

struct Crowd {
    asio::io_context io{1};
    std::vector<std::string> members;
    std::size_t holding = 0;
    std::size_t lost = 0;
};

class Client {
public:
    Client(Crowd& crowd, core::ClientOptions options, std::size_t number)
        : crowd_{crowd}, core_{options, read_clocks()}, timer_{crowd.io}, number_{number} {}

    void start() {
        step(core::ClientTimer{});
        acquire();
    }

private:
    void acquire() {
        core::AcquireCall call;
        call.tag = core::CallTag{++tag_};
        call.request.names.push_back({"client/" + std::to_string(number_)});
        core::ClientCalls calls;
        calls.calls.emplace_back(std::move(call));
        step(std::move(calls));
    }

    void step(core::ClientEvent event) {
        auto effects = core_.step(std::move(event), read_clocks());
        crowd_.lost += effects.lost.size();
        crowd_.holding -= effects.lost.size();
        bool again = false;
        for (const auto& answer : effects.answers) {
            if (std::holds_alternative<core::Acquired>(answer.result)) {
                ++crowd_.holding;
            } else {
                again = true;  // nobody else wants it: the cluster is overloaded
            }
        }
        if (connection_) {
            for (const auto& message : effects.send)
                connection_->send(message);
        }
        if (effects.hang_up.is_set()) hang_up();
        if (effects.dial) dial(*effects.dial);
        set_timer();
        if (again) acquire();
    }

    void dial(const core::ClientEffects::Dial& dial) {
        hang_up();
        const auto connection = dial.connection;
        MemberConnection::Events events{[this, connection](const core::Hello& hello) {
                                            step(core::MemberUp{connection, hello.cluster});
                                        },
                                        [this, connection](const std::string&) {
                                            hang_up();
                                            step(core::MemberDown{connection});
                                        },
                                        [this, connection](core::ClientNotice notice) {
                                            step(core::MemberSaid{connection, std::move(notice)});
                                        }};
        connection_ = std::make_shared<MemberConnection>(
            crowd_.io, MemberConnection::Target{crowd_.members[dial.member], 5s}, transport::Log{},
            std::move(events));
        connection_->connect();
    }

    void hang_up() {
        if (const auto open = std::exchange(connection_, nullptr)) open->close();
    }

    void set_timer() {
        const auto due = core_.deadline();
        if (due == core::Instant::never()) return;
        timer_.expires_at(asio::steady_timer::time_point{core::Nanoseconds{due.ns}});
        timer_.async_wait([this](std::error_code error) {
            if (!error) step(core::ClientTimer{});
        });
    }

    Crowd& crowd_;
    core::ClientCore core_;
    asio::steady_timer timer_;
    std::size_t number_;
    std::uint64_t tag_ = 0;
    std::shared_ptr<MemberConnection> connection_;
};

// Answers each line of the input, and ends with it.
class Control {
public:
    explicit Control(Crowd& crowd) : crowd_{crowd}, input_{crowd.io, ::dup(0)} { read(); }

private:
    void read() {
        asio::async_read_until(input_, line_, '\n',
                               [this](std::error_code error, std::size_t size) {
                                   if (error) return crowd_.io.stop();
                                   line_.consume(size);
                                   std::printf("counted %zu %zu\n", crowd_.holding, crowd_.lost);
                                   std::fflush(stdout);
                                   read();
                               });
    }

    Crowd& crowd_;
    asio::posix::stream_descriptor input_;
    asio::streambuf line_;
};

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 3) return 64;
    Crowd crowd;
    const auto count = std::stoul(arguments[0]);
    core::ClientOptions options;
    options.session_ttl_ms = static_cast<std::uint32_t>(std::stoul(arguments[1]));
    options.call_timeout = 60s;
    crowd.members.assign(arguments.begin() + 2, arguments.end());
    options.members = crowd.members.size();
    std::random_device random;
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < count; ++i) {
        options.seed = (std::uint64_t{random()} << 32U) + random();
        clients.push_back(std::make_unique<Client>(crowd, options, i));
        clients.back()->start();
        if (i % 16 == 0) crowd.io.poll();
    }
    while (crowd.holding < count && !crowd.io.stopped())
        crowd.io.run_one();
    std::printf("holding %zu\n", crowd.holding);
    std::fflush(stdout);
    Control control{crowd};
    crowd.io.run();
    return 0;
}

}  // namespace
}  // namespace mortise::detail

int main(int count, char** arguments) {
    return mortise::detail::run({arguments + 1, arguments + count});
}
