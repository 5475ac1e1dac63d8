#include "bench/floor/probe.hpp"

#include <array>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include "bench/floor/log_file.hpp"
#include "bench/floor/socket.hpp"

namespace mortise::bench {

namespace {

using Message = std::array<char, 64>;

void receive_all(Socket& socket, Message& message) {
    std::span<char> rest{message};
    while (!rest.empty()) {
        const auto got = socket.receive(rest);
        if (got == 0) throw std::system_error{EPIPE, std::system_category(), "loopback"};
        rest = rest.subspan(got);
    }
}

void echo(Socket socket) {
    Message message{};
    while (const auto got = socket.receive(message))
        socket.send({message.data(), got});
}

template <class Act>
Histogram repeated(Seconds time, const Act& act) {
    Histogram histogram;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        const auto begin = Clock::now();
        act();
        histogram.add(Clock::now() - begin);
    }
    return histogram;
}

}  // namespace

Histogram measure_sync(const std::filesystem::path& directory, Seconds time) {
    const auto path = directory / "sync-probe";
    LogFile file{path};
    const std::array<char, 256> record{};
    auto histogram = repeated(time, [&] { file.append_durably(record); });
    std::filesystem::remove(path);
    return histogram;
}

Histogram measure_round_trip(Seconds time) {
    Listener listener;
    std::optional<Socket> caller{Socket::connect_to(listener.port())};
    std::jthread other{[socket = listener.accept()]() mutable { echo(std::move(socket)); }};
    Message message{};
    auto histogram = repeated(time, [&] {
        caller->send(message);
        receive_all(*caller, message);
    });
    caller.reset();
    return histogram;
}

}  // namespace mortise::bench
