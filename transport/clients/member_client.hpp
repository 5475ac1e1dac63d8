// A client's connection to a member of the cluster. It is asynchronous; all calls and callbacks
// happen on the thread that runs the io_context. BlockingMemberClient has blocking calls.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <asio/io_context.hpp>

#include "core/base/result.hpp"
#include "transport/clients/client_service.hpp"
#include "transport/sockets/log.hpp"
#include "transport/wire/greeting.hpp"

namespace mortise::transport {

class TlsCredentials;

class MemberClient {
public:
    template <class T>
    using Done = std::function<void(core::Result<T>)>;

    // Without a cluster id it accepts any cluster. With credentials the connection is secured, and
    // the other side must be a node of the cluster that they name.
    explicit MemberClient(asio::io_context& io, core::ClusterId cluster = {},
                          std::shared_ptr<const TlsCredentials> credentials = {}, Log log = {});
    // Closes it. May be called in a callback.
    ~MemberClient();
    MemberClient(const MemberClient&) = delete;
    MemberClient& operator=(const MemberClient&) = delete;

    // Call it once, before anything else. Every callback is called once, and never from within a
    // call; if the client is closed first, it is not called. If the connection breaks, all pending
    // calls fail.
    void connect(const std::string& address, core::Nanoseconds timeout, Done<core::Hello> done);
    void status(Done<MemberStatus> done);
    // Requests one page; with is_exact, one lock.
    void list(const ListRequest& request, Done<ListAnswer> done);
    // The member answers within `patience`, or not at all.
    void change(const core::MembershipGoal& goal, core::Nanoseconds patience,
                Done<ChangeAnswer> done);
    void break_lock(const core::BreakLock& request, Done<ChangeAnswer> done);
    void evict(const core::EvictSession& request, Done<ChangeAnswer> done);
    // For client nodes: a piece of what it says, and the next piece of what the member reports
    // (transport/wire/pieces.hpp). Both keep their order.
    void say(std::string piece, Done<void> done);
    void hear(Done<std::string> done);
    void observe(const ObserveRequest& request, Done<ObserveAnswer> done);
    void sessions(const SessionsRequest& request, Done<SessionsAnswer> done);
    void activity(std::string prefix, Done<ActivityAnswer> done);
    // The node that the certificate of the other side names, also if it refused this client. Not
    // set without TLS, and if it is no node of the cluster.
    [[nodiscard]] core::NodeId certified() const;
    // The credentials of a client that began with some have changed. Says why the member that it is
    // connected with is not trusted by the new ones; then the caller should close the client.
    [[nodiscard]] core::Result<void> set_credentials(
        std::shared_ptr<const TlsCredentials> credentials);
    // No callback comes any more. Final.
    void close();

    class Impl;

private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace mortise::transport
