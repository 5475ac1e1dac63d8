#include "embed/runtime/member_observer.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "embed/runtime/translate.hpp"
#include "embed/runtime/translate_observed.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

MemberObserver::MemberObserver(Node node, ObserverHub::Arrival arrival, std::size_t first)
    : node_{std::move(node)},
      queue_{std::move(arrival.queue)},
      names_{std::move(arrival.names)},
      reached_{arrival.from},
      at_{first},
      timer_{node_.io} {}

// --- one member ---------------------------------------------------------------------------------

void MemberObserver::dial() {
    if (queue_.expired()) return close();
    client_ = std::make_unique<transport::MemberClient>(
        node_.io, node_.cluster(), node_.credentials(),
        [&log = node_.log](transport::LogLevel /*level*/, const std::string& text) {
            log.debug("observe", text);
        });
    address_ = node_.members.at(at_);
    client_->connect(address_, node_.patience,
                     [this](const core::Result<core::Hello>& hello) { connected(hello); });
}

// A member of a cluster with another name has other locks of these names.
void MemberObserver::connected(const core::Result<core::Hello>& hello) {
    if (!hello) return leave(hello.error().what);
    const auto& name = hello->cluster_name;
    if (!name.empty() && name != node_.config.cluster)
        return leave("it belongs to a cluster named " + name);
    if (hello->is_empty()) return leave("it is in no cluster yet");
    ask(false);
}

void MemberObserver::ask(bool continues) {
    set_timer(observe_poll_time + node_.patience);
    client_->observe(
        {names_, reached_, continues, observe_poll_time},
        [this](core::Result<transport::ObserveAnswer> answer) { answered(std::move(answer)); });
}

void MemberObserver::answered(core::Result<transport::ObserveAnswer> answer) {
    timer_.cancel();
    due_ = core::Instant::never();
    if (!answer) return leave(answer.error().what);
    if (const auto* failed = std::get_if<core::CallError>(&*answer))
        return leave(std::error_code{errc_of(*failed)}.message());
    if (const auto* denied = std::get_if<core::Denied>(&*answer)) {
        if (!std::exchange(was_denied_, true))
            node_.log.warn("observe",
                           "cannot go on to observe \"" + names_.prefix + "\": " + denied->why);
        return leave(denied->why);
    }
    auto& reply = std::get<transport::ObserveReply>(*answer);
    silent_ = 0;
    was_denied_ = false;
    leaves_ = unready_.leaves(reply, node_.members.size());
    told_ = std::move(reply.events);
    delivered_ = 0;
    reached_ = reply.reached;
    deliver();
}

void MemberObserver::deliver() {
    const auto queue = queue_.lock();
    if (!queue) return close();
    is_delivering_ = true;
    try {
        while (delivered_ < told_.size()) {
            const auto room = std::min(queue->room(), told_.size() - delivered_);
            if (room == 0) return;  // it will ask
            for (std::size_t i = 0; i < room; ++i)
                queue->add(event_of(told_[delivered_++]), node_.notifier);
        }
    } catch (const std::bad_alloc&) {  // a gap is better than a missing change
        return begin_anew();
    }
    is_delivering_ = false;
    told_.clear();
    if (leaves_) return leave("it is not ready");
    ask(true);
}

void MemberObserver::begin_anew() {
    is_delivering_ = false;
    told_.clear();
    reached_ = {};
    ask(false);
}

bool MemberObserver::go_on() {
    if (queue_.expired()) close();
    if (!is_closed_ && is_delivering_) deliver();
    return !is_closed_;
}

void MemberObserver::set_credentials(
    const std::shared_ptr<const transport::TlsCredentials>& credentials) {
    if (!client_ || is_delivering_) return;  // the next connection has them
    const auto believed = client_->set_credentials(credentials);
    if (!believed) leave(believed.error().what);
}

// --- from one member to the next ----------------------------------------------------------------

void MemberObserver::leave(const std::string& why) {
    const auto& members = node_.members;
    node_.log.debug("observe", address_ + ": " + why);
    client_.reset();
    at_ = (at_ + 1) % members.size();
    ++silent_;
    if (silent_ % members.size() == 0) return set_timer(observe_round_pause);
    dial();
}

// An earlier wait that was cancelled may be about to end as if it had not been.
void MemberObserver::set_timer(core::Nanoseconds time) {
    due_ = steady_now() + time;
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](const asio::error_code& cancelled) {
        const auto self = weak.lock();
        if (!cancelled && self && !self->is_closed_ && steady_now() >= self->due_)
            self->timer_fired();
    });
}

void MemberObserver::timer_fired() {
    due_ = core::Instant::never();
    if (client_) return leave("it does not answer");
    dial();
}

void MemberObserver::close() {
    is_closed_ = true;
    timer_.cancel();
    client_.reset();
}

}  // namespace mortise::detail
