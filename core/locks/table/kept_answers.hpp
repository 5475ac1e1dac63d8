// The answers of one session that its node has not received yet. This class only keeps them:
// LockMachine::on(const Request&) in machine/requests.cpp decides which request is a repeat (S17).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

// What the answer costs every replica: about what it occupies, and the same everywhere.
[[nodiscard]] std::size_t bytes_of(const Answer& answer);

// The answers are in the order of the log, in which they are acknowledged, and are found by the
// number of the request, for repeats. The numbers ascend only among requests that were answered
// when they were applied; one that waited is answered later.
class KeptAnswers {
public:
    [[nodiscard]] std::size_t size() const { return kept_.size(); }
    [[nodiscard]] bool empty() const { return kept_.empty(); }
    // The bytes_of() all of them.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    // Null if no answer to that request is kept.
    [[nodiscard]] const Answer* find(Seq seq) const;
    // The indexes of the oldest and the newest answer. Not set if none is kept.
    [[nodiscard]] LogIndex oldest() const { return empty() ? LogIndex{} : kept_.front().at; }
    [[nodiscard]] LogIndex newest() const { return empty() ? LogIndex{} : kept_.back().at; }

    // No answer to that request is kept. Requires that the index is not below newest().
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
        Kept(LogIndex index, Seq request, Answer&& given)
            : at{index}, seq{request}, answer{std::move(given)} {}

        LogIndex at;
        Seq seq;
        Answer answer;
    };

    // Repeats are rare, so an answer gets its place only when one is asked for.
    using Places = IdTable<Seq, std::uint64_t>;

    std::deque<Kept> kept_;
    std::size_t bytes_ = 0;
    std::uint64_t forgotten_ = 0;       // the number of answers that were forgotten
    mutable Places places_;             // in kept_, counted from the first answer ever kept
    mutable std::uint64_t placed_ = 0;  // the answers before have their place
};

}  // namespace mortise::core
