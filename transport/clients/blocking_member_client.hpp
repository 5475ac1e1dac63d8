// MemberClient with blocking calls.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <asio/io_context.hpp>

#include "core/base/instant.hpp"
#include "core/base/result.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/sockets/endpoint_memory.hpp"

namespace mortise::transport {

// Runs its own loop on the calling thread while it waits. After a timeout, or any error except a
// refusal to list, the object cannot be used any more.
class BlockingMemberClient {
public:
    // Returns a function that says whether the loop still has its descriptors.
    using Watch = std::function<std::function<bool()>(asio::io_context&)>;

    // All calls together may take `timeout`, which begins here. Credentials as for MemberClient.
    // Without `watch` the descriptors are not checked. Several clients may share a memory, and then
    // begin with the endpoint that worked for the one before.
    explicit BlockingMemberClient(core::Nanoseconds timeout, core::ClusterId cluster = {},
                                  std::shared_ptr<const TlsCredentials> credentials = {},
                                  const Watch& watch = {},
                                  std::shared_ptr<EndpointMemory> memory = {});
    ~BlockingMemberClient();
    BlockingMemberClient(const BlockingMemberClient&) = delete;
    BlockingMemberClient& operator=(const BlockingMemberClient&) = delete;

    core::Result<core::Hello> connect(const std::string& address);
    core::Result<MemberStatus> status();
    core::Result<ListAnswer> list(const ListRequest& request);
    core::Result<ChangeAnswer> change(const core::MembershipGoal& goal);
    core::Result<ChangeAnswer> break_lock(const core::BreakLock& request);
    core::Result<ChangeAnswer> evict(const core::EvictSession& request);
    core::Result<SessionsAnswer> sessions(const SessionsRequest& request);
    core::Result<ActivityAnswer> activity(const std::string& prefix);
    // The timeout begins anew, and the patience of the request comes in addition. `gives_up` is
    // asked several times a second; if it returns true, the answer is std::errc::timed_out.
    core::Result<ObserveAnswer> observe(const ObserveRequest& request,
                                        std::function<bool()> gives_up);

private:
    template <class T, class Start>
    core::Result<T> wait(Start start);

    struct Parts;

    [[nodiscard]] bool is_whole() const { return !is_whole_ || is_whole_(); }

    core::Nanoseconds timeout_;
    core::Instant deadline_;
    std::function<bool()> gives_up_;
    std::unique_ptr<Parts> parts_;
    std::function<bool()> is_whole_;
};

}  // namespace mortise::transport
