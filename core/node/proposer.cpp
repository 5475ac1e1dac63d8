#include "core/node/proposer.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// When more than this waits, acquires are declined.
constexpr std::size_t bytes_waiting_for_acquires = std::size_t{8} << 20U;
constexpr std::size_t bytes_waiting_max = std::size_t{32} << 20U;
// Every session may have this much waiting, until all sessions together have `bytes_waiting_end`.
constexpr std::size_t bytes_waiting_min = std::size_t{64} << 10U;
constexpr std::size_t bytes_waiting_end = 2 * bytes_waiting_max;

// The maximal encoded size: two numbers of ten bytes, and their frame.
constexpr std::size_t renewal_bytes_max = 20;
constexpr std::size_t renew_bytes_around_max = 16;
constexpr std::size_t clock_bytes_max = 10;  // its kind, and a number below 2^63
constexpr std::size_t ceiling_bytes_max = 10;
constexpr std::size_t front_bytes_max = clock_bytes_max + ceiling_bytes_max;

}  // namespace

// A limit against a faulty peer; a correct one has at most one window of requests in flight.
bool Proposer::takes(SessionId turn, std::size_t bytes) const {
    return bytes <= batch_bytes_max && has_room(turn, bytes, bytes_waiting_max);
}

bool Proposer::has_room(SessionId turn) const {
    return has_room(turn, 0, bytes_waiting_for_acquires);
}

// The room of a session is what is still free. So one session alone gets half of `max`, several
// that want as much as they can get leave as much free as each of them has, and nobody has to know
// how many there are (dynamic thresholds, Choudhury and Hahne, 1998).
bool Proposer::has_room(SessionId turn, std::size_t more, std::size_t max) const {
    const auto own = forwarded_.bytes_of(turn) + more;
    const auto all = forwarded_.bytes() + more;
    return own + all <= max || (own <= bytes_waiting_min && all <= bytes_waiting_end);
}

bool Proposer::has_an_entry() const {
    return forwarded_.bytes() >= batch_bytes_max || forwarded_.names() >= entry_commands_max;
}

void Proposer::add(const Command& command) {
    BatchBuilder one;
    one.add(command);
    // Always accepted: the leader's own commands are few, and nothing repeats them.
    own_.add({{}, one.take(), 1, 1});
    hurry();
}

void Proposer::add_renewal(const Renewal& renewal) {
    if (renewal.number == 0) return;  // the opening of the session
    auto& gathered = renewals_[renewal.session];
    if (renewal.number <= gathered.number) return;
    if (gathered.number == 0 || gathered.proposed) ++unproposed_renewals_;
    gathered = {renewal.number, false};
}

void Proposer::renewal_applied(SessionId session, std::uint64_t number) {
    const auto found = renewals_.find(session);
    if (found == renewals_.end() || found->second.number > number) return;
    if (!found->second.proposed) --unproposed_renewals_;
    renewals_.erase(found);
}

void Proposer::take_from(FairQueue& queue, std::uint8_t format, BatchBuilder& out) {
    while (!queue.empty()) {
        const auto& batch = queue.front();
        const bool first = out.names() == 0;  // what is in front of all commands has none
        const bool fits = out.names() + batch.names <= entry_commands_max &&
                          out.bytes() + batch.bytes.size() <= batch_bytes_max;
        if (!first && !fits) return;
        // The sender of an origin has only checked that this leader reads it.
        const auto bytes = format < format_of(batch.bytes) ? in_format_1(batch.bytes) : batch.bytes;
        out.add_encoded(commands_of(bytes), batch.commands, format_of(bytes), batch.names);
        if (batch.is_sealed) out.seal();
        queue.pop_front();
    }
}

// How many renewals fit into an entry beside releases and cancels.
std::size_t Proposer::renewals_beside_commands() const {
    const auto& queue = own_.empty() ? forwarded_ : own_;
    if (queue.empty()) return entry_commands_max;
    const auto& batch = queue.front();
    const auto bytes = batch.bytes.size() + front_bytes_max + renew_bytes_around_max;
    if (batch.names >= entry_commands_max || bytes > batch_bytes_max) return 0;
    return std::min(entry_commands_max, (batch_bytes_max - bytes) / renewal_bytes_max);
}

// Neither kind may starve the other: renewals that did not fit go first the next time.
Renew Proposer::gather_renewals(std::size_t count_max) {
    Renew renew;
    for (auto& [session, gathered] : renewals_) {
        if (gathered.proposed || renew.renewals.size() == count_max) continue;
        gathered.proposed = true;
        --unproposed_renewals_;
        renew.renewals.push_back({session, gathered.number});
    }
    renewals_passed_over_ = has_renewals();
    return renew;
}

// A batch of so many bytes follows. If that fills the entry, the time has to wait for the next one:
// it never makes an entry of its own.
void Proposer::say_time(std::uint8_t format, std::size_t bytes, BatchBuilder& out) {
    const bool is_due = time_ms_ != 0 && time_ms_ >= said_ms_ + clock_step_ms_min;
    if (!is_due || format < command_format_of_origins) return;
    if (bytes + clock_bytes_max > batch_bytes_max) return;
    said_ms_ = time_ms_;
    out.add(Clock{time_ms_}, 0);
}

// Likewise.
void Proposer::raise_ceiling(std::uint8_t format, std::size_t bytes, BatchBuilder& out) {
    if (!sealing_.raise_to.is_set() || format < command_format_of_ceilings) return;
    if (bytes + front_bytes_max > batch_bytes_max) return;
    raised_to_ = std::exchange(sealing_.raise_to, {});
    out.add(RaiseCeiling{raised_to_}, 0);
}

Proposer::Batch Proposer::taken(BatchBuilder& out, std::uint8_t format) const {
    const bool is_sealed = sealing_.is_on && (sealing_.of_all || out.is_sealed());
    return {is_sealed ? EntryKind::sealed_commands : EntryKind::commands, out.take(format)};
}

Proposer::Batch Proposer::take_batch(std::uint8_t format) {
    MORTISE_CHECK(has_commands());
    BatchBuilder out;
    const auto first_bytes = (own_.empty() ? forwarded_ : own_).front().bytes.size();
    say_time(format, first_bytes, out);
    raise_ceiling(format, first_bytes, out);
    const auto renew =
        gather_renewals(renewals_passed_over_ ? entry_commands_max : renewals_beside_commands());
    // In front of the other commands, because a session that is renewed here must not expire here
    // (S4).
    if (!renew.renewals.empty()) out.add(renew);
    take_from(own_, format, out);
    take_from(forwarded_, format, out);
    is_urgent_ = has_commands();
    MORTISE_CHECK(!out.is_empty());
    return taken(out, format);
}

Proposer::Batch Proposer::take_renewals(std::uint8_t format) {
    BatchBuilder out;
    say_time(format, 0, out);
    raise_ceiling(format, 0, out);
    out.add(gather_renewals(entry_commands_max));
    return taken(out, format);
}

void Proposer::clear() {
    *this = {};
}

}  // namespace mortise::core
