#include "transport/clients/client_node_connection.hpp"

#include <algorithm>
#include <utility>

#include "core/client/client_codec.hpp"
#include "transport/sockets/clock.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

void ClientNodeConnection::send(const core::ClientNotice& notice) {
    const auto bytes = core::encode(notice);
    // Only one at a time does not count.
    const bool is_free = notice.state && state_left_ == 0;
    const auto unheard = pieces_.size() - state_left_ + (is_free ? 0 : bytes.size());
    if (unheard > unheard_bytes_max || bytes.size() > core::client_notice_bytes_max) return close();
    pieces_.add(bytes);
    if (is_free) state_left_ = pieces_.size();
    const auto alive = loop_.lock();
    if (alive) {
        (*alive)->run([this] {
            answer();
            tell_kept();
        });
    }
}

void ClientNodeConnection::end_with(void (Visit::*how)()) {
    const auto alive = loop_.lock();
    if (!alive) return;
    (*alive)->run([visit = visit_, how] {
        if (const auto open = visit.lock()) (open.get()->*how)();
    });
}

bool ClientNodeConnection::may_wait() const {
    return waiting_.size() < hears_max;
}

kj::Promise<std::string> ClientNodeConnection::hear() {
    auto promised = kj::newPromiseAndFulfiller<std::string>();
    waiting_.push_back(kj::mv(promised.fulfiller));
    answer();
    tell_kept();
    return kj::mv(promised.promise);
}

void ClientNodeConnection::answer() {
    while (!waiting_.empty() && !pieces_.is_empty()) {
        auto next = kj::mv(waiting_.front());
        waiting_.pop_front();
        if (!next->isWaiting()) continue;
        auto piece = pieces_.take(heard_bytes_max);
        state_left_ -= std::min(state_left_, piece.size());
        next->fulfill(std::move(piece));
    }
}

void ClientNodeConnection::pause(core::Nanoseconds longest) {
    paused_until_ = steady_now() + longest;
}

void ClientNodeConnection::resume() {
    paused_until_ = {};
    if (timer_) timer_->cancel();
    const auto alive = loop_.lock();
    if (!alive || said_.empty()) return;
    (*alive)->run([this] {
        for (auto& said : std::exchange(said_, {}))
            said->fulfill();
    });
}

kj::Promise<void> ClientNodeConnection::may_say_more() {
    if (steady_now() >= paused_until_) return kj::READY_NOW;
    auto promised = kj::newPromiseAndFulfiller<void>();
    said_.push_back(kj::mv(promised.fulfiller));
    if (said_.size() == 1) resume_later();
    return kj::mv(promised.promise);
}

void ClientNodeConnection::resume_later() {
    const auto alive = loop_.lock();
    if (!alive) return;
    if (!timer_) timer_.emplace((*alive)->io());
    timer_->expires_at(asio::steady_timer::time_point{core::Nanoseconds{paused_until_.ns}});
    timer_->async_wait([self = weak_from_this()](const asio::error_code& error) {
        const auto here = self.lock();
        if (!error && here) here->resume();
    });
}

void ClientNodeConnection::tell_kept() {
    if (const auto visit = visit_.lock()) visit->keeps(pieces_.size());
}

}  // namespace mortise::transport
