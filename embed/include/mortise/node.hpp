// One peer of a cluster, in this process.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/options.hpp>
#include <mortise/subscription.hpp>

namespace mortise {

namespace detail {
class NodeRuntime;
}

// Keeps a copy of the lock table and a vote in its cluster, serves its peers on threads of its own,
// and acquires locks for this program. Several nodes in one process are normal. All members are
// thread-safe, but for construction, moving and destruction.
//
// Names are 1-512 bytes of any kind (S38). The forms with `ec` do not throw: `ec` is cleared on
// success and on an empty answer. Without it they throw LockError. Errors of every call:
// node_stopped after close() or a failure of the node, invalid_argument, no_quorum when no majority
// answered in time, session_expired (retry), resource_exhausted, forked. Either form may throw
// std::bad_alloc: then nothing was begun, or what was granted is given back.
//
// In the child of a fork() nodes, holds and mutexes of the parent are dead: calls end with forked,
// the rest does nothing, and the parent is not affected. The child may open nodes of its own, on
// directories of their own. It has copies of the parent's descriptors: if the parent dies without
// closing its nodes, their directories and ports stay taken until such children end, or exec. It
// ends with _exit(), as fork(2) asks of the children of programs with threads: exit() would wait
// for ever for a thread of RocksDB's that is not there.
//
// The program may end at any moment, on any thread, in a callback too; what was acknowledged is on
// disk. A plug-in that has opened a node, or the shared library, stays loaded until then, and
// static objects in it as well: close a node before its plug-in is unloaded.
class Node {
public:
    // Opens the data directory, listens and starts. Throws std::system_error with one clear line:
    // a configuration that makes no sense, a directory that another process has, a port in use,
    // damaged data. Does not wait for the cluster. Blocks for the time of the recovery.
    explicit Node(Config config);
    // As close(), for a moment longer than close_timeout: what still runs then, a callback or a
    // disk that hangs, is left to end by itself.
    ~Node();
    Node(Node&&) noexcept;
    Node& operator=(Node&&) noexcept;

    // Waits until this node has a session in a cluster with a leader. False when the time was over;
    // node_stopped when the node stopped.
    [[nodiscard]] bool wait_ready(std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] bool wait_ready(std::chrono::steady_clock::time_point deadline,
                                  std::error_code& ec);

    [[nodiscard]] NodeId id() const noexcept;
    // What it knows of itself and of the cluster. Of a stopped node: as it was, and why it stopped.
    [[nodiscard]] Status status() const;
    [[nodiscard]] Metrics metrics() const;

    // Reads the files of Config::tls again, and closes connections to whoever is not believed any
    // more. Happens by itself within a few seconds of a change. Blocks on the disk. Thread-safe.
    // Throws std::system_error with one line if the files cannot be used, and goes on with the
    // former ones; also for a node without TLS.
    void reload_tls();

    // Ends pending calls with node_stopped, releases everything in one command, hands leadership
    // over and stops. Waits for it at most close_timeout, and for callbacks that are running; no
    // callback runs after it returned. A disk that hangs is waited for a moment longer, and then
    // left behind: the data directory stays taken until it answers. On a thread of the node (in a
    // callback) it returns at once and finishes elsewhere. Repeated, it does nothing.
    void close();

    // --- acquire -------------------------------------------------------------------------------

    // Waits until the lock is held: without end once the cluster has queued the request, unless
    // options.wait_max (timed_out) or options.cancel (cancelled) end it.
    [[nodiscard]] Hold acquire(std::string_view name, const AcquireOptions& options = {});
    [[nodiscard]] Hold acquire(std::string_view name, std::error_code& ec);
    [[nodiscard]] Hold acquire(std::string_view name, const AcquireOptions& options,
                               std::error_code& ec);

