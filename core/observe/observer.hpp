// One observer of names on this node (S46): what it is told, and when it has to begin anew. It
// reads the state of its own node and asks nobody. The embedding and the simulator run it.
//
// With a position it is told the changes from there on. If these are not known any more, or the
// position is one of another cluster, or there is none, it is told a Gap, then the state of its
// names in pages, and then changes again. A large state is read in several steps, and names that
// were told may change meanwhile. So before each further page the states of those names are told
// again. Thus at the end all states are those of one position, and neither a copy nor a step that
// takes long is needed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observe/change_ring.hpp"
#include "core/observe/observed.hpp"

namespace mortise::core {

class LockMachine;

// How much one call may do.
struct ObserverBudget {
    std::size_t told = 0;   // what the observer has room for
    std::size_t looks = 0;  // changes and names that are looked at
};

class Observer {
public:
    Observer(ObservedNames names, Position from) : names_{std::move(names)}, position_{from} {}

    // Adds to `told` what the observer is told next, as far as `budget` allows, and takes that off
    // it. `changes` and `machine` are as of the same entry.
    void take(const ChangeRing& changes, const LockMachine& machine, ObserverBudget& budget,
              std::vector<Observed>& told);
    // Whether the last call would have told more with a larger budget.
    [[nodiscard]] bool has_more() const { return has_more_; }
    // Everything up to here was told, so another observer may continue from here, also if it was
    // long ago that something was told. Not set while the state is being told, or before that.
    [[nodiscard]] Position reached() const { return is_reading_ ? Position{} : position_; }
    // Another node was ahead of this one, which is told nothing until it has caught up. Or the
    // position is none of this cluster's log, which the observer cannot tell: if this node has
    // everything that was committed since the observer came, it has to begin anew.
    [[nodiscard]] bool is_ahead(const ChangeRing& changes) const {
        return position_.index > changes.applied() || position_.is_of_later_era(changes.cluster());
    }
    // Begins anew with the present state.
    void begin_anew() noexcept;

private:
    struct Out {
        ObserverBudget& budget;
        std::vector<Observed>& told;
        [[nodiscard]] bool is_full() const { return budget.told == 0 || budget.looks == 0; }
        void tell(Observed one) const {
            told.push_back(std::move(one));
            --budget.told;
        }
    };

    void follow(const ChangeRing& changes, const LockMachine& machine, Out out);
    void read(const ChangeRing& changes, const LockMachine& machine, Out out);
    bool tell_again(const ChangeRing& changes, const LockMachine& machine, Out out);
    bool read_page(const LockMachine& machine, Out out);
    [[nodiscard]] bool was_told(std::string_view name) const {
        return names_.has(name) && name <= told_to_;
    }

    ObservedNames names_;
    Position position_;        // everything up to here was told
    bool is_reading_ = false;  // the state is being told
    std::string told_to_;      // while reading: the names up to this one were told
    bool has_more_ = false;
};

}  // namespace mortise::core
