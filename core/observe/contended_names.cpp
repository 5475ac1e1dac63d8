#include "core/observe/contended_names.hpp"

namespace mortise::core {

namespace {

// Without a new node of the set.
template <class Set>
void move_to(Set& set, const typename Set::key_type& former, const typename Set::key_type& now) {
    auto node = set.extract(former);
    node.value() = now;
    set.insert(std::move(node));
}

}  // namespace

void ContendedNames::set(std::string_view name, std::size_t group, Waiting waiting) {
    const auto found = names_.find(name);
    if (found == names_.end()) {
        if (waiting.waiters != 0) begin(name, group, waiting);
        return;
    }
    if (waiting.waiters == 0) return end(found);
    const std::string_view known = found->first;
    auto& former = found->second.waiting;
    auto& in = groups_[found->second.group];
    waiters_ += waiting.waiters - former.waiters;
    in.waiters += waiting.waiters - former.waiters;
    if (waiting.waiters != former.waiters)
        move_to(ranks_, {former.waiters, known}, {waiting.waiters, known});
    if (waiting.oldest != former.oldest)
        move_to(in.oldest, {former.oldest, known}, {waiting.oldest, known});
    former = waiting;
}

void ContendedNames::begin(std::string_view name, std::size_t group, Waiting waiting) {
    const std::string_view known =
        names_.emplace(std::string{name}, Contended{group, waiting}).first->first;
    ranks_.insert({waiting.waiters, known});
    groups_[group].oldest.emplace(waiting.oldest, known);
    groups_[group].waiters += waiting.waiters;
    waiters_ += waiting.waiters;
}

void ContendedNames::end(Names::iterator contended) {
    const std::string_view known = contended->first;
    const auto& [group, waiting] = contended->second;
    ranks_.erase({waiting.waiters, known});
    groups_[group].oldest.erase({waiting.oldest, known});
    groups_[group].waiters -= waiting.waiters;
    waiters_ -= waiting.waiters;
    names_.erase(contended);
}

std::optional<LogIndex> ContendedNames::oldest(std::size_t group) const {
    const auto& in = groups_[group].oldest;
    return in.empty() ? std::nullopt : std::optional{in.begin()->first};
}

std::optional<LogIndex> ContendedNames::oldest() const {
    std::optional<LogIndex> oldest;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        const auto of_group = this->oldest(group);
        if (of_group && (!oldest || *of_group < *oldest)) oldest = of_group;
    }
    return oldest;
}

std::vector<std::pair<std::string, Waiting>> ContendedNames::hottest(
    std::size_t max, std::string_view prefix) const {
    constexpr std::size_t looks_max = 10'000;
    std::vector<std::pair<std::string, Waiting>> hottest;
    std::size_t looks = 0;
    for (const auto& rank : ranks_) {
        if (hottest.size() == max || looks++ == looks_max) break;
        if (!rank.name.starts_with(prefix)) continue;
        hottest.emplace_back(rank.name, names_.find(rank.name)->second.waiting);
    }
    return hottest;
}

}  // namespace mortise::core
