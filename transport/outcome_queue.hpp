// What waits to be told to one client's OutcomeSink, cut into calls. Bounded: a client that takes
// in less than happens is told that it is too slow, rather than this node keeping all of it.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "transport/client_service.hpp"
#include "transport/limits.hpp"

namespace mortise::transport {

class OutcomeQueue {
public:
    struct Limits {
        std::size_t bytes_max = std::size_t{4} << 20U;
        std::size_t call_bytes_max = send_bytes_max;
    };
    struct Call {
        std::vector<OutcomeBatch> batches;
        core::LogIndex applied;
    };

    // `applied` is where the stream begins.
    explicit OutcomeQueue(core::LogIndex applied) : OutcomeQueue{applied, Limits{}} {}
    OutcomeQueue(core::LogIndex applied, Limits limits)
        : limits_{limits}, applied_{applied}, told_{applied} {}

    // As OutcomeSink::applied. False when there is no room: end the stream.
    [[nodiscard]] bool push(core::LogIndex applied, std::vector<OutcomeBatch> batches);
    // Empty when there is nothing new. The outcomes of one entry may be cut over several calls, and
    // `applied` reaches it with the last of them.
    [[nodiscard]] std::optional<Call> take();

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    void take_from_front(std::vector<OutcomeBatch>& batches, std::size_t& room);

    Limits limits_;
    std::deque<OutcomeBatch> waiting_;
    std::size_t bytes_ = 0;
    core::LogIndex applied_;
    core::LogIndex told_;
};

}  // namespace mortise::transport
