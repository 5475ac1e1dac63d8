// A blocking TCP connection over loopback, without delays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace mortise::bench {

// All of these throw std::system_error.
class Socket {
public:
    explicit Socket(int descriptor) : descriptor_{descriptor} {}
    ~Socket();
    Socket(Socket&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    Socket& operator=(Socket&&) = delete;

    [[nodiscard]] static Socket connect_to(std::uint16_t port);

    void send(std::span<const char> bytes);
    // At least one byte, unless the other end has closed: then 0.
    [[nodiscard]] std::size_t receive(std::span<char> bytes);
    // The other end receives 0 bytes after what was sent.
    void end();
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

class Listener {
public:
    Listener();
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] Socket accept();

private:
    int descriptor_;
};

}  // namespace mortise::bench
