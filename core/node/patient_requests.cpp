#include "core/node/patient_requests.hpp"

#include <algorithm>
#include <chrono>

namespace mortise::core {

namespace {

// Nobody waits for a place in a queue, but readers of the table see it late, and wait cycles are
// found late.
constexpr Nanoseconds patience = std::chrono::milliseconds{3};
// Each is looked at again after each entry, so there are few: with more than these at once there is
// work for an entry anyway.
constexpr std::size_t waiting_max = 32;

}  // namespace

bool PatientRequests::takes(const DecodedForward& decoded) {
    const auto queues = [this](const Command& command) { return can_only_queue(command); };
    if (waiting_.size() + decoded.commands.size() > waiting_max) return false;
    if (!std::ranges::all_of(decoded.commands, queues)) return false;
    for (const auto& command : decoded.commands) {
        if (const auto* request = std::get_if<Request>(&command))
            waiting_.push_back(std::get<Acquire>(request->body));
    }
    return !waiting_.empty();
}

// An acknowledgement frees kept answers, for which nobody waits.
bool PatientRequests::can_only_queue(const Command& command) const {
    if (std::holds_alternative<Acknowledge>(command)) return true;
    const auto* request = std::get_if<Request>(&command);
    const auto* acquire = request != nullptr ? std::get_if<Acquire>(&request->body) : nullptr;
    return acquire != nullptr && can_only_queue(*acquire);
}

// A try is answered at once. The first waiter is urgent: its own session may have released the name
// a moment ago, which is not applied here yet; the holder is told of it (S24), and its node gives a
// cached grant back (S43). Until ended sessions are swept, the question would cost a look at every
// waiter.
bool PatientRequests::can_only_queue(const Acquire& acquire) const {
    const bool is_plain = acquire.wait && acquire.permits == 0 && acquire.names.size() == 1;
    if (!is_plain || machine_.needs_sweep()) return false;
    const auto& [name, mode] = acquire.names.front();
    const auto* queue = machine_.table().queue_of(name);
    const bool is_waited = queue != nullptr && !queue->is_empty();
    return is_waited && !machine_.would_grant(name, mode, acquire.priority);
}

bool PatientRequests::are_due(LogIndex applied, Instant now) {
    if (waiting_.empty()) return false;
    if (since_ == Instant::never()) since_ = now;
    if (now >= deadline()) return true;
    if (looked_at_ == applied) return false;
    looked_at_ = applied;
    return !std::ranges::all_of(waiting_,
                                [this](const Acquire& one) { return can_only_queue(one); });
}

Instant PatientRequests::deadline() const {
    return since_ == Instant::never() ? since_ : since_ + patience;
}

void PatientRequests::clear() {
    waiting_.clear();
    since_ = Instant::never();
}

}  // namespace mortise::core
