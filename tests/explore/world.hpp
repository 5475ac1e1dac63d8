// A state of the cluster: three machines, the packets in transit, the history, and the faults that
// may still happen. States are stored packed, millions of them, each once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/explore/invariants.hpp"

namespace mortise::explore {

inline constexpr std::uint8_t any_number = 255;

// How often each of these may happen in a run.
struct Budget {
    std::uint8_t time_outs = 0;
    std::uint8_t crashes = 0;
    std::uint8_t proposals = 0;
    std::uint8_t duplicates = 0;
    std::uint8_t drops = 0;
    std::uint8_t heartbeats = 0;
    std::uint8_t reads = 0;
    std::uint8_t transfers = 0;
    std::uint8_t power_losses = 0;
    std::uint8_t questions = 0;  // of nodes that may have forgotten entries
    std::array<std::uint8_t, 2> none{};

    friend bool operator==(const Budget&, const Budget&) = default;
};

struct World {
    std::array<Number, cluster_size> machines{};
    Number history = 0;
    Budget left;
    // ascending; a set, because a copy of a packet in transit adds nothing
    std::vector<Number> packets;

    void send(Number packet);
    void take(Number packet);
};

enum class Deed : std::uint8_t { event, deliver_copy, drop };

// The step from a state to the next.
struct Move {
    Deed deed = Deed::event;
    std::uint8_t place = 0;  // the machine
    Event event;
};

class WorldStore {
public:
    WorldStore();
    // False if the state is known already.
    bool add(const World& world, Number from, const Move& move);

    [[nodiscard]] World operator[](Number number) const;
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] Number came_from(Number number) const { return entries_[number].from; }
    [[nodiscard]] const Move& came_by(Number number) const { return entries_[number].move; }

private:
    struct Entry {
        std::uint64_t words_at = 0;
        Number from = 0;
        Move move;
    };
    struct Slot {
        Number number = 0;  // one more than that of the state; zero: free
        std::uint32_t tag = 0;
    };

    [[nodiscard]] const Number* words(Number number) const;
    [[nodiscard]] std::size_t free_slot(std::uint64_t hash) const;
    std::uint64_t keep(const std::vector<Number>& packed);
    void grow();

    std::vector<Entry> entries_;
    std::vector<std::unique_ptr<Number[]>> chunks_;
    std::size_t chunk_used_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace mortise::explore
