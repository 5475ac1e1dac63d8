#include "tests/sim/judges/commit_history.hpp"

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

bool CommitHistory::committed(core::NodeId node, const core::Entry& entry, core::Term term) {
    const auto index = entry.id.index;
    if (index <= last()) {
        const auto& known = entries_[place(index)];
        if (known.term != entry.id.term || known.checksum != entry.checksum) {
            violations_.report(node, "state machine safety: committed " + in_words(entry.id) +
                                         " where term " + in_words(known.term) +
                                         " was committed before");
        }
        return false;
    }
    if (index != last().next()) {
        violations_.report(node, "state machine safety: committed " + in_words(entry.id) +
                                     " with a gap after " + in_words(last()));
        return false;
    }
    entries_.push_back({entry.id.term, term, entry.checksum});
    return true;
}

void CommitHistory::check_leader(core::NodeId node, const core::Log& log, core::Term term,
                                 core::LogIndex from) {
    for (auto index = from.next(); index <= last(); index = index.next()) {
        const auto& known = entries_[place(index)];
        // Reported in this term or later: it may have been committed after this leader was elected.
        if (known.reported_in >= term || log.has({known.term, index})) continue;
        violations_.report(node, "leader completeness: leader of term " + in_words(term) +
                                     " lacks the committed entry of " +
                                     in_words(core::LogId{known.term, index}));
        return;
    }
}

void CommitHistory::check_start(core::NodeId node, core::LogIndex applied) {
    if (applied > last()) {
        violations_.report(node, "recovery: state applied up to " + in_words(applied) +
                                     ", of which only " + in_words(last()) + " was committed");
    }
}

}  // namespace mortise::sim
