// Resolves names to addresses. Asio's own resolver joins its thread when the io_context is
// destroyed, however long the name server keeps that thread waiting. Here only the caller of a
// lookup waits for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/execution_context.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "transport/sockets/address.hpp"
#include "transport/sockets/endpoint_memory.hpp"

namespace mortise::transport {

// One for each io_context, found by asio::use_service. Used on the thread that runs it.
class Resolver final : public asio::execution_context::service {
public:
    using key_type = Resolver;
    static inline asio::execution_context::id id;

    struct Found {
        asio::error_code error;
        std::vector<asio::ip::tcp::endpoint> endpoints;
    };
    using Done = std::function<void(const Found&)>;
    using LookUp = std::function<Found(const HostPort&)>;

    explicit Resolver(asio::execution_context& context);
    ~Resolver() override = default;
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // `done` is called later, unless the io_context is destroyed first. An address has one lookup
    // at a time, which answers all its callers.
    void resolve(const HostPort& at, Done done);
    // What those who dial know of the endpoints of addresses.
    [[nodiscard]] EndpointMemory& memory() { return *memory_; }
    // Those on another io_context shall know it, too.
    void share_memory(std::shared_ptr<EndpointMemory> memory) { memory_ = std::move(memory); }
    // For tests: replaces the system's lookup. Called on a thread of its own, which may outlive the
    // io_context.
    void look_up_with(LookUp look_up) { look_up_ = std::move(look_up); }

private:
    struct Door;
    using Key = std::pair<std::string, std::string>;

    void shutdown() override;
    static void ask(const HostPort& at, const LookUp& look_up, const std::shared_ptr<Door>& door);
    void begin(const HostPort& at);
    void finished(const HostPort& at, const Found& found);

    LookUp look_up_;
    std::shared_ptr<EndpointMemory> memory_ = std::make_shared<EndpointMemory>();
    std::map<Key, std::vector<Done>> waiting_;
    std::shared_ptr<Door> door_;  // the threads know only this part of the object
};

}  // namespace mortise::transport
