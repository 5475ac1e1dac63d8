// Breadth-first search over every order of events in a small cluster of real Raft objects, within a
// budget of faults: the first violation found is a shortest one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/explore/history.hpp"
#include "tests/explore/machine_store.hpp"
#include "tests/explore/world.hpp"

namespace mortise::explore {

enum class Start : std::uint8_t {
    fresh,    // three nodes of a new cluster
    led,      // node 1 leads, all nodes have all entries
    divided,  // two former leaders left entries on their own disks only
};

struct Options {
    Start start = Start::fresh;
    Budget budget;
    // The cluster acknowledges from memory, and a loss of power takes what is not synced.
    bool in_memory = false;
    // Every write is done before the next event, and every node hears at once that another has
    // lost power, so that events unrelated to the disk are searched
    // more deeply.
    bool instant_disk = false;
    // The limit of packets in transit. The other bounds make a search broad, this one makes it
    // deep.
    std::size_t packets_max = 1'000;
    std::size_t states_max = 1'000'000;
};

struct Report {
    std::size_t states = 0;
    std::size_t depth = 0;
    std::size_t machines = 0;
    std::size_t steps = 0;  // of the real code; the others were known
    bool complete = false;  // nothing within the budget was left out
    std::string violation;  // empty: none
    std::vector<std::string> trace;
};

class Explorer {
public:
    explicit Explorer(const Options& options);
    [[nodiscard]] Report run();

private:
    struct Found {
        Number from = 0;
        Move move;
        std::string what;
    };

    [[nodiscard]] World first_world();
    void settle(World& world);
    void expand(Number number);
    void expand_packets(Number number, const World& world);
    void expand_machine(Number number, const World& world, std::uint8_t place);
    void try_move(Number number, World world, const Move& move);
    // Executes it, and returns what is wrong with it.
    std::string follow(World& world, const Move& move);
    std::string happen(World& world, std::uint8_t place, Event event);
    std::string remember(World& world, Event event, const Step& step);
    std::string begin_era(const World& world, const Known& leader, History& history) const;
    [[nodiscard]] std::string check(const World& world) const;
    [[nodiscard]] std::vector<std::string> trace_to(const Found& found);
    [[nodiscard]] std::string in_words(const Move& move) const;

    Options options_;
    MachineStore machines_;
    Histories histories_;
    WorldStore worlds_;
    std::optional<Found> found_;
};

}  // namespace mortise::explore
