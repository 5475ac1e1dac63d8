// Removes from a name what ended sessions left there (S11): holders and waiters. It knows the
// number of sessions that have ended, and so whether a name may have new traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/locks/table/holds.hpp"
#include "core/locks/table/name_table.hpp"
#include "core/locks/table/request_groups.hpp"

namespace mortise::core {

// What changes when an operation ends on a name, or is granted there.
struct TableState {
    NameTable& names;
    Holds& holds;
    RequestGroups& groups;
};

class TraceRemover {
public:
    using Ended = LockRecord::Left;
    // `endings` is the number of ended sessions so far. `ended` returns how an operation's session
    // ended, or null if it is alive; it is null itself if there are no traces. It is used until
    // begin() is called again.
    void begin(std::uint64_t endings, const Ended* ended) {
        endings_ = endings;
        ended_ = ended;
    }
    [[nodiscard]] std::uint64_t endings() const { return endings_; }
    // Returns whether any name may have traces.
    [[nodiscard]] bool is_needed() const { return ended_ != nullptr; }

    struct Cleared {
        std::vector<OperationId> gone;
        bool is_done = true;  // false: there are more
        Previous last;        // the last holder, if is_done
    };
    // Removes at most `max` traces, unless all were removed since the last ending. Grants nothing.
    Cleared remove(const RecordRef& record, std::size_t max, TableState from) const;

private:
    std::uint64_t endings_ = 0;
    const Ended* ended_ = nullptr;
};

}  // namespace mortise::core
