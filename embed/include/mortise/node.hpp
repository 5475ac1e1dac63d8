// One node of a cluster, in this process.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/activity.hpp>
#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/observe.hpp>
#include <mortise/options.hpp>
#include <mortise/subscription.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

namespace detail {
class NodeRuntime;
}

// A node keeps a copy of the lock table, votes in its cluster, serves its peers on threads of its
// own, and acquires locks for this program. With Role::client it is no member of the cluster, and
// only acquires locks, by way of the members. All functions are thread-safe, except construction,
// moving and destruction.
//
// A process may have several nodes. Nodes of one cluster exclude each other like nodes of two
// processes: each has a session of its own, and with it its own holds, leases, order of requests,
// lockers, recursion, cached grants, and parties at a barrier. Only the mutex classes look beyond
// their node: a thread that locks a name through two of them gets deadlock. docs/api.md has the
// list.
//
// Names are 1 to 512 bytes of any kind (S38).
//
// Errors: the forms with `ec` do not throw; `ec` is cleared on success and on an empty answer. The
// forms without it throw LockError. Every call may fail with
// - node_stopped: after close(), or after the node failed
// - invalid_argument
// - no_quorum: no majority answered in time
// - session_expired: repeat the call
// - resource_exhausted
// - forked: in the child of a fork()
// Either form may throw std::bad_alloc; then nothing was begun, or the grant is given back. A node
// with peers or a directory also runs Cap'n Proto and RocksDB, which do not survive every failed
// allocation: one in their code may end the program.
//
// Threads: do not cancel a thread with pthread_cancel() while it is in a call of the library, and
// do not call pthread_exit() in a callback or a sink. Either ends the program.
//
// fork(): in the child the parent's nodes, holds and mutexes do nothing, their calls fail with
// forked, and the parent is not affected. The child may open nodes of its own, on other
// directories. It has copies of the parent's descriptors: if the parent dies without closing its
// nodes, their directories and ports stay taken until the child ends or calls exec. The child must
// end with _exit(), as fork(2) demands after a fork of a program with threads: exit() would wait
// for ever for a thread of RocksDB that does not exist in the child.
//
// The program may end at any time, on any thread, also within a callback; what was acknowledged is
// on disk. A plug-in that has opened a node, or the shared library, stays loaded until the program
// ends, and so do its static objects: close the node before you unload the plug-in.
class Node {
public:
    // Opens the data directory, listens and starts. Blocks while the log is recovered, and does not
    // wait for the cluster. Throws std::system_error with one line, for example for an invalid
    // configuration, a directory that another process uses, a port in use, or damaged data.
    explicit Node(Config config);
    // Calls close(). What still runs a moment after close_timeout, a callback or an unresponsive
    // disk, is left to end by itself.
    ~Node();
    Node(Node&&) noexcept;
    Node& operator=(Node&&) noexcept;

    // Waits until this node has a session in a cluster with a leader. False if the deadline came
    // first; node_stopped if the node stopped.
    [[nodiscard]] bool wait_ready(std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] bool wait_ready(std::chrono::steady_clock::time_point deadline,
                                  std::error_code& ec);

    [[nodiscard]] NodeId id() const noexcept;
    // What the node knows about itself and the cluster. After the node has stopped: the last state,
    // and why it stopped. Does not ask the cluster.
    [[nodiscard]] Status status() const;
    [[nodiscard]] Metrics metrics() const;

    // Reads the files of Config::tls again and closes connections whose certificate is not trusted
    // any more. The node does this by itself within a few seconds of a change. Blocks on the disk;
    // thread-safe. Throws std::system_error with one line if the files cannot be used, and keeps
    // the former ones. Also throws on a node without TLS.
    void reload_tls();

    // Ends pending calls with node_stopped, releases all holds in one command, transfers leadership
    // and stops. The holds are lost first: they are released when the callbacks of Hold::lost()
    // have returned, or after 100 ms. Waits at most close_timeout, and for callbacks that are
    // running; no callback runs after it has returned. It does not wait for members that are gone
    // if nobody uses a hold and no call is under way. What could not be released within
    // close_timeout becomes free when the session expires. It waits a moment longer for an
    // unresponsive disk and then leaves it behind: the data directory stays taken until the disk
    // answers. On a thread of the node (in a callback) it returns at once and finishes elsewhere. A
    // second call has no effect.
    void close();

