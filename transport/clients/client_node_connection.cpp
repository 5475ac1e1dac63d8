#include "transport/clients/client_node_connection.hpp"

#include <algorithm>
#include <utility>

#include "core/client/client_codec.hpp"
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

void ClientNodeConnection::tell_kept() {
    if (const auto visit = visit_.lock()) visit->keeps(pieces_.size());
}

}  // namespace mortise::transport
