#include "tests/sim/judges/fairness.hpp"

#include <algorithm>

#include "core/locks/lock_mode.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

void Fairness::queued(const std::string& name, const Wish& wish) {
    auto& places = places_[wish.operation];
    if (std::ranges::find(places, name) != places.end()) return;
    places.push_back(name);
    auto& queue = queues_[name];
    if (queue.waiters.empty()) fresh_.insert(name);
    if (wish.priority > 0) queue.has_priorities = true;
    const auto writers = std::ranges::count_if(
        queue.waiters, [](const Waiter& one) { return spec::is_writing(one.wish.mode); });
    queue.waiters.push_back({wish, {wish.mode, static_cast<std::size_t>(writers)}});
}

void Fairness::granted(const std::string& name, const Wish& wish, core::LogIndex at) {
    const auto found = queues_.find(name);
    if (found == queues_.end()) return;
    auto& queue = found->second;
    if (wish.priority > 0) queue.has_priorities = true;
    for (auto& waiter : queue.waiters) {
        if (waiter.wish.operation == wish.operation) {
            probe_policy(queue);
            break;  // later waiters have passed less often
        }
        pass(queue, waiter, wish, at);
    }
}

void Fairness::pass(Queue& queue, Waiter& passed, const Wish& wish, core::LogIndex at) {
    const auto words = in_words(wish.operation) + " passed " + in_words(passed.wish.operation);
    if (wish.is_barrier || passed.wish.is_barrier) {
        violations_.report({}, "fairness: S32: a barrier was passed: " + words);
    }
    // In the entry that created the queue no waiter can be passed too often.
    if (!queue.policy || core::compatible(passed.wish.mode, wish.mode)) return;
    const auto* wrong = passed.overtaken.by(wish.mode, at, *queue.policy, queue.has_priorities);
    if (passed.overtaken.times() == 8) tally_.probe("overtaken 8 times");
    if (wrong != nullptr) violations_.report({}, std::string{"fairness: "} + wrong + ": " + words);
}

void Fairness::probe_policy(const Queue& queue) {
    if (!queue.policy) return;
    switch (*queue.policy) {
        case core::QueuePolicy::phase_fair: return tally_.probe("let in, phase fair");
        case core::QueuePolicy::fifo: return tally_.probe("let in, first in first out");
        case core::QueuePolicy::prefer_readers: return tally_.probe("let in, readers preferred");
        case core::QueuePolicy::prefer_writers: return tally_.probe("let in, writers preferred");
    }
}

void Fairness::left(core::OperationId operation) {
    const auto places = places_.extract(operation);
    if (places.empty()) return;
    for (const auto& name : places.mapped())
        leave(name, operation);
}

void Fairness::leave(const std::string& name, core::OperationId operation) {
    const auto queue = queues_.find(name);
    std::erase_if(queue->second.waiters,
                  [&](const Waiter& one) { return one.wish.operation == operation; });
    if (!queue->second.waiters.empty()) return;
    queues_.erase(queue);
    fresh_.erase(name);
}

void Fairness::ended(core::SessionId session) {
    const auto first = places_.lower_bound({session, {}});
    std::vector<core::OperationId> gone;
    for (auto place = first; place != places_.end() && place->first.session == session; ++place)
        gone.push_back(place->first);
    for (const auto operation : gone)
        left(operation);
}

void Fairness::learn_policies(const PolicyOf& policy_of) {
    for (const auto& name : fresh_)
        queues_.at(name).policy = policy_of(name);
    fresh_.clear();
}

}  // namespace mortise::sim
