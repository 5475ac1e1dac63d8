// Random histories: what a log may contain, including commands that it should not contain. A
// function of the seed.
#pragma once

#include <string>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/machine/lock_machine.hpp"

namespace mortise::spec {

struct Entry : std::vector<core::Command> {
    using std::vector<core::Command>::vector;
    static Entry of_an_era() {
        Entry entry;
        entry.begins_era = true;
        return entry;
    }

    bool begins_era = false;  // then it has no commands
};
using Script = std::vector<Entry>;  // the entry with log index i is script[i - 1]

[[nodiscard]] Script make_script(std::uint64_t seed);
core::Outcomes apply(core::LockMachine& machine, core::LogIndex index, const Entry& entry);
// One entry a line.
[[nodiscard]] std::string words(const Script& script);

}  // namespace mortise::spec
