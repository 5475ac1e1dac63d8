#include "tools/mortise/bench/limits.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

using Clock = std::chrono::steady_clock;
using asio::ip::tcp;

class Scratch {
public:
    explicit Scratch(std::filesystem::path path)
        : path_{std::move(path)},
          file_{::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600)} {
        if (file_ < 0) fail("cannot create ");
    }
    ~Scratch() {
        ::close(file_);
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void append_durably(const std::array<char, 256>& record) {
        const auto size = ::write(file_, record.data(), record.size());
        if (size != static_cast<ssize_t>(record.size()) || ::fdatasync(file_) != 0)
            fail("cannot write ");
    }

private:
    [[noreturn]] void fail(const std::string& what) {
        throw std::system_error{errno, std::system_category(), what + path_.string()};
    }

    std::filesystem::path path_;
    int file_;
};

void echo(tcp::socket socket) {
    std::array<char, 64> message{};
    asio::error_code failed;
    while (!failed) {
        asio::read(socket, asio::buffer(message), failed);
        if (!failed) asio::write(socket, asio::buffer(message), failed);
    }
}

}  // namespace

Quantiles measure_sync(const std::filesystem::path& directory, std::chrono::seconds time) {
    Scratch scratch{directory / "sync-probe"};
    std::array<char, 256> record{};
    record.fill('m');
    Latency latency;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        const auto begin = Clock::now();
        scratch.append_durably(record);
        latency.add(Clock::now() - begin);
    }
    return latency.quantiles();
}

Quantiles measure_round_trip(std::chrono::seconds time) {
    asio::io_context io;
    tcp::acceptor acceptor{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    tcp::socket caller{io};
    caller.connect(acceptor.local_endpoint());
    auto called = acceptor.accept();
    caller.set_option(tcp::no_delay{true});
    called.set_option(tcp::no_delay{true});
    std::thread other{[&called] { echo(std::move(called)); }};

    std::array<char, 64> message{};
    Latency latency;
    asio::error_code failed;
    for (const auto end = Clock::now() + time; !failed && Clock::now() < end;) {
        const auto begin = Clock::now();
        asio::write(caller, asio::buffer(message), failed);
        if (!failed) asio::read(caller, asio::buffer(message), failed);
        latency.add(Clock::now() - begin);
    }
    asio::error_code ignored;
    caller.close(ignored);
    other.join();
    if (failed) throw std::system_error{failed, "loopback"};
    return latency.quantiles();
}

}  // namespace mortise::cli
