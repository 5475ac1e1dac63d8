// What waits at a leader to be proposed, in the order in which its sessions have their turns. Each
// session that has something waiting gets an equal part of what is taken, however much others have
// waiting, and what one session sent stays in its order (S17). Nobody's requests wait behind the
// backlog of somebody else.
//
// This is self-clocked fair queueing (Golestani, 1994): a batch is stamped with the work of its
// session that will have been done when it is done, and the smallest stamp goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/id_table.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

class FairQueue {
public:
    struct Batch {
        SessionId turn;  // whose turn it takes; not set if it concerns no session
        Bytes bytes;
        std::size_t commands = 0;
        std::size_t names = 0;   // that they concern, at least one each: the work of applying them
        bool is_sealed = false;  // one of them has to be sealed
    };

    // Requires commands.
    void add(Batch batch);
    // The one whose turn it is. Requires that there is one.
    [[nodiscard]] const Batch& front() const { return heap_.front().batch; }
    void pop_front();

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t names() const { return names_; }
    // What waits of one session.
    [[nodiscard]] std::size_t bytes_of(SessionId turn) const;

private:
    struct Place {
        std::uint64_t stamp = 0;
        std::uint64_t arrival = 0;
        Batch batch;
    };
    struct Waiting {
        std::uint64_t stamp = 0;  // of its last batch
        std::size_t bytes = 0;
    };
    static bool comes_later(const Place& a, const Place& b);

    std::vector<Place> heap_;
    IdTable<SessionId, Waiting> sessions_;  // that have something waiting
    std::uint64_t now_ = 0;                 // the stamp of the batch that was taken last
    std::uint64_t arrivals_ = 0;
    std::size_t bytes_ = 0;
    std::size_t names_ = 0;
};

}  // namespace mortise::core