    // One attempt: empty when somebody else has it. `busy` is told who. No wait_max in options.
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name, std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name,
                                                  const AcquireOptions& options,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name, LockInfo& busy);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name,
                                                  const AcquireOptions& options, LockInfo& busy);

    // Empty when the wait ended first. A wait of zero or less is one attempt. options.wait_max is
    // ignored.
    [[nodiscard]] std::optional<Hold> acquire_for(std::string_view name, Duration wait_max,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> acquire_for(std::string_view name, Duration wait_max,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_for(std::string_view name, Duration wait_max,
                                                  const AcquireOptions& options,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_until(std::string_view name,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> acquire_until(std::string_view name,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_until(std::string_view name,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    const AcquireOptions& options,
                                                    std::error_code& ec);

    // --- several names at once -------------------------------------------------------------------

    // Of 1 to 64 names; one that is there twice counts once, and in two modes it is
    // invalid_argument (options.mode is not looked at: each request has its own). Two that wait for
    // the same names, in whatever order, never wait for each other for ever. With a locker: what it
    // has already is in the way, as if somebody else had it, and to wait for that is deadlock.

    // All of them or none: in one step, when every one is free, so it holds nothing while it waits.
    // Meanwhile nobody who came later passes it on any of the names, and it passes nobody: it has
    // no priority. It ends like acquire().
    [[nodiscard]] HoldSet acquire_all(const LockRequests& names,
                                      const AcquireOptions& options = {});
    [[nodiscard]] HoldSet acquire_all(const LockRequests& names, std::error_code& ec);
    [[nodiscard]] HoldSet acquire_all(const LockRequests& names, const AcquireOptions& options,
                                      std::error_code& ec);

    // One of them: the first that is free, in the order given, otherwise the one that is free
    // first. Hold::name() says which. It waits for each like any other request.
    [[nodiscard]] Hold acquire_any(const LockRequests& names, const AcquireOptions& options = {});
    [[nodiscard]] Hold acquire_any(const LockRequests& names, std::error_code& ec);
    [[nodiscard]] Hold acquire_any(const LockRequests& names, const AcquireOptions& options,
                                   std::error_code& ec);
    // One attempt: empty when somebody else has them. No wait_max in options. The way to share out
    // the parts of something: SQL calls it SKIP LOCKED.
    [[nodiscard]] std::optional<Hold> try_acquire_any(const LockRequests& names,
                                                      const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> try_acquire_any(const LockRequests& names,
                                                      std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire_any(const LockRequests& names,
                                                      const AcquireOptions& options,
                                                      std::error_code& ec);

    // --- look ----------------------------------------------------------------------------------

    // Who holds the name and who waits. Of an unknown name: empty, with that name.
    [[nodiscard]] LockInfo inspect(std::string_view name,
                                   ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] LockInfo inspect(std::string_view name, std::error_code& ec);
    [[nodiscard]] LockInfo inspect(std::string_view name, ReadLevel level, std::error_code& ec);

    // The locks whose names begin with `prefix`, in byte order, those behind `after`, at most
    // `limit`: ask again with the last name for the next page.
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after = {},
                                             std::size_t limit = 1000,
                                             ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::error_code& ec);
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after,
                                             std::size_t limit, ReadLevel level,
                                             std::error_code& ec);

    // Takes a lock away from whoever holds it under that token, which inspect() tells (S24). He
    // reports lost(broken). The name stays closed to others until his node has confirmed that, or
    // nothing of what he was ever told lets him believe in it any more, by the clocks of a
    // majority: at most the rest of his session's TTL. With BreakMode::immediate nobody waits for
    // that, and for so long two may believe to have it. Returns when the cluster has decided it;
    // every node tells of it (NodeEvent::lock_broken). Of several names that were taken together it
    // takes the one away, and their holder gives the others back. not_held when nobody holds it
    // under that token; incompatible while a member of the cluster is too old; outcome_unknown when
    // nobody answered in time. `reason`, at most 256 bytes, is for those who read of it.
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    BreakMode mode = BreakMode::confirmed);
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    std::error_code& ec);
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    BreakMode mode, std::error_code& ec);

    // Asks whoever holds the lock to give it back: their AcquireOptions::on_contended are told that
    // `reason`, at most 256 bytes (S24). Returns when the cluster has passed it on; what they do is
    // theirs, and who has no on_contended hears nothing. not_held when nobody holds it;
    // incompatible and outcome_unknown as for break_lock.
    void request_release(std::string_view name, std::string_view reason);
    void request_release(std::string_view name, std::string_view reason, std::error_code& ec);

    // Told of what happens to this node, on a thread of its own, until the Subscription goes.
    [[nodiscard]] Subscription on_event(NodeEventSink sink);

    // --- members -------------------------------------------------------------------------------

    // Who belongs to the cluster, asked at any node of it; status().members lists them. One change
    // at a time. Each returns when the change is committed, and what passes by itself is waited
    // for, a newcomer that has not caught up for example, within call_timeout. Safe to repeat: what
    // is so already is done. Errors, with a reason in LockError::detail(): invalid_argument for
    // what is never possible, not_ready (repeat), no_quorum when too few would be left who answer,
    // and outcome_unknown when it has begun and nobody knows yet how it ends.

    // As a learner: it keeps a copy and has no vote. It must be running, with Role::learner and the
    // present members as its peers, and reach the leader at its address, as the leader reaches it.
    void add_member(NodeId id, std::string_view address);
    void add_member(NodeId id, std::string_view address, std::error_code& ec);
    // A learner that has caught up becomes a voter.
    void promote_member(NodeId id);
    void promote_member(NodeId id, std::error_code& ec);
    // Learner or voter, the leader and this very node included. Its locks run out like those of a
    // process that died: close it first if it holds any. What waits there ends with
    // session_expired.
    void remove_member(NodeId id);
    void remove_member(NodeId id, std::error_code& ec);
    // The others reach that member at this address from now on; its vote, its directory and its
    // locks stay. For one that comes back under another port or on another machine with its
    // directory; while it is away the others dial both the address here and that of their own
    // configuration. invalid_argument for who is no member and for the address of another member.
    void move_member(NodeId id, std::string_view address);
    void move_member(NodeId id, std::string_view address, std::error_code& ec);
    // To a voter that has caught up. Nothing is decided in between, for a round trip or two.
    void transfer_leadership(NodeId to);
    void transfer_leadership(NodeId to, std::error_code& ec);

private:
    friend class detail::NodeRuntime;
    explicit Node(std::shared_ptr<detail::NodeRuntime> runtime) noexcept;

    std::shared_ptr<detail::NodeRuntime> runtime_;
};

}  // namespace mortise
