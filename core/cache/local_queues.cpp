#include "core/cache/local_queues.hpp"

#include "core/base/check.hpp"

namespace mortise::core {

// If memory is lacking, nothing has changed but a queue without callers, which the next call
// removes.
void LocalQueues::add(std::string_view name, Waiter waiter) {
    auto queue = queues_.find(name);
    if (queue == queues_.end()) queue = queues_.emplace(std::string{name}, Queue{}).first;
    Waiters one;
    one.push_back(std::move(waiter));
    const auto place = one.begin();
    const auto [entry, is_new] = by_call_.emplace(place->call, Place{&*queue, place});
    MORTISE_CHECK(is_new);
    try {
        by_until_.emplace(place->until, place->call);
    } catch (...) {
        by_call_.erase(entry);
        throw;
    }
    queue->second.waiters.splice(queue->second.waiters.end(), one);
}

void LocalQueues::set_asker(std::string_view name, CallTag asker, Instant now) {
    if (!queues_.contains(name)) queues_.emplace(std::string{name}, Queue{});
    change_asker(name, asker, now);
}

void LocalQueues::change_asker(std::string_view name, CallTag asker, Instant now) {
    const auto queue = queues_.find(name);
    if (queue != queues_.end()) queue->second.asker = Asker{asker, now};
}

bool LocalQueues::forget_asker(std::string_view name, CallTag asker) {
    const auto queue = queues_.find(name);
    if (queue == queues_.end() || !queue->second.asker || queue->second.asker->call != asker)
        return false;
    queue->second.asker.reset();
    erase_if_unused(queue);
    return true;
}

std::optional<Instant> LocalQueues::asked_at(std::string_view name) const {
    const auto queue = queues_.find(name);
    if (queue == queues_.end() || !queue->second.asker) return std::nullopt;
    return queue->second.asker->at;
}

const LocalQueues::Waiter* LocalQueues::first(std::string_view name) const {
    const auto queue = queues_.find(name);
    if (queue == queues_.end() || queue->second.waiters.empty()) return nullptr;
    return &queue->second.waiters.front();
}

std::optional<CallTag> LocalQueues::due(Instant now) const {
    if (by_until_.empty() || by_until_.begin()->first > now) return std::nullopt;
    return by_until_.begin()->second;
}

const std::string& LocalQueues::name_of(CallTag call) const {
    return by_call_.at(call).queue->first;
}

LocalQueues::Waiters LocalQueues::take(CallTag call) {
    const auto place = by_call_.find(call);
    if (place == by_call_.end()) return {};
    const auto [queue, waiter] = place->second;
    Waiters one;
    one.splice(one.end(), queue->second.waiters, waiter);
    by_until_.erase({waiter->until, waiter->call});
    by_call_.erase(place);
    erase_if_unused(queues_.find(queue->first));
    return one;
}

LocalQueues::Waiters LocalQueues::take_all(std::string_view name) {
    const auto queue = queues_.find(name);
    if (queue == queues_.end()) return {};
    auto all = std::move(queue->second.waiters);
    queue->second.waiters.clear();
    for (const auto& one : all) {
        by_until_.erase({one.until, one.call});
        by_call_.erase(one.call);
    }
    erase_if_unused(queue);
    return all;
}

void LocalQueues::clear() {
    by_until_.clear();
    by_call_.clear();
    queues_.clear();
}

bool LocalQueues::is_empty(std::string_view name) const {
    const auto queue = queues_.find(name);
    return queue == queues_.end() || queue->second.waiters.empty();
}

Instant LocalQueues::deadline() const {
    return by_until_.empty() ? Instant::never() : by_until_.begin()->first;
}

void LocalQueues::for_each_name(const std::function<void(std::string_view)>& use) const {
    for (const auto& [name, queue] : queues_) {
        if (!queue.waiters.empty()) use(name);
    }
}

void LocalQueues::erase_if_unused(Queues::iterator queue) {
    if (queue != queues_.end() && queue->second.waiters.empty() && !queue->second.asker)
        queues_.erase(queue);
}

}  // namespace mortise::core
