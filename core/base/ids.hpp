// Identifiers of different kinds are different types, so swapped arguments do not compile.
#pragma once

#include <compare>
#include <cstdint>

namespace mortise::core {

template <class Kind>
class Id {
public:
    constexpr Id() = default;
    constexpr explicit Id(std::uint64_t raw) : raw_{raw} {}

    [[nodiscard]] constexpr std::uint64_t raw() const { return raw_; }
    [[nodiscard]] constexpr bool is_set() const { return raw_ != 0; }
    [[nodiscard]] constexpr Id next() const { return Id{raw_ + 1}; }
    [[nodiscard]] constexpr Id previous() const { return Id{raw_ - 1}; }

    friend constexpr bool operator==(Id, Id) = default;
    friend constexpr auto operator<=>(Id, Id) = default;

private:
    std::uint64_t raw_ = 0;  // zero means "none"
};

using NodeId = Id<struct NodeKind>;              // a member's number, as configured
using Incarnation = Id<struct IncarnationKind>;  // random, created with a data directory
using BootEpoch = Id<struct BootEpochKind>;      // grows with every start on that directory
using Term = Id<struct TermKind>;
using LogIndex = Id<struct LogIndexKind>;
using WriteId = Id<struct WriteKind>;  // numbers the writes of one run of a node
// never reused: the boot epoch in the upper bits, a counter in the lower bits
using ReadId = Id<struct ReadKind>;
using ChangeId = Id<struct ChangeKind>;    // likewise
using SessionId = Id<struct SessionKind>;  // never reused in a cluster
using Seq = Id<struct SeqKind>;            // numbers the requests of one session
using FencingToken = Id<struct FencingKind>;
using ClosureId = Id<struct ClosureKind>;  // never reused in a cluster
// Identifies one call of the program until its answer. The caller chooses it and uses it once; zero
// means that nobody waits.
using CallTag = Id<struct CallKind>;
// A connection of a client to this member; never reused in one run of the node.
using ClientId = Id<struct ClientKind>;
// A connection of this client to a member; never reused in one run of the client.
using MemberConnectionId = Id<struct MemberConnectionKind>;

static_assert(LogIndex{7} < LogIndex{7}.next());

}  // namespace mortise::core
