#include "tests/explore/history.hpp"

#include <utility>

#include "core/base/bytes.hpp"

namespace mortise::explore {

Number Histories::add(History history) {
    core::ByteWriter out;
    out.varint(history.committed.size());
    for (const auto& [entry, in] : history.committed) {
        out.varint(entry.term.raw());
        out.u64(entry.checksum);
        out.varint(in.raw());
    }
    out.varint(history.leaders.size());
    for (const auto leader : history.leaders)
        out.varint(leader.raw());
    out.varint(history.read_floor.raw());
    return histories_.add(out.take(), [&] { return std::move(history); });
}

bool has_news(const Known& known, const History& history) {
    const auto& raft = known.machine.raft;
    if (raft.commit_index().raw() > history.committed.size()) return true;
    if (!raft.is_leader()) return false;
    const auto term = raft.term().raw();
    return history.leaders.size() <= term || history.leaders[term] != known.machine.self;
}

std::string observe(const Known& known, History& history) {
    const auto& raft = known.machine.raft;
    if (raft.is_leader()) {
        const auto term = static_cast<std::size_t>(raft.term().raw());
        if (history.leaders.size() <= term) history.leaders.resize(term + 1);
        auto& leader = history.leaders[term];
        if (leader.is_set() && leader != known.machine.self)
            return "election safety: two leaders of one term";
        leader = known.machine.self;
    }
    for (auto i = history.committed.size(); i < raft.commit_index().raw(); ++i)
        history.committed.push_back({known.log[i], raft.term()});
    return {};
}

}  // namespace mortise::explore
