// A loss of power of a majority, which may have forgotten what it acknowledged (eras,
// docs/decisions/0095).
#include <algorithm>

#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

namespace {

// For comparisons: what a voter counts of it, in millionths of a millisecond.
std::uint64_t patience_of(const OpenSession& opened) {
    return std::uint64_t{opened.ttl_ms} * (1'000'000 + opened.rho_ppm);
}

// The time until every node has noticed that its lease is not renewed any more. Nothing if there is
// no session.
std::optional<Closure> longest_lease(const SessionTable::Sessions& sessions) {
    if (sessions.empty()) return std::nullopt;
    const auto& longest = std::ranges::max_element(sessions, {}, [](const auto& one) {
                              return patience_of(one.second.opened);
                          })->second.opened;
    Closure closing;
    closing.kind = Closure::Kind::era;
    closing.time_ms = longest.ttl_ms;
    closing.rho_ppm = longest.rho_ppm;
    return closing;
}

}  // namespace

// Grants and renewals that were acknowledged may be forgotten, but no session is, because openings
// are sealed. So all leases that anybody relies on are leases of these sessions, and later ones are
// not granted. A token that was granted is not above the ceiling.
void LockMachine::begin_era(LogIndex index, Outcomes& outcomes) {
    begin_entry(index, outcomes);
    tell_who_ended();
    ++eras_.begun;
    table_.continue_after(std::max(table_.newest_token(), eras_.token_ceiling),
                          ClosureId{table_.closures().newest().raw() + closures_of_an_era});
    // No session can have been opened while an earlier era keeps the cluster closed: then that is
    // long enough.
    if (const auto closing = longest_lease(sessions_.all())) close_until_leases_end(*closing);
    while (!sessions_.all().empty())
        end_session(sessions_.all().begin()->first, SessionEnd::expired);
    end_command();
    end_entry();
}

void LockMachine::close_until_leases_end(const Closure& closing) {
    eras_.closing = closing;
    eras_.closing->id = table_.take_closure_number();
    eras_.closing->since = index_;
    outcomes_->push_back(ClosureBegun{
        eras_.closing->id, closing.kind, {}, {}, index_, closing.time_ms, closing.rho_ppm});
}

// False if it is another quorum timer.
bool LockMachine::end_era_closing(ClosureId id) {
    if (!eras_.closing || eras_.closing->id != id) return false;
    eras_.closing.reset();
    outcomes_->push_back(ClosureEnded{id});
    return true;
}

void LockMachine::on(const RaiseCeiling& command) {
    eras_.token_ceiling = std::max(eras_.token_ceiling, command.to);
}

}  // namespace mortise::core
