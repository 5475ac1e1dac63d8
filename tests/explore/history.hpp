// The past that is needed to judge the present: who led in which term, what was committed, and what
// a read has to see. It is part of a state: runs with different histories are different.
#pragma once

#include <string>
#include <vector>

#include "tests/explore/interned.hpp"
#include "tests/explore/machine_store.hpp"

namespace mortise::explore {

struct Committed {
    EntryMark entry;
    core::Term in;  // the term of the node that committed it first
};

struct History {
    std::vector<Committed> committed;   // from index 1 on
    std::vector<core::NodeId> leaders;  // by term
    core::LogIndex read_floor;          // what was committed when the read was requested
};

class Histories {
public:
    Number add(History history);
    [[nodiscard]] const History& operator[](Number number) const { return histories_[number]; }

private:
    Interned<History> histories_;
};

// Adds what `known` shows: leadership and commits. Returns what is wrong with it, or nothing.
[[nodiscard]] std::string observe(const Known& known, History& history);
// True if observe() would add something or report a violation.
[[nodiscard]] bool has_news(const Known& known, const History& history);

}  // namespace mortise::explore
