#include "core/node/contention_watch.hpp"

#include <utility>

namespace mortise::core {

void ContentionWatch::watch(OperationId hold, const Names& names) {
    names_[hold] = names;
    for (const auto& name : names) {
        holds_[name].insert(hold);
        // A new holder is notified of the requests that wait already: in a queue of ten, each
        // holder in turn learns of the rest.
        marked_[name].insert(hold);
    }
    if (auto early = asked_early_.extract(hold); !early.empty())
        asked_.push_back(std::move(early.mapped()));
}

void ContentionWatch::forget(OperationId hold) {
    asked_early_.erase(hold);
    const auto found = names_.extract(hold);
    if (found.empty()) return;
    for (const auto& name : found.mapped()) {
        const auto holds = holds_.find(name);
        holds->second.erase(hold);
        // A broken hold is still in the machine.
        if (const auto marked = marked_.find(name); marked != marked_.end())
            marked->second.erase(hold);
        if (holds->second.empty()) holds_.erase(holds);
    }
    std::erase_if(asked_, [&](const auto& one) { return one.second.hold == hold; });
}

void ContentionWatch::converted(OperationId hold) {
    const auto found = names_.find(hold);
    if (found == names_.end()) return;
    for (const auto& name : found->second)
        marked_[name].insert(hold);
}

void ContentionWatch::somebody_waits(const std::string& name) {
    const auto found = holds_.find(name);
    if (found == holds_.end()) return;
    marked_[name] = found->second;
}

void ContentionWatch::on(const ReleaseAsked& asked, const AreHere& are_here) {
    for (const auto hold : asked.holds) {
        const std::pair told{asked.name, Contended{hold, LockMode::exclusive, 0, asked.reason}};
        if (names_.contains(hold)) {
            asked_.push_back(told);
        } else if (are_here(hold)) {
            asked_early_.insert_or_assign(hold, told);
        }
    }
}

void ContentionWatch::on_state_replaced() {
    marked_ = holds_;
}

// Once for each name, however many sessions share it.
std::vector<Contended> ContentionWatch::take(const LockMachine& machine) {
    std::map<std::string, std::set<OperationId>> asked;
    for (const auto& [name, one] : asked_)
        asked[name].insert(one.hold);
    std::map<std::pair<std::string, OperationId>, std::size_t> waiters;
    for (const auto& [name, holds] : asked) {
        for (const auto& [hold, found] : machine.views().contentions(name, holds))
            waiters[{name, hold}] = found.waiters;
    }
    std::vector<Contended> told;
    for (auto& [name, one] : std::exchange(asked_, {})) {
        if (const auto found = waiters.find({name, one.hold}); found != waiters.end())
            one.waiters = found->second;
        told.push_back(std::move(one));
    }
    for (const auto& [name, holds] : std::exchange(marked_, {})) {
        for (const auto& [hold, found] : machine.views().contentions(name, holds))
            told.push_back({hold, found.mode, found.waiters, {}});
    }
    return told;
}

}  // namespace mortise::core
