// The answers of one session that its node has not received yet (S17).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

// In the order of the log, which is the order in which they are acknowledged; and by the number of
// the request, for repeats. Whoever waits is answered when it is let in, so the numbers do not rise
// in general. Those of requests that are answered when they are applied do.
class KeptAnswers {
public:
    [[nodiscard]] std::size_t size() const { return kept_.size(); }
    [[nodiscard]] bool empty() const { return kept_.empty(); }
    // Null when no answer to that request is kept.
    [[nodiscard]] const Answer* find(Seq seq) const;
    // At which index the oldest and the newest one was given. Not set when none is kept.
    [[nodiscard]] LogIndex oldest() const { return empty() ? LogIndex{} : kept_.front().at; }
    [[nodiscard]] LogIndex newest() const { return empty() ? LogIndex{} : kept_.back().at; }

    // Requires that no answer to that request is kept, and that the index is not below newest().
    void keep(LogIndex at, Seq seq, Answer answer);
    // Forgets the answers given at or below `received`.
    void acknowledge(LogIndex received);

    // Visits them as (LogIndex, Seq, const Answer&), in the order of the log.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const auto& one : kept_)
            visit(one.at, one.seq, one.answer);
    }

private:
    struct Kept {
        LogIndex at;
        Seq seq;
        Answer answer;
    };

    std::deque<Kept> kept_;
    std::uint64_t forgotten_ = 0;         // how many were kept before the first of those
    IdTable<Seq, std::uint64_t> places_;  // in kept_, counted from the first that ever was
    std::size_t most_ = 0;                // that were kept at once since places_ was built
};

}  // namespace mortise::core
