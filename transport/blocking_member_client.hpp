// MemberClient for programs that would rather wait.
#pragma once

#include <functional>
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
    // Answers what says whether the program has left that loop its descriptors.
    using Watch = std::function<std::function<bool()>(asio::io_context&)>;

    // All its calls together may take as long as `timeout`, which begins here.
    // Credentials as for MemberClient. Nobody watches when `watch` is empty.
    explicit BlockingMemberClient(core::Nanoseconds timeout, core::ClusterId cluster = {},
                                  std::shared_ptr<const TlsCredentials> credentials = {},
                                  const Watch& watch = {});
    ~BlockingMemberClient();
    BlockingMemberClient(const BlockingMemberClient&) = delete;
    BlockingMemberClient& operator=(const BlockingMemberClient&) = delete;

    core::Result<core::Hello> connect(const std::string& address);
    core::Result<MemberStatus> status();
    core::Result<ListAnswer> list(const ListRequest& request);
    core::Result<ChangeAnswer> change(const core::MembershipGoal& goal);
    core::Result<ChangeAnswer> break_lock(const core::BreakLock& request);

private:
    template <class T, class Start>
    core::Result<T> wait(Start start);

    struct Parts;

    [[nodiscard]] bool is_whole() const { return !is_whole_ || is_whole_(); }

    core::Instant deadline_;
    std::unique_ptr<Parts> parts_;
    std::function<bool()> is_whole_;
};

}  // namespace mortise::transport
