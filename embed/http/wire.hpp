// A connected socket as it is read and written: as it is, or through TLS.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "embed/http/descriptor.hpp"

namespace mortise::http {

// One thread reads and writes; shut_down() may be called on any thread.
class Wire {
public:
    explicit Wire(Descriptor socket) noexcept : socket_{std::move(socket)} {}
    virtual ~Wire() = default;
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    // How many bytes were read or written, at least one; `ended`: there will be none.
    static constexpr ssize_t ended = -1;
    // What has to come first: the socket is to be readable, or writable.
    static constexpr ssize_t wants_read = -2;
    static constexpr ssize_t wants_write = -3;

    // Neither waits.
    [[nodiscard]] virtual ssize_t receive(char* bytes, std::size_t size);
    [[nodiscard]] virtual ssize_t send(const char* bytes, std::size_t size);
    // Nothing more is sent.
    virtual void end_sending() noexcept;
    // The certificate of the other side, as PEM; empty if there is none, or before the first bytes
    // were received.
    [[nodiscard]] virtual std::string certificate() const { return {}; }

    [[nodiscard]] int number() const noexcept { return socket_.number(); }
    void shut_down() const noexcept;

private:
    Descriptor socket_;
};

using MakeWire = std::function<std::unique_ptr<Wire>(Descriptor)>;

[[nodiscard]] inline std::unique_ptr<Wire> plain_wire(Descriptor socket) {
    return std::make_unique<Wire>(std::move(socket));
}

// Waits for what a call of receive() or send() wants. False if it does not come in that time.
[[nodiscard]] bool wait_for(const Wire& wire, ssize_t wanted, int milliseconds_max) noexcept;
// The other side has closed its end, or the connection is broken.
[[nodiscard]] bool is_gone(const Wire& wire) noexcept;

}  // namespace mortise::http
