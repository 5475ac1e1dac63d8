#include "core/node/sealing.hpp"

#include <algorithm>

#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

namespace {

// More than all entries under way can take, which are those of its own term that a leader has not
// applied yet: fewer than 2,400 names of requests (unapplied_commands_max and one entry), and one
// sweep of 1,024 names. On each name that something happens to, one hold at most takes a block of
// up to 2^24 tokens (cached_tokens_max); all others take one token each. This is room for 2^18
// blocks, 76 for each of these names: a request for any of several names that is granted leaves up
// to 63 other queues, and may let somebody in on each.
constexpr std::uint64_t tokens_under_way = std::uint64_t{1} << 42U;
static_assert(tokens_under_way / cached_tokens_max >=
              64 * (9 * entry_commands_max + sweep_names_max));
constexpr std::uint64_t tokens_left_min = 2 * tokens_under_way;
constexpr std::uint64_t tokens_raised = 2 * tokens_left_min;

std::uint64_t tokens_left(const LockMachine& machine) {
    const auto newest = machine.table().newest_token().raw();
    const auto ceiling = machine.eras().token_ceiling.raw();
    return ceiling - std::min(ceiling, newest);
}

}  // namespace

// The configuration counts as soon as this leader has it: followers may know that it is committed
// before a new leader does, and do not sync what is not sealed.
//
// A new leader has not applied yet what earlier ones proposed, so it does not know how many tokens
// that takes.
Sealing sealing_of(const Raft& raft, const LockMachine& machine, FencingToken raised_to) {
    Sealing sealing;
    sealing.is_on = raft.configuration().durability == Durability::replicated;
    if (!sealing.is_on) return sealing;
    const bool knows_newest = raft.has_handed_out_own_term();
    const auto left = tokens_left(machine);
    sealing.of_all = !knows_newest || left <= tokens_under_way;
    const bool is_raised = raised_to > machine.eras().token_ceiling;
    if (!knows_newest || left >= tokens_left_min || is_raised) return sealing;
    const auto newest = machine.table().newest_token().raw();
    if (newest < token_ceiling_max - tokens_raised)
        sealing.raise_to = FencingToken{newest + tokens_raised};
    return sealing;
}

}  // namespace mortise::core
