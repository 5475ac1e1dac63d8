#include "core/node/fair_queue.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// So many bytes take as much of an entry as one name does.
constexpr std::size_t bytes_of_a_name = batch_bytes_max / entry_commands_max;

// What concerns no session shares one turn.
SessionId who_waits(SessionId turn) {
    return turn.is_set() ? turn : SessionId{std::numeric_limits<std::uint64_t>::max()};
}

std::uint64_t work_of(const FairQueue::Batch& batch) {
    return std::max(batch.names, batch.bytes.size() / bytes_of_a_name);
}

}  // namespace

bool FairQueue::comes_later(const Place& a, const Place& b) {
    return a.stamp != b.stamp ? a.stamp > b.stamp : a.arrival > b.arrival;
}

void FairQueue::add(Batch batch) {
    MORTISE_CHECK(batch.commands != 0 && batch.names >= batch.commands);
    const auto session = who_waits(batch.turn);
    auto* waiting = sessions_.find(session);
    if (waiting == nullptr) waiting = &sessions_.insert(session, {now_, 0});
    waiting->stamp += work_of(batch);
    waiting->bytes += batch.bytes.size();
    bytes_ += batch.bytes.size();
    names_ += batch.names;
    heap_.push_back({waiting->stamp, arrivals_++, std::move(batch)});
    std::ranges::push_heap(heap_, comes_later);
}

void FairQueue::pop_front() {
    std::ranges::pop_heap(heap_, comes_later);
    const auto& [stamp, arrival, batch] = heap_.back();
    now_ = stamp;
    bytes_ -= batch.bytes.size();
    names_ -= batch.names;
    const auto session = who_waits(batch.turn);
    auto* waiting = sessions_.find(session);
    waiting->bytes -= batch.bytes.size();
    if (waiting->stamp == stamp) (void)sessions_.take(session);
    heap_.pop_back();
}

std::size_t FairQueue::bytes_of(SessionId turn) const {
    const auto* waiting = sessions_.find(who_waits(turn));
    return waiting == nullptr ? 0 : waiting->bytes;
}

}  // namespace mortise::core
