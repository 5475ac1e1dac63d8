#include "core/node/life_doubts.hpp"

#include <algorithm>

namespace mortise::core {

bool LifeDoubts::said(NodeId by, Instant now) {
    return add(by, hellos_[by], false, now);
}

bool LifeDoubts::refused(NodeId by, bool as_copy, Instant now) {
    return add(by, ++hellos_[by], as_copy, now);
}

bool LifeDoubts::add(NodeId by, std::uint64_t hello, bool is_copied, Instant now) {
    const auto [place, is_new] = words_.try_emplace(by, Word{now, now, hello});
    auto& word = place->second;
    word.until = now + lasts_;
    word.is_repeated = word.is_repeated || hello != word.hello;
    word.is_copied = is_copied;
    return is_new;
}

LifeDoubts::Verdict LifeDoubts::judge(const Configuration& configuration, NodeId self,
                                      bool is_accepted) const {
    std::size_t others = 0;
    std::size_t words = 0;
    bool is_repeated = false;
    bool is_copied = false;
    for (const auto id : configuration.all()) {
        if (id == self) continue;
        ++others;
        const auto word = words_.find(id);
        if (word == words_.end()) continue;
        ++words;
        is_repeated = is_repeated || word->second.is_repeated;
        is_copied = is_copied || word->second.is_copied;
    }
    const bool is_enough = words >= 2 || (others == 1 && is_repeated && !is_accepted);
    if (!is_enough) return Verdict::unproven;
    return is_copied ? Verdict::copied : Verdict::outlived;
}

void LifeDoubts::advance(Instant now) {
    std::erase_if(words_, [&](const auto& word) { return now >= word.second.until; });
}

Instant LifeDoubts::deadline() const {
    auto next = Instant::never();
    for (const auto& [by, word] : words_)
        next = std::min(next, word.until);
    return next;
}

std::vector<NodeId> LifeDoubts::by() const {
    std::vector<NodeId> peers;
    for (const auto& [by, word] : words_)
        peers.push_back(by);
    return peers;
}

Instant LifeDoubts::since() const {
    auto first = Instant::never();
    for (const auto& [by, word] : words_)
        first = std::min(first, word.since);
    return first;
}

}  // namespace mortise::core
