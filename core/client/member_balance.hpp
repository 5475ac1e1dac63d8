// Whether a client goes to a member that serves fewer clients (docs/decisions/0067). After a member
// was away, its clients are at the others, and stay there if nothing takes them back. So each of
// them looks at another member now and then, and compares. The pauses are drawn, so that not all
// clients of a member look at the same time, and double while there is nothing better. A client
// goes only where it makes the two members more equal, so none goes back and forth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"

namespace mortise::core {

// How a member is used.
struct MemberLoad {
    std::uint64_t clients = 0;
    std::uint64_t places = 0;  // for clients; zero: it does not say, or serves none

    friend bool operator==(const MemberLoad&, const MemberLoad&) = default;
};

class MemberBalance {
public:
    MemberBalance(std::size_t members, Nanoseconds election_timeout, Prng prng)
        : members_{members}, pause_min_{pauses_of * election_timeout}, prng_{prng} {}

    // A member begins to serve the client.
    void settled(Instant now);
    void left() { due_ = Instant::never(); }
    // When another member is to be looked at. The answer to a look sets it anew.
    [[nodiscard]] Instant due() const { return due_; }
    // The place in the list of the member that is to be looked at; `own` is that of the present
    // one.
    [[nodiscard]] std::size_t take_due(std::size_t own);
    // True: go there.
    [[nodiscard]] bool is_better(const MemberLoad& own, const MemberLoad& other, Instant now);

private:
    static constexpr int pauses_of = 60;  // election timeouts: a minute
    static constexpr int doublings_max = 4;

    void pause(Instant now);

    std::size_t members_;
    Nanoseconds pause_min_;
    Prng prng_;
    int doublings_ = 0;
    Instant due_ = Instant::never();
};

}  // namespace mortise::core
