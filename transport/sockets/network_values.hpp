// Values that the parts of the network share: the addresses of peers and the counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "transport/wire/greeting.hpp"

namespace mortise::transport {

struct PeerAddress {
    core::NodeId id;
    std::string address;         // "host:port", "[::1]:port"; empty: not known yet
    bool loopback_only = false;  // connect to loopback endpoints of the name only
    // A second address, which is tried alternately with the other; empty if there is none. A change
    // applies to the next attempt.
    std::string also{};
    // Whether the log of this node names it. Others are peers as well: nodes that said where they
    // are, former members and those of the configuration. Only a member may be a client with its
    // certificate.
    bool is_member = false;

    friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

// Why a peer is not connected if nothing comes back from its address, for the operator.
constexpr std::string_view no_answer_in_words =
    "it does not answer: open its port in the firewalls, or check that its machine runs";

// How many hellos were refused, for each reason: each is another fault of a configuration, or
// another attack.
class RefusalCounts {
public:
    void count(Refusal refusal) { ++counts_.at(static_cast<std::size_t>(refusal)); }
    [[nodiscard]] std::uint64_t of(Refusal refusal) const {
        return counts_.at(static_cast<std::size_t>(refusal));
    }
    [[nodiscard]] std::uint64_t all() const;

private:
    std::array<std::uint64_t, refusals> counts_{};
};

struct NetworkCounters {
    std::uint64_t accepted = 0;
    std::uint64_t accept_failures = 0;      // mostly for lack of descriptors
    std::uint64_t strangers_refused = 0;    // closed for a newer connection; also clients
    std::uint64_t handshakes_failed = 0;    // without a certificate, or with an untrusted one
    std::uint64_t strangers_timed_out = 0;  // without a valid hello in time
    std::uint64_t malformed_frames = 0;     // each ended its connection
    std::uint64_t malformed_messages = 0;   // likewise
    // likewise: RPC messages that no node sends, or too many of them
    std::uint64_t forbidden_messages = 0;
    std::uint64_t stuck_frames = 0;  // likewise: not complete in time, or answers were not read
    RefusalCounts refused;           // by this node, of callers and of nodes that it called
    std::uint64_t refused_by_peers = 0;
    std::uint64_t dials = 0;
    std::uint64_t dial_failures = 0;
    std::uint64_t links_lost = 0;
    std::uint64_t lost_silent = 0;  // among them: no answer for too long
    std::uint64_t messages_sent = 0;
    std::uint64_t batches_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t messages_dropped = 0;  // a full queue, or too late
    std::uint64_t messages_unsent = 0;   // there was no connection with the peer
    std::uint64_t clients = 0;           // connected now
};

}  // namespace mortise::transport
