// What must be remembered of the past to judge the present: who led in which term, what was
// committed, and what a read has to see. Part of a state: two runs that differ in it are not the
// same.
#pragma once

#include <string>
#include <vector>

#include "tests/explore/interned.hpp"
#include "tests/explore/machine_store.hpp"

namespace mortise::explore {

struct Committed {
    EntryMark entry;
    core::Term in;  // the term of who committed it first
};

struct History {
    std::vector<Committed> committed;   // from index 1 on
    std::vector<core::NodeId> leaders;  // by term
    core::LogIndex read_floor;          // what was committed when the read was asked for
};

class Histories {
public:
    Number add(History history);
    [[nodiscard]] const History& operator[](Number number) const { return histories_[number]; }

private:
    Interned<History> histories_;
};

// Adds what `known` shows: that it leads, that it committed. What is wrong with that, or nothing.
[[nodiscard]] std::string observe(const Known& known, History& history);
// True when observe() would add something or complain.
[[nodiscard]] bool has_news(const Known& known, const History& history);

}  // namespace mortise::explore
