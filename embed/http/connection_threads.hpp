// Accepts connections, and gives each a thread. Their number is bounded: the next one closes the
// oldest that is idle or slow (P11).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "embed/http/connection.hpp"
#include "embed/http/descriptor.hpp"
#include "embed/http/wire.hpp"

namespace mortise::http {

class ConnectionThreads {
public:
    struct Options {
        const char* thread_name = "mortise-http";  // of the thread that accepts
        std::size_t connections_max = 32;
        MakeWire make_wire = plain_wire;
    };

    // serve(connection) runs on the connection's thread, and returns soon after it was shut down.
    // Throws std::system_error if there is no thread or no descriptor.
    ConnectionThreads(Descriptor listening, Options options,
                      std::function<void(Connection&)> serve);
    // Shuts all connections down and waits for their threads.
    ~ConnectionThreads();
    ConnectionThreads(const ConnectionThreads&) = delete;
    ConnectionThreads& operator=(const ConnectionThreads&) = delete;

private:
    struct Served {
        explicit Served(std::unique_ptr<Wire> wire) noexcept : connection{std::move(wire)} {}
        Connection connection;
        bool is_closing = false;
        std::atomic<bool> has_ended = false;
        std::thread thread;
    };

    void accept_all();
    void accept_one();
    void begin(Descriptor socket);
    void remove_ended();
    [[nodiscard]] bool make_room();
    void wake() const noexcept;

    const Descriptor listening_;
    const Descriptor wake_;  // an eventfd: a thread has ended, or all are to end
    std::atomic<bool> is_stopped_ = false;
    const Options options_;
    const std::function<void(Connection&)> serve_;
    std::list<Served> served_;  // used by the accepting thread, and after its end
    std::thread accepting_;
};

}  // namespace mortise::http
