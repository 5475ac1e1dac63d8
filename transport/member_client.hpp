// A program that is no member of the cluster, talking to one. Asynchronous, on the thread that runs
// the io_context, which is also where every call is made; and, below, for programs that would
// rather wait.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include <asio/io_context.hpp>

#include "core/base/result.hpp"
#include "transport/client_service.hpp"
#include "transport/greeting.hpp"
#include "transport/log.hpp"

namespace mortise::transport {

[[nodiscard]] const std::error_category& refusal_category();
[[nodiscard]] std::error_code make_error_code(Refusal refusal);

class MemberClient {
public:
    template <class T>
    using Done = std::function<void(core::Result<T>)>;

    // Without a cluster, any will do.
    explicit MemberClient(asio::io_context& io, core::ClusterId cluster = {}, Log log = {});
    // Closes. May happen in a callback.
    ~MemberClient();
    MemberClient(const MemberClient&) = delete;
    MemberClient& operator=(const MemberClient&) = delete;

    // Once, before anything else. Every callback comes once, never from within a call, unless the
    // client is closed first. When the connection breaks, all that wait get an error.
    void connect(const std::string& address, core::Nanoseconds timeout, Done<core::Hello> done);
    void status(Done<MemberStatus> done);
    // One page; with is_exact, one lock.
    void list(ListRequest request, Done<ListAnswer> done);
    void forward(core::Forward forward, Done<ForwardReply> done);
    // One stream at a time; answers with the index behind which it begins. The sink is called until
    // it is told of the end, the connection breaks, or the client is closed.
    void outcomes(const OutcomesRequest& request, OutcomeSink& sink, Done<core::LogIndex> done);
    void end_outcomes();
    // Once connected: called once when the connection breaks, after those that wait.
    void on_lost(std::function<void(core::Error)> lost);
    // No callback comes any more. Final.
    void close();

    class Impl;

private:
    std::shared_ptr<Impl> impl_;
};

// Runs a loop of its own on the calling thread while it waits. After a time-out, or any other error
// but a refusal to list, it is of no more use.
class BlockingMemberClient {
public:
    explicit BlockingMemberClient(core::Nanoseconds timeout, core::ClusterId cluster = {})
        : timeout_{timeout}, client_{io_, cluster} {}

    core::Result<core::Hello> connect(const std::string& address);
    core::Result<MemberStatus> status();
    core::Result<ListAnswer> list(ListRequest request);
    core::Result<ForwardReply> forward(core::Forward forward);

private:
    template <class T, class Start>
    core::Result<T> wait(Start start);

    core::Nanoseconds timeout_;  // of each call
    asio::io_context io_;
    MemberClient client_;
};

}  // namespace mortise::transport

template <>
struct std::is_error_code_enum<mortise::transport::Refusal> : std::true_type {};
