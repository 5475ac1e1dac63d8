// The state as rows: the rows that have changed since they were last taken, and the checksum over
// all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/locks/row.hpp"
#include "core/locks/row_sum.hpp"
#include "core/locks/table/clock_marks.hpp"
#include "core/locks/table/ended_sessions.hpp"
#include "core/locks/table/eras.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class RowWriter {
public:
    struct State {
        SessionTable& sessions;
        LockTable& table;
        EndedSessions& ended;
        ClockMarks& clock;
        const Eras& eras;
    };
    struct ConstState {
        const SessionTable& sessions;
        const LockTable& table;
        const EndedSessions& ended;
        const ClockMarks& clock;
        const Eras& eras;
    };
    // Returns the rows that have changed since the last call, ascending by key, each key once. The
    // parts of the state remember what has changed, and forget it here. A session that was created
    // and removed in between may be reported as removed; a name is not.
    [[nodiscard]] std::vector<Row> take(State state);
    // The same for the first `max` of the changed names, so that not all rows are made at once. The
    // rest may change meanwhile, also these again: the rows are the state only together with those
    // of take(), and the later one of a key counts.
    [[nodiscard]] std::vector<Row> take_names(LockTable& table, std::size_t max);
    // All rows of a state, ascending by key, whatever was taken.
    [[nodiscard]] static std::vector<Row> all(ConstState state);
    // A checksum over all rows, as of the last take(): equal for equal states.
    [[nodiscard]] std::uint64_t sum() const { return sum_.value(); }
    // An upper bound of the number of changed rows.
    [[nodiscard]] static std::size_t changed(ConstState state);

    // For loading: called with each row that was read when the state has it, and then with the
    // state that they make.
    void add_read(std::string_view key, std::string_view value, LockTable& table);
    void all_read(State state);

private:
    void add_name(const LockTable& table, const RecordRef& record, std::vector<Row>& rows);
    void sum_up(const std::vector<Row>& rows, std::size_t from);

    std::string told_totals_;  // the row of totals at the last take()
    RowSum sum_;               // the record of a name remembers the checksum of its row
};

}  // namespace mortise::core
