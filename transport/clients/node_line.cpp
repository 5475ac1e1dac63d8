#include "transport/clients/node_line.hpp"

#include <utility>

#include "core/client/client_codec.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

void NodeLine::send(const core::ClientNotice& notice) {
    const auto bytes = core::encode(notice);
    const bool is_too_much =
        !pieces_.is_empty() && pieces_.size() + bytes.size() > unheard_bytes_max;
    if (is_too_much || bytes.size() > core::client_notice_bytes_max) return close();
    pieces_.add(bytes);
    const auto alive = loop_.lock();
    if (alive) (*alive)->run([this] { answer(); });
}

void NodeLine::close() {
    const auto alive = loop_.lock();
    if (!alive) return;
    (*alive)->run([visit = visit_] {
        if (const auto open = visit.lock()) open->malformed();
    });
}

bool NodeLine::may_wait() const {
    return waiting_.size() < hears_max;
}

kj::Promise<std::string> NodeLine::hear() {
    auto promised = kj::newPromiseAndFulfiller<std::string>();
    waiting_.push_back(kj::mv(promised.fulfiller));
    answer();
    return kj::mv(promised.promise);
}

void NodeLine::answer() {
    while (!waiting_.empty() && !pieces_.is_empty()) {
        auto next = kj::mv(waiting_.front());
        waiting_.pop_front();
        if (next->isWaiting()) next->fulfill(pieces_.take(heard_bytes_max));
    }
}

}  // namespace mortise::transport
