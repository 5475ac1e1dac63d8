// MemberClient for programs that would rather wait.
#pragma once

#include <memory>
#include <string>

#include <asio/io_context.hpp>

#include "core/base/instant.hpp"
#include "core/base/result.hpp"
#include "transport/member_client.hpp"

namespace mortise::transport {

// Runs a loop of its own on the calling thread while it waits. After a time-out, or any other error
// but a refusal to list, it is of no more use.
class BlockingMemberClient {
public:
    // All its calls together may take as long as `timeout`, which begins here.
    // Credentials as for MemberClient.
    explicit BlockingMemberClient(core::Nanoseconds timeout, core::ClusterId cluster = {},
                                  std::shared_ptr<const TlsCredentials> credentials = {});

    core::Result<core::Hello> connect(const std::string& address);
    core::Result<MemberStatus> status();
    core::Result<ListAnswer> list(const ListRequest& request);
    core::Result<ChangeAnswer> change(const core::MembershipGoal& goal);
    core::Result<ChangeAnswer> break_lock(const core::BreakLock& request);
    core::Result<ForwardReply> forward(const core::Forward& forward);

private:
    template <class T, class Start>
    core::Result<T> wait(Start start);

    core::Instant deadline_;
    asio::io_context io_;
    MemberClient client_;
};

}  // namespace mortise::transport
