// A process that holds a lock is stopped between its check and its write, for longer than its
// lease. It goes on and writes as if nothing had happened, and the store refuses the write. No lock
// can prevent this: what stops a process also stops every check that it could make.
//
// Here the process stops itself with SIGSTOP. Elsewhere it is a garbage collector, a debugger, a
// machine that is suspended or migrated.
#include <cstdint>

#include "processes.hpp"

using namespace std::chrono_literals;

namespace {

// What a writer sends to the store.
struct Write {
    std::int64_t token = 0;
    std::int64_t value = 0;
};

int stopped_holder(const story::Members& members, int store) {
    mortise::Node node{members.config(2)};
    if (!story::is_ready(node)) return 1;
    const auto hold = node.acquire("report");
    const Write write{hold.token().raw(), 1};
    hold.check();         // it is ours: now it writes ...
    std::raise(SIGSTOP);  // ... but not at once
    const bool sent = ::write(store, &write, sizeof write) == sizeof write;
    // Its clock went on meanwhile, so it knows as soon as it looks. It looked too early.
    std::printf("the holder goes on: it has sent its write, and valid() is %s\n",
                hold.valid() ? "true" : "false");
    return sent && !hold.valid() ? 0 : 1;
}

}  // namespace

int main() {
    const story::Members members;
    const story::Child third{[&] { return story::be_a_member(members, 3); }};
    int pipe[2];
    if (::pipe(pipe) != 0) return 1;
    story::Child holder{[&] { return stopped_holder(members, pipe[1]); }};
    ::close(pipe[1]);

    mortise::Node node{members.config(1)};
    if (!story::is_ready(node) || !holder.wait_stopped()) return 1;
    std::printf("the holder is stopped\n");

    // The process of the store. Everything that is written to "report" goes through this gate.
    auto gate = mortise::FenceGate::open(members.directory() / "gate");
    std::int64_t stored = 0;
    const auto hold = node.acquire("report");  // waits until the lease of the holder has ended
    std::printf("the next one has the lock; before it: %s\n",
                std::string{to_string(hold.previous().how)}.c_str());
    const bool next = gate.admit("report", hold.token(), [&] { stored = 2; });

    holder.go_on();
    Write late;
    if (::read(pipe[0], &late, sizeof late) != sizeof late) return 1;
    const bool refused = !gate.admit("report", mortise::FencingToken::from_raw(late.token),
                                     [&] { stored = late.value; });
    const bool knew = holder.result() == 0;
    std::printf("its write is %s, and the store has %d\n", refused ? "refused" : "taken",
                static_cast<int>(stored));
    return next && refused && knew && stored == 2 ? 0 : 1;
}
