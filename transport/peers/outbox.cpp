#include "transport/peers/outbox.hpp"

#include <algorithm>
#include <utility>

#include "core/base/overloaded.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::transport {

namespace {

// Votes go ahead of everything. Nothing else may: an append that overtakes the one before it is
// rejected, and an early TimeoutNow is wrong.
bool is_vote(const core::PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    if (raft == nullptr) return false;
    return std::visit(core::Overloaded{[](const core::PreVoteRequest&) { return true; },
                                       [](const core::PreVoteReply&) { return true; },
                                       [](const core::VoteRequest&) { return true; },
                                       [](const core::VoteReply&) { return true; },
                                       [](const auto&) { return false; }},
                      *raft);
}

bool carries_entries(const core::PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    const auto* append = raft == nullptr ? nullptr : std::get_if<core::AppendRequest>(raft);
    return append != nullptr && !append->entries.empty();
}

}  // namespace

Lane lane_of(const core::PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    // A snapshot is long and not urgent: nothing that a leader needs waits behind it.
    const bool is_state = raft != nullptr && std::holds_alternative<core::SnapshotChunk>(*raft);
    const bool forwards = std::holds_alternative<core::Forward>(message) || is_state;
    return forwards ? Lane::forwarding : Lane::replication;
}

void Outbox::push(core::PeerMessage message) {
    if (auto* forward = std::get_if<core::Forward>(&message); forward && forward->renewal) {
        push_renewal(*std::exchange(forward->renewal, std::nullopt));
        if (forward->batch.empty()) return;
    }
    const auto bytes = wire_words(message) * word_bytes;
    if (!fits(bytes) && lane_ == Lane::replication) {
        drop_entries();
        if (!fits(bytes)) drop_all(waiting_);
    }
    if (!fits(bytes)) {
        ++dropped_;
        return;
    }
    auto& queue = is_vote(message) ? urgent_ : waiting_;
    queue.push_back({std::move(message), bytes});
    bytes_ += bytes;
}

// Renewals are not limited: each session has only one, and expires without it.
void Outbox::push_renewal(const core::Renewal& renewal) {
    for (auto& waiting : urgent_) {
        auto& other = std::get<core::Forward>(waiting.message).renewal;
        if (other->session != renewal.session) continue;
        other->number = std::max(other->number, renewal.number);
        return;
    }
    core::PeerMessage message{core::Forward{{}, renewal}};
    const auto bytes = wire_words(message) * word_bytes;
    urgent_.push_back({std::move(message), bytes});
    bytes_ += bytes;
}

std::vector<core::PeerMessage> Outbox::take_batch() {
    std::vector<core::PeerMessage> batch;
    auto room = limits_.batch_bytes_max;
    while (move_to(batch, urgent_, room)) {
    }
    // The rest of them goes first in the next batch, too.
    while (urgent_.empty() && move_to(batch, waiting_, room)) {
    }
    return batch;
}

bool Outbox::move_to(std::vector<core::PeerMessage>& batch, Queue& from, std::size_t& room) {
    if (from.empty() || batch.size() == limits_.batch_messages_max) return false;
    auto& next = from.front();
    if (!batch.empty() && next.bytes > room) return false;
    room -= std::min(room, next.bytes);
    bytes_ -= next.bytes;
    batch.push_back(std::move(next.message));
    from.pop_front();
    return true;
}

void Outbox::clear() {
    urgent_.clear();
    waiting_.clear();
    bytes_ = 0;
}

// An empty queue accepts a message of any size, which could never be sent otherwise.
bool Outbox::fits(std::size_t bytes) const {
    return empty() || bytes_ + bytes <= limits_.bytes_max;
}

void Outbox::drop_entries() {
    Queue kept;
    for (auto& each : waiting_) {
        if (carries_entries(each.message)) {
            bytes_ -= each.bytes;
            ++dropped_;
        } else {
            kept.push_back(std::move(each));
        }
    }
    waiting_ = std::move(kept);
}

void Outbox::drop_all(Queue& queue) {
    for (const auto& each : queue)
        bytes_ -= each.bytes;
    dropped_ += queue.size();
    queue.clear();
}

}  // namespace mortise::transport
