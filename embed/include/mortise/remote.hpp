// Asks a cluster from outside, through any of its members: what the command line does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/info.hpp>

namespace mortise {

// What one member answered, or why it did not.
struct MemberReport {
    std::string address;
    std::error_code error;
    std::string problem;  // one line; empty without error
    Status status;
};

// Thread-safe like an int: one thread at a time. Every call connects anew and blocks for at most
// `timeout` per member.
class Remote {
public:
    // Addresses are "host:port". Throws std::system_error (invalid_argument) for a malformed one.
    explicit Remote(std::vector<std::string> addresses, Duration timeout);
    // For a cluster with TLS: proves with the files of `tls` who asks, and believes only members of
    // the cluster that its certificate names. Blocks on the disk. Throws std::system_error with one
    // line when the files cannot be used.
    Remote(std::vector<std::string> addresses, Duration timeout, const TlsConfig& tls);
    ~Remote();
    Remote(Remote&&) noexcept;
    Remote& operator=(Remote&&) noexcept;

    // Asks every address, in their order.
    [[nodiscard]] std::vector<MemberReport> status();
    // As Node::list and Node::inspect, of the first member that can say; of a lock at most 1,024
    // holders and 1,024 waiters, and how many there are (LockInfo::truncated). Throw LockError when
    // members answer that they cannot, no_quorum mostly; std::system_error, which names a member
    // and what is wrong with the connection to it, when none answers at all.
    [[nodiscard]] std::vector<LockInfo> list(std::string_view prefix, std::string_view after = {},
                                             std::size_t limit = 1000,
                                             ReadLevel level = ReadLevel::linearizable);
    [[nodiscard]] LockInfo inspect(std::string_view name,
                                   ReadLevel level = ReadLevel::linearizable);

    // As Node::add_member and its kin, at the first member that can be asked; each waits for at
    // most `timeout`. Without TLS members take such requests from their own machine only, with TLS
    // from those whose certificate allows it: permission_denied for others. When no answer came to
    // what was asked, outcome_unknown.
    void add_member(NodeId id, std::string_view address);
    void promote_member(NodeId id);
    void remove_member(NodeId id);
    void move_member(NodeId id, std::string_view address);
    void transfer_leadership(NodeId to);

    // As Node::break_lock, at the first member that can be asked, for which the rules are those of
    // add_member.
    void break_lock(std::string_view name, FencingToken expected, std::string_view reason,
                    BreakMode mode = BreakMode::confirmed);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise
