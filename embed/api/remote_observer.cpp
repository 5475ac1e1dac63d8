#include "embed/api/remote_observer.hpp"

#include <chrono>
#include <thread>
#include <utility>
#include <variant>

#include "embed/runtime/translate.hpp"
#include "embed/runtime/translate_observed.hpp"
#include "embed/values/one_line.hpp"
#include "embed/values/position.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

namespace {

constexpr core::Nanoseconds glance = std::chrono::milliseconds{50};

void wait_unless(const std::stop_token& stop, core::Nanoseconds time) {
    for (auto left = time; left > core::Nanoseconds::zero() && !stop.stop_requested();
         left -= glance)
        std::this_thread::sleep_for(glance);
}

}  // namespace

void RemoteObserver::run(const core::ObservedNames& names, const Position& from, const Sinks& sinks,
                         const std::stop_token& stop) {
    const auto& addresses = members_.addresses;
    reached_ = PositionParts::to_core(from);
    bool was_told = false;   // by any member
    std::size_t silent = 0;  // members in turn that did not answer
    std::vector<MemberProblem> problems;
    for (std::size_t at = 0; !stop.stop_requested(); at = (at + 1) % addresses.size()) {
        has_replied_ = false;
        const auto problem = follow(addresses[at], names, sinks, stop);
        if (stop.stop_requested()) return;
        was_told = was_told || has_replied_;
        silent = has_replied_ ? 0 : silent + 1;
        if (!was_told) problems.push_back({addresses[at], problem.what});
        if (!was_told && silent == addresses.size())
            throw in_one_line({problem.code, told_in_one_line(problems)});
        if (was_told && sinks.moved) sinks.moved(addresses[at], problem.what);
        if (silent > 0 && silent % addresses.size() == 0) wait_unless(stop, observe_round_pause);
    }
}

core::Error RemoteObserver::follow(const std::string& address, const core::ObservedNames& names,
                                   const Sinks& sinks, const std::stop_token& stop) {
    auto client = members_.caller();
    if (auto hello = client.connect(address); !hello)
        return at_member(address, std::move(hello).error());
    transport::ObserveRequest request{names, reached_, false, observe_poll_time};
    while (true) {
        auto answer = client.observe(request, [&stop] { return stop.stop_requested(); });
        if (!answer) return at_member(address, std::move(answer).error());
        if (auto* denied = std::get_if<core::Denied>(&*answer))
            throw LockError{Errc::permission_denied,
                            {names.prefix, {}, {}, std::move(denied->why)}};
        if (const auto* failed = std::get_if<core::CallError>(&*answer)) {
            const std::error_code code = errc_of(*failed);
            return at_member(address, {code, code.message()});
        }
        auto& reply = std::get<transport::ObserveReply>(*answer);
        take(reply, sinks);
        if (stop.stop_requested()) return {};
        if (unready_.leaves(reply, members_.addresses.size()))
            return at_member(address, {make_error_code(Errc::not_ready), "it is not ready"});
        request.continues = true;
    }
}

void RemoteObserver::take(transport::ObserveReply& reply, const Sinks& sinks) {
    has_replied_ = true;
    for (auto& told : reply.events)
        sinks.event(event_of(told));
    reached_ = reply.reached;
}

}  // namespace mortise::detail
