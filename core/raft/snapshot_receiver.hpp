// The chunks of a snapshot, as a follower receives them. It outlives a change of roles, since
// another leader may continue the same snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/raft/message.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

class SnapshotReceiver {
public:
    enum class Taken : std::uint8_t {
        ignored,  // repeated, too early, or of a snapshot whose beginning was not received
        refused,  // it does not continue what was received, which is given up
        taken,
    };
    // Appends to `out` what is to be written now: whole rows. Requires that it is not complete().
    [[nodiscard]] Taken take(SnapshotChunk& chunk, std::vector<InstallStep>& out);
    // The last chunk was received.
    [[nodiscard]] bool complete() const { return receiving_ && receiving_->done; }
    // The snapshot that is being received. Empty: none.
    [[nodiscard]] std::optional<LogId> last() const;
    // The position that is wanted next of that snapshot. Zero if it is not being received.
    [[nodiscard]] std::uint64_t next_of(LogId last) const;
    // Ends it. Requires last().
    [[nodiscard]] Configuration take_configuration();
    void give_up() { receiving_.reset(); }

private:
    struct Receiving {
        LogId last;                       // identifies it, with the configuration
        Configuration configuration;      // in force at `last`
        std::uint64_t next = 0;           // the next position
        std::uint64_t checksum = 0;       // of the chunks before
        bool done = false;                // no chunk follows
        std::uint64_t steps = 0;          // the number of steps passed on
        std::optional<Row> cut_row = {};  // its value continues in the next chunk
    };

    bool join_cut_row(std::vector<Row>& rows, bool cut);

    std::optional<Receiving>
        receiving_;  // from the first chunk on, until it is given up or in force
};

}  // namespace mortise::core
