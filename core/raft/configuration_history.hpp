// The configurations of the log. Each is in force from its entry on, and the newest one is in force
// now, whether it is committed or not (thesis 4.1).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/check.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/log.hpp"

namespace mortise::core {

class ConfigurationHistory {
public:
    struct At {
        LogIndex index;  // of its entry, or of the beginning of the log
        Configuration configuration;
    };

    ConfigurationHistory(LogIndex index, Configuration first) {
        list_.push_back({index, std::move(first)});
    }

    [[nodiscard]] const At& newest() const { return list_.back(); }
    [[nodiscard]] const At& oldest() const { return list_.front(); }
    // Requires that `index` is not before the beginning of the log.
    [[nodiscard]] const Configuration& at(LogIndex index) const {
        return newest_where([&](const At& one) { return one.index <= index; })->configuration;
    }
    // Returns the one in which the leader of that term was elected: what it changed since has its
    // term. Null if it is not kept. An entry that the log does not have any more has at most the
    // term of the base.
    [[nodiscard]] const At* electing(Term of, const Log& log) const {
        return newest_where(
            [&](const At& one) { return log.term_at(one.index).value_or(log.base().term) < of; });
    }
    // Null if there is none.
    template <class Predicate>
    [[nodiscard]] const At* newest_where(const Predicate& fits) const {
        const auto found = std::find_if(list_.rbegin(), list_.rend(), fits);
        return found == list_.rend() ? nullptr : &*found;
    }
    [[nodiscard]] bool has_ever(NodeId id, Incarnation incarnation) const {
        return std::ranges::any_of(
            list_, [&](const At& one) { return one.configuration.has(id, incarnation); });
    }

    void add(LogIndex index, Configuration configuration) {
        MORTISE_CHECK(index > newest().index);
        list_.push_back({index, std::move(configuration)});
    }
    void truncate_from(LogIndex index) {
        while (list_.back().index >= index)
            list_.pop_back();
    }
    // The newest configuration at or below the new beginning is in force there, and is kept.
    void purge_to(LogIndex index) {
        while (list_.size() > 1 && list_[1].index <= index)
            list_.erase(list_.begin());
    }

private:
    std::vector<At> list_;  // oldest first, never empty
};

}  // namespace mortise::core
