// Removes from a name what ended sessions left there (S11): holders and waiters. It knows the
// number of sessions that have ended, and so whether a name may have traces that it did not see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/locks/table/holds.hpp"
#include "core/locks/table/name_table.hpp"
#include "core/locks/table/request_groups.hpp"

namespace mortise::core {

// What changes when somebody leaves a name or is let in there.
struct TableState {
    NameTable& names;
    Holds& holds;
    RequestGroups& groups;
};

class TraceRemover {
public:
    using Ended = LockRecord::Left;
    // `endings` is the number of ended sessions so far. `ended` tells how an operation's session
    // ended, or that it is alive; null: there are no traces. It is used until the next begin().
    void begin(std::uint64_t endings, const Ended* ended) {
        endings_ = endings;
        ended_ = ended;
    }
    [[nodiscard]] std::uint64_t endings() const { return endings_; }
    // Whether any name may have traces.
    [[nodiscard]] bool is_needed() const { return ended_ != nullptr; }

    struct Cleared {
        std::vector<OperationId> gone;
        bool is_done = true;  // false: there are more
        Previous last;        // the last one to leave, when it is done
    };
    // Removes at most `max` of them, unless all were since the last ending. Lets nobody in.
    Cleared remove(const std::string& name, std::size_t max, TableState from) const;

private:
    std::uint64_t endings_ = 0;
    const Ended* ended_ = nullptr;
};

}  // namespace mortise::core
