// Sends requests to a cluster from a program that is not a member, through any member, like the
// command line.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/activity.hpp>
#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/info.hpp>
#include <mortise/node_id.hpp>
#include <mortise/observe.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// The times that all members of a cluster should be configured with alike; see TimingConfig.
struct TimingOfMember {
    Duration election_timeout{};
    Duration heartbeat{};
    Duration session_ttl{};

    friend bool operator==(const TimingOfMember&, const TimingOfMember&) = default;
};

// The answer of one member, or why there is none.
struct MemberReport {
    std::string address;
    std::error_code error;
    std::string problem;  // one line; empty if there is no error
    Status status;
    // As the member is configured; a time of zero means that it does not tell it.
    TimingOfMember timing{};
    std::vector<NodeId> voters{};  // of its configuration file, ascending
};

// One thread at a time may use it. Every call opens a new connection and blocks for at most
// `timeout` per member.
class Remote {
public:
    // `addresses` are "host:port". Throws std::system_error (invalid_argument) for a malformed one.
    explicit Remote(std::vector<std::string> addresses, Duration timeout);
    // For a cluster with TLS: authenticates with the files of `tls`, and trusts only members of the
    // cluster that its certificate names. Blocks on the disk. Throws std::system_error with one
    // line when the files cannot be used.
    Remote(std::vector<std::string> addresses, Duration timeout, const TlsConfig& tls);
    ~Remote();
    Remote(Remote&&) noexcept;
    Remote& operator=(Remote&&) noexcept;

    // Asks every address, in their order.
    [[nodiscard]] std::vector<MemberReport> status();
    // See Node::list and Node::inspect; the first member that can answer does. At most 1,024
    // holders and 1,024 waiters of a lock are listed, with their full numbers
    // (LockInfo::truncated). Throws LockError if members answer that they cannot, mostly with
    // no_quorum. Throws std::system_error, which names a member and the problem of its connection,
    // if no member answers.
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after = {},
                                             std::size_t limit = 1000,
                                             ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] LockInfo inspect(std::string_view name,
                                   ReadLevel level = ReadLevel::linearizable);

    // The sessions of the cluster, ordered by id; the first member that can answer does. Errors as
    // for list(). With TLS it requires the right to observe every name.
    [[nodiscard]] std::vector<SessionInfo> sessions(ReadLevel level = ReadLevel::linearizable);

    // See Node::activity(); it is the view of the first member that answers (Activity::node), which
    // may be behind. Errors and rights as for sessions(). A member of an older version
    // does not answer.
    [[nodiscard]] Activity activity(std::string_view prefix = {});

    // Tells `sink` what Node::observe() of a member tells, on this thread, until a stop is
    // requested; then it returns, within about 100 ms. A state has at most 1,024 holders of a name.
    // If the member does not answer any more, or is not ready, it goes on with the next address,
    // after the position that it has reached, and calls `moved` with the former address and one
    // line about its problem. Changes that were missed meanwhile are told as a gap. Throws
    // std::system_error if no member answers at the beginning; later it tries again and again.
    // Throws LockError for permission_denied and invalid_argument, and what `sink` and `moved`
    // throw.
    using Moved = std::function<void(std::string_view address, std::string_view problem)>;
    void observe(std::string_view prefix, const EventSink& sink, const ObserveOptions& options,
                 const std::stop_token& stop, const Moved& moved = {});

    // See Node::add_member and the following; the first member that can be asked does it. Each
    // waits for at most `timeout`. Without TLS members accept these calls from their own machine
    // only; with TLS from users whose certificate allows it. Others get permission_denied. If no
    // answer came, the error is outcome_unknown.
    void add_member(NodeId id, std::string_view address);
    void promote_member(NodeId id);
    void remove_member(NodeId id);
    void move_member(NodeId id, std::string_view address);
    void transfer_leadership(NodeId to);

    // See Node::break_lock; the first member that can be asked does it. The permissions are those
    // of add_member.
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    BreakMode mode = BreakMode::confirmed);
    // See Node::evict; likewise.
    void evict(SessionId session, std::string_view reason, BreakMode mode = BreakMode::confirmed);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
