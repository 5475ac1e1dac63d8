#include "transport/blocking_member_client.hpp"

#include <optional>
#include <utility>

#include "transport/clock.hpp"

namespace mortise::transport {

BlockingMemberClient::BlockingMemberClient(core::Nanoseconds timeout, core::ClusterId cluster,
                                           std::shared_ptr<const TlsCredentials> credentials)
    : deadline_{steady_now() + timeout}, client_{io_, cluster, std::move(credentials)} {}

template <class T, class Start>
core::Result<T> BlockingMemberClient::wait(Start start) {
    std::optional<core::Result<T>> answer;
    start([&answer](core::Result<T> result) { answer.emplace(std::move(result)); });
    io_.restart();
    while (!answer && io_.run_one_until(time_point_of(deadline_)) != 0) {
    }
    if (answer) return std::move(*answer);
    client_.close();  // nobody waits for that answer any more
    return core::Error{std::make_error_code(std::errc::timed_out), "no answer in time"};
}

core::Result<core::Hello> BlockingMemberClient::connect(const std::string& address) {
    const auto left = deadline_ - steady_now();
    return wait<core::Hello>([&](auto done) { client_.connect(address, left, std::move(done)); });
}

core::Result<MemberStatus> BlockingMemberClient::status() {
    return wait<MemberStatus>([&](auto done) { client_.status(std::move(done)); });
}

core::Result<ListAnswer> BlockingMemberClient::list(const ListRequest& request) {
    return wait<ListAnswer>([&](auto done) { client_.list(request, std::move(done)); });
}

// The member is to give up first: it knows whether anything has begun.
core::Result<ChangeAnswer> BlockingMemberClient::change(const core::MembershipGoal& goal) {
    const auto patience = (deadline_ - steady_now()) / 10 * 9;
    return wait<ChangeAnswer>([&](auto done) { client_.change(goal, patience, std::move(done)); });
}

core::Result<ChangeAnswer> BlockingMemberClient::break_lock(const core::BreakLock& request) {
    return wait<ChangeAnswer>([&](auto done) { client_.break_lock(request, std::move(done)); });
}

core::Result<ForwardReply> BlockingMemberClient::forward(const core::Forward& forward) {
    return wait<ForwardReply>([&](auto done) { client_.forward(forward, std::move(done)); });
}

}  // namespace mortise::transport
