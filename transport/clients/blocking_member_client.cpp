#include "transport/clients/blocking_member_client.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "transport/sockets/clock.hpp"
#include "transport/sockets/resolver.hpp"

namespace mortise::transport {

struct BlockingMemberClient::Parts {
    Parts(core::ClusterId cluster, std::shared_ptr<const TlsCredentials> credentials)
        : client{io, cluster, std::move(credentials)} {}

    asio::io_context io;
    MemberClient client;
};

BlockingMemberClient::BlockingMemberClient(core::Nanoseconds timeout, core::ClusterId cluster,
                                           std::shared_ptr<const TlsCredentials> credentials,
                                           const Watch& watch,
                                           std::shared_ptr<EndpointMemory> memory)
    : timeout_{timeout},
      deadline_{steady_now() + timeout},
      parts_{std::make_unique<Parts>(cluster, std::move(credentials))} {
    if (watch) is_whole_ = watch(parts_->io);
    if (memory) asio::use_service<Resolver>(parts_->io).share_memory(std::move(memory));
}

// Descriptors that the program closed are not closed again, since their numbers may belong to its
// files.
BlockingMemberClient::~BlockingMemberClient() {
    if (!is_whole()) static_cast<void>(parts_.release());
}

template <class T, class Start>
core::Result<T> BlockingMemberClient::wait(Start start) {
    constexpr core::Nanoseconds look_again = std::chrono::milliseconds{50};
    const core::Error closed{std::make_error_code(std::errc::bad_file_descriptor),
                             "the program closed descriptors of this call"};
    if (!is_whole()) return closed;
    std::optional<core::Result<T>> answer;
    start([&answer](core::Result<T> result) { answer.emplace(std::move(result)); });
    auto& io = parts_->io;
    io.restart();
    while (!answer && !io.stopped() && steady_now() < deadline_) {
        if (!is_whole()) return closed;
        if (gives_up_ && gives_up_()) break;
        io.run_one_until(time_point_of(std::min(deadline_, steady_now() + look_again)));
    }
    if (answer) return std::move(*answer);
    parts_->client.close();  // nothing waits for that answer any more
    return core::Error{std::make_error_code(std::errc::timed_out), "no answer in time"};
}

core::Result<core::Hello> BlockingMemberClient::connect(const std::string& address) {
    const auto left = deadline_ - steady_now();
    return wait<core::Hello>(
        [&](auto done) { parts_->client.connect(address, left, std::move(done)); });
}

core::Result<MemberStatus> BlockingMemberClient::status() {
    return wait<MemberStatus>([&](auto done) { parts_->client.status(std::move(done)); });
}

core::Result<ListAnswer> BlockingMemberClient::list(const ListRequest& request) {
    return wait<ListAnswer>([&](auto done) { parts_->client.list(request, std::move(done)); });
}

// The member should time out first, because it knows whether anything has begun.
core::Result<ChangeAnswer> BlockingMemberClient::change(const core::MembershipGoal& goal) {
    const auto patience = (deadline_ - steady_now()) / 10 * 9;
    return wait<ChangeAnswer>(
        [&](auto done) { parts_->client.change(goal, patience, std::move(done)); });
}

core::Result<ChangeAnswer> BlockingMemberClient::break_lock(const core::BreakLock& request) {
    return wait<ChangeAnswer>(
        [&](auto done) { parts_->client.break_lock(request, std::move(done)); });
}

core::Result<ChangeAnswer> BlockingMemberClient::evict(const core::EvictSession& request) {
    return wait<ChangeAnswer>([&](auto done) { parts_->client.evict(request, std::move(done)); });
}

core::Result<SessionsAnswer> BlockingMemberClient::sessions(const SessionsRequest& request) {
    return wait<SessionsAnswer>(
        [&](auto done) { parts_->client.sessions(request, std::move(done)); });
}

core::Result<ActivityAnswer> BlockingMemberClient::activity(const std::string& prefix) {
    return wait<ActivityAnswer>(
        [&](auto done) { parts_->client.activity(prefix, std::move(done)); });
}

core::Result<ObserveAnswer> BlockingMemberClient::observe(const ObserveRequest& request,
                                                          std::function<bool()> gives_up) {
    deadline_ = steady_now() + request.patience + timeout_;
    gives_up_ = std::move(gives_up);
    return wait<ObserveAnswer>(
        [&](auto done) { parts_->client.observe(request, std::move(done)); });
}

}  // namespace mortise::transport
