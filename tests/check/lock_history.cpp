#include "tests/check/lock_history.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/check/whose_hold.hpp"

namespace mortise::check {

namespace {

// Everything that is known about a hold, or about several that cannot be distinguished.
struct Told {
    std::size_t grants = 0;
    std::string process;
    std::optional<Time> lost;        // it may have ended from then on
    bool lost_by_itself = false;     // until then it was kept only by its lease
    std::optional<Time> known_lost;  // and it was known to have ended then
    std::optional<Time> gave_up;     // a release was requested and not answered `released`
    std::optional<Time> trusted_until;
    std::optional<Time> granted_until;  // the validity at the grant of the shortest of them
    std::optional<Time> seen_valid;
    std::optional<Time> released;  // requested while the hold was valid, as far as the process knew
};

template <class T>
void raise(std::optional<T>& value, T other) {
    value = value ? std::max(*value, other) : other;
}

template <class T>
void lower(std::optional<T>& value, T other) {
    value = value ? std::min(*value, other) : other;
}

void tell(Told& told, const Call& call) {
    told.process = call.process;
    if (asks(call)) {
        ++told.grants;
        lower(told.granted_until, call.valid_until.value_or(call.invoked));
    }
    if (call.operation == Operation::lost) {
        const auto returned = call.returned.value_or(call.invoked);
        lower(told.lost, std::min(call.valid_until.value_or(call.invoked), returned));
        lower(told.known_lost, returned);
        if (!call.valid_until) told.lost_by_itself = true;
        return;
    }
    if (call.valid_until) raise(told.trusted_until, *call.valid_until);
    if (call.operation == Operation::valid) raise(told.seen_valid, call.invoked);
    if (call.operation != Operation::release) return;
    auto& asked = call.outcome == Outcome::released ? told.released : told.gave_up;
    lower(asked, call.invoked);
}

// Among several, it is unknown which one was valid longer, and whether that one was released.
std::optional<Time> trusted(const Told& told) {
    return told.grants > 1 ? told.granted_until : told.trusted_until;
}

// A suspended process may request the release long after that without having received the loss; and
// it may have been suspended during the grant.
Time may_be_given_up(const Told& told) {
    const auto until = trusted(told) ? trusted(told) : told.granted_until;
    return std::min(*told.gave_up, until.value_or(never));
}

Time may_end(const Told& told, const std::optional<Time>& died) {
    auto end = never;
    if (told.lost) {
        end = *told.lost;
        // A validity that was known before lasts beyond this observation, until the hold is known
        // to be over.
        const auto until = trusted(told).value_or(end);
        if (told.lost_by_itself) end = std::max(end, std::min(until, *told.known_lost));
    } else if (died) {
        end = trusted(told).value_or(*died);
    }
    if (told.gave_up) end = std::min(end, may_be_given_up(told));
    if (told.released && !told.lost) end = std::max(end, *told.released);
    return std::max(end, told.seen_valid.value_or(end));
}

class Preparation {
public:
    explicit Preparation(const Calls& calls) : calls_{calls}, owners_{whose_holds(calls)} {
        for (std::size_t i = 0; i < calls.size(); ++i)
            listen(calls[i], owners_[i]);
        std::ranges::sort(asked_);
        std::ranges::sort(answered_);
    }

    LockHistory run() {
        for (std::size_t i = 0; i < calls_.size(); ++i)
            add(calls_[i], i);
        std::ranges::stable_sort(history_.steps, {}, &Step::invoked);
        for (const auto& [_, told] : told_) {
            if (told.grants != 1 || !told.known_lost || !told.seen_valid) continue;
            if (*told.seen_valid <= *told.known_lost) continue;
            history_.nonsense = told.process + " saw a hold valid that it had lost";
            history_.who = told.process;
        }
        return std::move(history_);
    }

private:
    void listen(const Call& call, std::size_t owner) {
        if (call.operation == Operation::died) {
            lower(died_[call.process], call.invoked);
        } else if (call.token != 0) {
            tell(told_[owner], call);
        }
        if (!asks(call)) return;
        asked_.push_back(call.invoked);
        answered_.push_back(call.returned.value_or(never));
        if (!is_unseen(call)) return;
        unseen_ = std::min(unseen_, call.invoked);
        const auto [place, is_first] = unseen_in_.emplace(call.mode, call.invoked);
        place->second = std::min(place->second, call.invoked);
    }

    void add(const Call& call, std::size_t place) {
        Step step;
        step.call = place;
        step.invoked = call.invoked;
        step.returned = call.returned.value_or(never);
        step.mode = call.mode;
        step.token = call.token;
        step.owner = owners_[place];
        if (asks(call) && call.outcome == Outcome::granted) {
            add_grant(call, step);
        } else if (call.operation == Operation::try_acquire && call.outcome == Outcome::busy) {
            add_busy(step);
        } else if (call.operation == Operation::release && call.returned) {
            add_release(call, step);
        }
    }

    void add_grant(const Call& call, Step step) {
        step.hold = history_.holds.size();
        const auto died = died_.find(call.process);
        const auto end =
            may_end(told_.at(step.owner), died == died_.end() ? std::nullopt : died->second);
        history_.holds.push_back({step.owner, call.mode, call.token, end});
        const auto unseen = unseen_in_.find(call.mode);
        step.unseen_join = unseen != unseen_in_.end() && unseen->second <= step.returned;
        // A reader's grant may have stayed with its node, which gives it to the next one (S39).
        if (!had_.insert({call.process, call.token}).second) step.unseen_join = true;
        history_.steps.push_back(step);
    }

    void add_busy(Step step) {
        step.kind = Step::Kind::busy;
        step.unseen_holder = unseen_ <= step.returned;
        // The number of processes that had requested it by then, minus those that had their answer,
        // minus this call.
        const auto asked = std::ranges::upper_bound(asked_, step.returned) - asked_.begin();
        const auto answered = std::ranges::lower_bound(answered_, step.invoked) - answered_.begin();
        step.contended = asked - answered > 1;
        history_.steps.push_back(step);
    }

    void add_release(const Call& call, Step step) {
        const bool released = call.outcome == Outcome::released;
        const bool missed = call.outcome == Outcome::not_held;
        if (!released && !missed && call.outcome != Outcome::lost) return;
        // Which of several holds was meant, and whether it was valid, is unknown.
        if (!released && told_.at(step.owner).grants > 1) return;
        step.kind = released ? Step::Kind::release : missed ? Step::Kind::miss : Step::Kind::loss;
        history_.steps.push_back(step);
    }

    const Calls& calls_;
    std::vector<std::size_t> owners_;  // by the position of the call
    std::map<std::size_t, Told> told_;
    std::map<std::string, std::optional<Time>> died_;
    Time unseen_ = never;  // the first call with an unknown outcome
    std::map<core::LockMode, Time> unseen_in_;
    // the tokens that each process has had
    std::set<std::pair<std::string, std::uint64_t>> had_;
    std::vector<Time> asked_;  // when, ascending
    std::vector<Time> answered_;
    LockHistory history_;
};

}  // namespace

bool is_unseen(const Call& call) {
    const bool open = call.outcome == Outcome::unknown || call.outcome == Outcome::timed_out ||
                      call.outcome == Outcome::cancelled || !call.returned;
    return asks(call) && open;
}

LockHistory prepare(const Calls& calls) {
    return Preparation{calls}.run();
}

}  // namespace mortise::check