    // --- acquire -------------------------------------------------------------------------------

    // Waits until the lock is held. Once the cluster has queued the request there is no time limit,
    // unless options.wait_max (then timed_out) or options.cancel (then cancelled) ends the wait.
    [[nodiscard]] Hold acquire(std::string_view name, const AcquireOptions& options = {});
    [[nodiscard]] Hold acquire(std::string_view name, std::error_code& ec);
    [[nodiscard]] Hold acquire(std::string_view name, const AcquireOptions& options,
                               std::error_code& ec);

    // Makes one attempt and does not wait for holders: empty when another holder has the name;
    // `busy` then receives the holders; a node with Role::client does not know them.
    // options.wait_max must have its default. Blocks for the answer of the cluster, at most
    // call_timeout.
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name, std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name,
                                                  const AcquireOptions& options,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name, LockInfo& busy);
    [[nodiscard]] std::optional<Hold> try_acquire(std::string_view name,
                                                  const AcquireOptions& options, LockInfo& busy);

    // Like acquire(), but empty when the time ends first. A wait of zero or less is one attempt.
    // options.wait_max is ignored.
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

    // Several names: 1 to 64. A name that is listed twice counts once; in two modes it is
    // invalid_argument. Each request has its own mode, and options.mode is ignored. Two calls for
    // the same names never deadlock, whatever the order of their lists. With a locker, the names
    // that it already holds conflict like those of any other owner, and to wait for them fails with
    // deadlock.

    // Acquires all names or none, in one step once all are free: it holds nothing while it waits.
    // Meanwhile no later request overtakes it on any of the names, and it overtakes no request: it
    // has no priority. Ends like acquire().
    [[nodiscard]] HoldSet acquire_all(const LockRequests& names,
                                      const AcquireOptions& options = {});
    [[nodiscard]] HoldSet acquire_all(const LockRequests& names, std::error_code& ec);
    [[nodiscard]] HoldSet acquire_all(const LockRequests& names, const AcquireOptions& options,
                                      std::error_code& ec);

    // Acquires one of the names: the first one that is free in the order of the list, otherwise the
    // one that becomes free first. Hold::name() tells which. It waits for each name like any other
    // request.
    [[nodiscard]] Hold acquire_any(const LockRequests& names, const AcquireOptions& options = {});
    [[nodiscard]] Hold acquire_any(const LockRequests& names, std::error_code& ec);
    [[nodiscard]] Hold acquire_any(const LockRequests& names, const AcquireOptions& options,
                                   std::error_code& ec);
    // Makes one attempt: empty when all names are taken. options.wait_max must have its default.
    // Use it to distribute pieces of work, like SKIP LOCKED in SQL.
    [[nodiscard]] std::optional<Hold> try_acquire_any(const LockRequests& names,
                                                      const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> try_acquire_any(const LockRequests& names,
                                                      std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire_any(const LockRequests& names,
                                                      const AcquireOptions& options,
                                                      std::error_code& ec);

    // --- inspection ----------------------------------------------------------------------------

    // The holders and the waiters of the name. If it has no holders, waiters, value or limit and is
    // not closed, all members but the name have their defaults. Blocks for at most call_timeout;
    // with ReadLevel::local it does not ask the cluster.
    [[nodiscard]] LockInfo inspect(std::string_view name,
                                   ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] LockInfo inspect(std::string_view name, std::error_code& ec);
    [[nodiscard]] LockInfo inspect(std::string_view name, ReadLevel level, std::error_code& ec);
    // For programs that show it to a person: at most `parties_max` holders and as many waiters,
    // with their full numbers (LockInfo::truncated).
    [[nodiscard]] LockInfo inspect(std::string_view name, ReadLevel level, std::size_t parties_max,
                                   std::error_code& ec);

    // The locks whose names begin with `prefix` and are greater than `after`, in byte order, at
    // most `limit`. For the next page pass the last name as `after`. Blocks like inspect().
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after = {},
                                             std::size_t limit = 1000,
                                             ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::error_code& ec);
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after,
                                             std::size_t limit, ReadLevel level,
                                             std::error_code& ec);
    // For programs that show it to a person. As inspect() for each name; and the listing ends
    // after the name that brings the number of its holders and waiters to `parties_max`, and after
    // 1,000 names.
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after,
                                             std::size_t limit, ReadLevel level,
                                             std::size_t parties_max, std::error_code& ec);

    // The sessions of the cluster, ordered by id. Blocks like inspect(); what is counted of a
    // session is what this node knows then. With TLS it requires the right to observe every name
    // (permission_denied). invalid_argument on a node with Role::client, which keeps none: use
    // Remote::sessions.
    [[nodiscard]] std::vector<SessionInfo> sessions(ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] std::vector<SessionInfo> sessions(ReadLevel level, std::error_code& ec);
    // Who waits for which names, and what happened in the last quarter of an hour, as this node has
    // applied it. Activity::hottest has names with that prefix; the rest is about all names. It
    // asks nobody: a member that is behind or cut off shows what it knows. Blocks for an answer of
    // this node. permission_denied unless its certificate allows it to observe every name;
    // invalid_argument on a node with Role::client.
    [[nodiscard]] Activity activity(std::string_view prefix = {});
    [[nodiscard]] Activity activity(std::string_view prefix, std::error_code& ec);

    // Takes a lock away from its holder (S24).
    // - It applies only to the holder with the token `expected`, which inspect() shows; if there is
    //   none, it fails with not_held.
    // - The holder's hold becomes lost, with the reason broken.
    // - BreakMode::confirmed: the name stays closed until the holder's node has confirmed the loss.
    //   If that node is silent, the name stays closed until, by the clocks of a majority, the
    //   holder cannot believe in its hold any more: at most the rest of its session's TTL.
    // - BreakMode::immediate: the name is free at once. For the same time two processes may believe
    //   that they hold it.
    // - If the name was acquired together with others, their holder then releases the others.
    // - On a closed name it reopens what the token keeps closed; see LockInfo::closed_under.
    // - It returns when the cluster has decided. Every node reports NodeEvent::lock_broken.
    // - `reason`, at most 256 bytes, is shown in that event.
    // - outcome_unknown: no answer came in time.
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    BreakMode mode = BreakMode::confirmed);
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    std::error_code& ec);
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    BreakMode mode, std::error_code& ec);

    // Takes a session out, with all that it holds and waits for, for administrators (S24): no
    // renewal of its lease counts any more. Its node learns of it at once, loses the holds as
    // `broken`, and closes the session when their owners were notified, after 100 ms at the latest.
    // If that node is silent, the cluster ends the session with its lease, within its TTL and a
    // little. With BreakMode::immediate it ends at once, while its node may still rely on its
    // holds; only tokens tell them apart then. Its process opens a new session afterwards: it is
    // not kept out. Remote and `mortise sessions` list the sessions. Every node logs it. Errors:
    // - not_held: there is no such session (any more)
    // - permission_denied: it takes the right to break every name
    // - invalid_argument: on a node with Role::client; Remote does it
    // - resource_exhausted: a member is of a version that does not know this
    // - outcome_unknown as for break_lock
    void evict(SessionId session, std::string_view reason, BreakMode mode = BreakMode::confirmed);
    void evict(SessionId session, std::string_view reason, std::error_code& ec);
    void evict(SessionId session, std::string_view reason, BreakMode mode, std::error_code& ec);

    // Asks the holders of a lock to release it (S24): their AcquireOptions::on_contended receive
    // `reason`, at most 256 bytes. Returns when the cluster has passed the request on. The holders
    // may ignore it, and a holder without on_contended is not notified. Fails with not_held if
    // nobody holds the name; outcome_unknown as for break_lock.
    void request_release(std::string_view name, std::string_view reason);
    void request_release(std::string_view name, std::string_view reason, std::error_code& ec);

    // Deletes what the cluster keeps of a name that nobody uses: the value of a lock (S36), the
    // limit of a semaphore that was resized, a latch, a barrier (S37). Then the name may be used as
    // any of these. An unknown name is no error. Fails with invalid_argument if somebody holds the
    // name, waits for it, or keeps it closed; then nothing has changed. That includes a node that
    // has it cached, for about a second after its last release (AcquireOptions::caching). Do not
    // remove the name of a StripedLock that is in use. Returns when the cluster has decided;
    // blocks for at most call_timeout. outcome_unknown as for break_lock.
    void remove(std::string_view name);
    void remove(std::string_view name, std::error_code& ec);

    // Reports the changes of the locks whose names begin with `prefix` to `sink`, until the
    // Subscription ends: who gets and leaves them, and their values. First comes a gap, then the
    // present state, and then each change, once and in order; with ObserveOptions::from the changes
    // after that position, if they are still known, here or on the node where the position came
    // from. The node tells what it knows itself, and asks nobody: it may be a moment behind the
    // cluster, and is silent while it is cut off. The sink runs on a thread of the node, one call
    // at a time. A sink that is too slow is told a gap and the present state. When the node stops,
    // the sink is not called any more; see on_event(). At most 1,024 observers at a time, otherwise
    // resource_exhausted. Blocks for an answer of this node, not of the cluster. permission_denied
    // as for list(). A node with Role::client asks one member after the other for all of this.
    [[nodiscard]] Subscription observe(std::string_view prefix, EventSink sink,
                                       const ObserveOptions& options = {});
    [[nodiscard]] Subscription observe(std::string_view prefix, EventSink sink,
                                       std::error_code& ec);
    [[nodiscard]] Subscription observe(std::string_view prefix, EventSink sink,
                                       const ObserveOptions& options, std::error_code& ec);

    // Reports events of this node to `sink` until the Subscription ends. The sink runs on a thread
    // of the node, one call at a time.
    [[nodiscard]] Subscription on_event(NodeEventSink sink);

    // Passes metrics() to `sink` at each interval until the Subscription ends or the node is
    // closed, for the first time after one interval. An interval below 10 ms counts as 10 ms. The
    // sink runs on a thread of the node, one call at a time, and holds up nothing: if it takes
    // longer than the interval, it misses metrics. Does not block. Throws std::bad_alloc.
    [[nodiscard]] Subscription on_metrics(Duration interval, MetricsSink sink);

    // --- members -------------------------------------------------------------------------------

    // Changes of the cluster's members; status().members lists them. Any member may be asked; a
    // node with Role::client answers permission_denied. One change happens at a time. Each call
    // returns when the change is committed. It waits within call_timeout for conditions that pass
    // by themselves, for example until a new member has caught up. A repeated call is safe: it
    // succeeds if the change is already made. Errors, with a reason in LockError::detail():
    // - invalid_argument: the change is never possible
    // - not_ready: repeat the call
    // - no_quorum: too few responsive voters would be left
    // - outcome_unknown: the change has begun, and its result is not known yet

    // Adds a learner, which keeps a copy of the state and has no vote. It must be running with
    // Role::learner and the present members as its peers. The leader must reach it at `address`,
    // and it must reach the leader.
    void add_member(NodeId id, std::string_view address);
    void add_member(NodeId id, std::string_view address, std::error_code& ec);
    // Makes a voter of a learner that has caught up.
    void promote_member(NodeId id);
    void promote_member(NodeId id, std::error_code& ec);
    // Removes a learner or a voter; it may be the leader or this node. Its session expires like
    // that of a dead process, so close the node first if it holds locks. Calls that wait there end
    // with session_expired.
    void remove_member(NodeId id);
    void remove_member(NodeId id, std::error_code& ec);
    // Changes the address at which the other members reach a member; its vote, its directory and
    // its locks stay. Use it for a member that moves to another port, or to another machine with
    // its directory. While the member is away, the others dial this address and the one in their
    // configuration. invalid_argument if `id` is not a member, or if the address is that of another
    // member.
    void move_member(NodeId id, std::string_view address);
    void move_member(NodeId id, std::string_view address, std::error_code& ec);
    // Transfers leadership to a voter that has caught up. The cluster decides nothing for one or
    // two round trips meanwhile.
    void transfer_leadership(NodeId to);
    void transfer_leadership(NodeId to, std::error_code& ec);

private:
    friend class detail::NodeRuntime;
    explicit Node(std::shared_ptr<detail::NodeRuntime> runtime) noexcept;

    std::shared_ptr<detail::NodeRuntime> runtime_;
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
