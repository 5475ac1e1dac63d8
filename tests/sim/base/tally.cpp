#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

namespace {

// In the order of the enumeration.
constexpr auto fault_names = std::to_array<std::string_view>({
    "crash",
    "crash within a step",
    "power cut",
    "pause",
    "suspend",
    "clock rate",
    "clock rate wild",
    "clock frozen",
    "clock jump",
    "clock near its limit",
    "disk stall",
    "disk slow",
    "disk error",
    "disk wiped",
    "disk damaged",
    "disk rolled back",
    "bit flip",
    "write lost",
    "write kept",
    "write torn",
    "message lost",
    "message repeated",
    "message overtaken",
    "message late",
    "cut: split",
    "cut: isolate",
    "cut: one way",
    "cut: bridge",
    "cut: silent",
    "cut: mute",
    "link slow",
    "connection reset",
    "member added",
    "member promoted",
    "member removed",
    "member lies",
    "disk set back",
});
static_assert(fault_names.size() == fault_count);

// If a run of many seeds leaves one of these at zero, the simulation has a gap.
constexpr std::string_view expected_probes[] = {
    "denied by apply",
    "denied by its own node",
    "cluster formed",
    "cluster formed after a restart",
    "empty node took an offer",
    "stranger refused",
    "liar found out",
    "liveness with terms far apart",
    "leader elected",
    "candidate by handing over",
    "leader stepped down without quorum",
    "leader stepped down with a stalled disk",
    "leader crashed",
    "candidate lost",
    "transfer started",
    "transfer failed",
    "log truncated",
    "log truncated on disk",
    "log purged",
    "entry committed that an earlier leader wrote",
    "follower cut off by a purge",
    "vote granted",
    "vote refused",
    "vote refused by stickiness",
    "append rejected",
    "message for a dead node",
    "message without a connection",
    "reconnected before the break was noticed",
    "write completed at once",
    "writes in flight at a crash",
    "truncation of entries still being written",
    "restart with a log",
    "restart with state on disk",
    "restart with a state ahead of the log",
    "configuration changed",
    "membership change accepted",
    "membership change refused",
    "member removed",
    "leader removed",
    "leader elected while joint",
    "wiped member votes again",
    "state read for another",
    "state sent to a follower",
    "state installed",
    "states compared",
    "install begun",
    "install goes on",
    "more to apply after a step",
    "state on disk too far behind",
    "leader gave way for its state on disk",
    "liveness with a state that stands still",
    "state delta waits for the log",
    "state delta lost in a crash",
    "paused leader",
    "many messages parked",
    "two leaders at once",
    "liveness checked",
    "liveness with a minority outside",
    "liveness formed the cluster",
    "outsider calls for an election",
    "member cut off from its leader alone",
    "liveness not owed",
    "acquire queued",
    "call cancelled",
    "name inspected",
    "try found it busy",
    "hold lost",
    "observer ahead of its node",
    "observer began anew on another node",
    "observer continued on another node",
    "observer was too slow",
    "owner told before a lost lock went back",
    "lost lock went back though its owner was not told",
    "session expired",
    "two believed it, clocks out of bounds",
    "joint configuration begun",
    "many names at once",
    "rolled back member found out",
    "rolled back member told by one",
    "forgetful member counted again",
    "set back member told by its leader",
    "set back member counted again",
    "rolled back member met who learned of it later",
    "rolled back where nobody knew better",
    "upgrade kept to the older format",
    "upgrade let the newer format in",
    "newcomer too old",
    "damage found at a start",
    "damage found by reading for another",
    "history judged from outside",
    "upgraded at once",
    "upgrade waited",
    "upgrade waited and was granted",
    "upgrade cancelled",
    "try to upgrade met others",
    "deadlock answer on shared",
    "downgraded",
    "upgrade granted before its cancel",
    "asked for what is not legal",
    "all of several names waited for",
    "any of several names waited for",
    "several names held",
    "policy is another",
    "let in, phase fair",
    "let in, first in first out",
    "let in, readers preferred",
    "let in, writers preferred",
    "overtaken 8 times",
    "deadlock refused",
    "cycle closed by a grant",
    "locker with several names",
    "hold suspended",
    "suspended hold held again",
    "suspended hold lost",
    "hold confirmed",
    "suspended hold confirmed",
    "confirm refused",
    "confirm without an answer",
    "value written",
    "lock broken",
    "lock broken at once",
    "lock asked for",
    "session evicted",
    "holder asked to release",
    "holder told of a waiter",
    "break confirmed",
    "broken name opened by a quorum",
    "write refused",
    "nobody knows what became of a write",
    "hold over by its max_hold",
    "hold ended by the cluster",
    "min_hold over",
    "lock delay over",
    "session closed",
    "session closed while it held",
    "closed while it waited",
    "closed without a leader",
    "closed in midst of a break",
    "closing node fell asleep",
    "closed as its disk stalled",
    "closed as it was cut off",
    "closing took too long",
    "closed leader hands over",
    "owner told before its node closed",
    "repeat in the log: acquire",
    "repeat in the log: release",
    "repeat in the log: cancel",
    "repeat in the log: downgrade",
    "repeat in the log: upgrade",
    "repeat in the log: several names",
    "repeat in the log: value",
    "repeat in the log: consistent",
    "repeat in the log: break",
    "repeat in the log: ask for a release",
    "repeat in the log: publish",
    "repeat in the log: declined",
    "permits granted",
    "semaphore resized",
    "name removed",
    "latch counted down",
    "latch waited for",
    "latch passed",
    "barrier waited for",
    "barrier passed",
    "barrier broken",
    "party dropped",
    "resize or removal without an effect",
    "cached grant received",
    "cached grant used again",
    "lent grant taken again",
    "lent grant put back",
    "cached grant without a lease",
    "unused grant recalled",
    "used grant recalled",
    "unused grant given back",
    "unused grant lost",
    "user of a cached grant published",
    "caller waits for another of its node",
    "cached grant handed over",
    "cached grant handed over after a recall",
    "caller leaves the local queue for the cluster",
    "caller in the local queue cancelled",
    "caller in the local queue timed out",
    "repeat in the log: end of the session",
    "repeat in the log: resize",
    "repeat in the log: removal",
    "repeat in the log: count",
    "repeat in the log: wait for a latch",
    "repeat in the log: arrival",
    "repeat in the log: arrival given up",
    "repeat in the log: eviction",
    "repeat in a later term",
    "repeat behind its cancel",
    "request of an ended session in the log",
    "declined under overload with releases behind it",
    "stream sent again to a third leader",
    "stream sent again after a state was installed",
    "session ended with a full window",
    "client acquired",
    "client lost a hold",
    "client left its member",
    "client cut off",
    "client cut off silently",
    "client paused",
    "client crashed",
    "client closed",
    "client closed while it held",
    "client owed a name",
};

}  // namespace

std::string_view name_of(Fault fault) {
    return fault_names[static_cast<std::size_t>(fault)];
}

std::string word_of(Fault fault) {
    std::string word;
    for (const char letter : name_of(fault)) {
        if (letter == ' ') word += '-';
        if (letter >= 'a' && letter <= 'z') word += letter;
    }
    return word;
}

std::optional<Fault> fault_named(std::string_view word) {
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (word_of(static_cast<Fault>(i)) == word) return static_cast<Fault>(i);
    }
    return std::nullopt;
}

Tally::Tally() {
    for (const auto name : expected_probes)
        probes_.emplace(name, 0);
}

std::vector<std::string_view> Tally::missed() const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (faults_[i] == 0) names.push_back(fault_names[i]);
    }
    for (const auto& [name, count] : probes_) {
        if (count == 0) names.push_back(name);
    }
    return names;
}

void Tally::add(const Tally& other) {
    for (std::size_t i = 0; i < fault_count; ++i)
        faults_[i] += other.faults_[i];
    for (const auto& [name, count] : other.probes_)
        probes_.at(name) += count;
}

}  // namespace mortise::sim
